/** The tool `windrow_recall` in each API: its declaration, and the place of a result's text in the bytes of a message. */
import { recallDeclaration } from "../../adapter/host/recall-tool.ts";
import { asArray, fieldsOf, parseJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import type { WireApiName } from "../gateway.ts";
import { writeMember } from "../wire/body.ts";
import { bodyRanges } from "../wire/json-ranges.ts";
import type { ByteRange } from "../wire/json-ranges.ts";

/** The name of the tool that the gateway adds. */
export const toolName = "windrow_recall";

/** What differs from API to API. */
export interface RecallShape {
  /** The body with the tool behind the client's own; undefined for a body without a list of tools. */
  withTool(body: Buffer): Buffer | undefined;
  /** The message with another text as the content of the result that is its part; undefined where none can stand there. */
  withText(message: Buffer, part: number, text: string): Buffer | undefined;
}

const { description, inputSchema } = recallDeclaration;
const called = { name: toolName, description, parameters: inputSchema };

/** Puts a value behind the last one of a list. */
function behindLast(object: Buffer, list: string, value: JsonValue): Buffer | undefined {
  const last = bodyRanges(object, list)?.elements.at(-1);
  if (!last) return undefined;
  return Buffer.concat([
    object.subarray(0, last.end),
    Buffer.from(`,${JSON.stringify(value)}`),
    object.subarray(last.end),
  ]);
}

/** Changes the element at a place of a list; undefined where there is none, or where it stays. */
function changed(
  object: Buffer,
  list: string,
  place: number,
  change: (element: Buffer) => Buffer | undefined,
): Buffer | undefined {
  const one = bodyRanges(object, list)?.elements[place];
  const other = one && change(object.subarray(one.start, one.end));
  return other && Buffer.concat([object.subarray(0, one.start), other, object.subarray(one.end)]);
}

/** An object with another value of one member, which is added where it is absent. */
function withMember(object: Buffer, name: string, value: JsonValue): Buffer | undefined {
  return writeMember(object, name, name, () => Buffer.from(JSON.stringify(value)));
}

/** APIs whose results are messages of their own. */
function alone(tool: JsonValue, content: string): RecallShape {
  return {
    withTool: (body) => behindLast(body, "tools", tool),
    withText: (message, _part, text) => withMember(message, content, text),
  };
}

const chat = alone({ type: "function", function: called }, "content");

const functions = "functionDeclarations";

const gemini: RecallShape = {
  // The API takes one list of functions.
  withTool(body) {
    const tools = bodyRanges(body, "tools")?.elements ?? [];
    const has = ({ start, end }: ByteRange): boolean =>
      (asArray(fieldsOf(parseJson(body.toString("utf8", start, end)))[functions])?.length ?? 0) > 0;
    const declared = { name: toolName, description, parametersJsonSchema: inputSchema };
    return changed(body, "tools", tools.findIndex(has), (tool) => behindLast(tool, functions, declared));
  },
  withText: (message, part, text) =>
    changed(message, "parts", part, (block) =>
      writeMember(
        block,
        "functionResponse",
        "functionResponse",
        (response) => response && withMember(Buffer.from(response), "response", { output: text }),
      ),
    ),
};

const anthropic: RecallShape = {
  withTool: (body) => behindLast(body, "tools", { name: toolName, description, input_schema: inputSchema }),
  withText: (message, part, text) =>
    changed(message, "content", part, (block) => {
      const said = withMember(block, "content", text);
      return said && (writeMember(said, "content", "is_error", (value) => value && Buffer.from("false")) ?? said);
    }),
};

/** The shapes of all APIs. */
export const recallShapes: Readonly<Record<WireApiName, RecallShape>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": alone({ type: "function", ...called, strict: false }, "output"),
  "gemini": gemini,
  "ollama": chat,
};
