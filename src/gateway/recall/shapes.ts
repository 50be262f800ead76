/** The tool `windrow_recall` in each API: its declaration, and the place of a result's text in the bytes of a message. */
import { recallDeclaration } from "../../adapter/host/recall-tool.ts";
import { asArray, asName, fieldsOf, isObject, parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { WireApiName } from "../gateway.ts";
import { writeMember } from "../wire/body.ts";
import { bodyRanges } from "../wire/json-ranges.ts";

/** The name of the tool that the gateway adds. */
export const toolName = "windrow_recall";

/** One result of the tool in a message. */
export interface ResultPlace {
  /** Its call's id; made up where the API has none. */
  readonly callId: string;
  /** How many results of the tool stand before it in its message. */
  readonly nth: number;
}

/** What differs from API to API. */
export interface RecallShape {
  /** The body with the tool behind the client's own; undefined for a body without a list of tools. */
  withTool(body: Buffer): Buffer | undefined;
  /** The message with another text in the place of a result's content; undefined where it has no such result. */
  withText(message: Buffer, place: ResultPlace, text: string): Buffer | undefined;
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

/** Changes the first element of a list that is the one; undefined where there is none, or where it stays. */
function changed(
  object: Buffer,
  list: string,
  isIt: (element: JsonObject) => boolean,
  change: (element: Buffer) => Buffer | undefined,
): Buffer | undefined {
  for (const { start, end } of bodyRanges(object, list)?.elements ?? []) {
    const element = object.subarray(start, end);
    if (!isIt(fieldsOf(parseJson(element.toString())))) continue;
    const other = change(element);
    return other && Buffer.concat([object.subarray(0, start), other, object.subarray(end)]);
  }
  return undefined;
}

/** An object with another value of one member, which is added where it is absent. */
function withMember(object: Buffer, name: string, value: JsonValue): Buffer | undefined {
  return writeMember(object, name, name, () => Buffer.from(JSON.stringify(value)));
}

/** APIs whose results are messages of their own. */
function alone(tool: JsonValue, content: string): RecallShape {
  return {
    withTool: (body) => behindLast(body, "tools", tool),
    withText: (message, _place, text) => withMember(message, content, text),
  };
}

const chat = alone({ type: "function", function: called }, "content");

const functionLists = ["functionDeclarations", "function_declarations"];

const gemini: RecallShape = {
  // The API takes one list of functions.
  withTool: (body) => {
    const list = functionLists.find((name) => body.includes(`"${name}"`)) ?? "";
    const declared = { name: toolName, description, parametersJsonSchema: inputSchema };
    const isIt = (tool: JsonObject): boolean => (asArray(tool[list])?.length ?? 0) > 0;
    return changed(body, "tools", isIt, (tool) => behindLast(tool, list, declared));
  },
  withText: (message, { callId, nth }, text) => {
    let count = 0;
    const isIt = ({ functionResponse: response }: JsonObject): boolean => {
      if (!isObject(response) || response["name"] !== toolName) return false;
      const id = asName(response["id"]);
      const isNext = count++ === nth;
      return id === undefined ? isNext : id === callId;
    };
    return changed(message, "parts", isIt, (part) =>
      writeMember(
        part,
        "functionResponse",
        "functionResponse",
        (response) => response && withMember(Buffer.from(response), "response", { output: text }),
      ),
    );
  },
};

const anthropic: RecallShape = {
  withTool: (body) => behindLast(body, "tools", { name: toolName, description, input_schema: inputSchema }),
  withText: (message, { callId }, text) =>
    changed(
      message,
      "content",
      ({ type, tool_use_id: id }) => type === "tool_result" && id === callId,
      (block) => {
        const said = withMember(block, "content", text);
        return said && (writeMember(said, "content", "is_error", (value) => value && Buffer.from("false")) ?? said);
      },
    ),
};

/** The shapes of all APIs. */
export const recallShapes: Readonly<Record<WireApiName, RecallShape>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": alone({ type: "function", ...called, strict: false }, "output"),
  "gemini": gemini,
  "ollama": chat,
};
