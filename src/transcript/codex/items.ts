/** Reads response items of Codex as parts. */
import type { JsonObject, JsonValue, Part, ResultContent } from "../../message/message.ts";
import { chatContent } from "../../shape/openai-chat/loose.ts";
import type { CallPairing } from "../../message/parts.ts";
import { callArguments, opaquePart, opaqueRest, resultContent } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined, objectsOf } from "../../message/json.ts";

const format = "codex";

/** Reads the content of a message: text, or blocks of the Responses API. */
export function codexContent(content: JsonValue | undefined): readonly Part[] {
  return chatContent(content, format);
}

/**
 * Reads a reasoning item. Its encrypted content is the signature; a summary of several pieces is also stored unchanged.
 */
export function codexReasoning(item: JsonObject): Part {
  const pieces = [...objectsOf(item["summary"]), ...objectsOf(item["content"])];
  const { opaque } = opaqueRest(item, ["type", "summary", "content", "encrypted_content"]);
  const kept = {
    ...asObject(opaque),
    ...(pieces.length > 1 && defined({ summary: item["summary"], content: item["content"] })),
  };
  return {
    type: "reasoning",
    text: pieces.map((piece) => asString(piece["text"]) ?? "").join("\n\n"),
    ...defined({ signature: asName(item["encrypted_content"]) }),
    ...(Object.keys(kept).length === 0 ? {} : { opaque: kept as JsonObject }),
  };
}

/**
 * Reads a call of any kind. The free text of a custom tool becomes `{ input }`; a local shell's action stays as it is.
 */
export function codexCall(item: JsonObject, calls: CallPairing): Part {
  const builtIn: Readonly<Record<string, string>> = {
    local_shell_call: "local_shell",
    tool_search_call: "tool_search",
  };
  const name =
    asName(item["name"]) ?? asName(asObject(item["function"])?.["name"]) ?? builtIn[asString(item["type"]) ?? ""];
  if (name === undefined) return opaquePart(item, format);
  const custom = item["type"] === "custom_tool_call";
  const given = custom ? { input: item["input"] ?? "" } : (item["arguments"] ?? item["action"]);
  return {
    type: "tool-call",
    callId: calls.call(asName(item["call_id"]) ?? asName(item["id"]), name),
    name,
    ...callArguments(given),
    ...opaqueRest(item, [
      "call_id",
      "name",
      "function",
      "arguments",
      "input",
      "action",
      "created_at",
      "timestamp",
      ...(custom ? [] : ["type"]),
    ]),
  };
}

/** Reads the output of a call: text, blocks, or `{ content, success }`. */
export function codexOutput(item: JsonObject, calls: CallPairing): Part {
  const output = item["output"] ?? item["result"] ?? item["tools"] ?? "";
  const wrapped = asObject(output);
  const failed = wrapped?.["success"] === false || item["status"] === "failed";
  return {
    type: "tool-result",
    ...calls.result(asName(item["call_id"]), asName(item["name"])),
    content: outputContent(wrapped?.["content"] ?? output),
    ...(failed ? { isError: true } : {}),
  };
}

function outputContent(output: JsonValue): string | readonly ResultContent[] {
  if (typeof output === "string") return output;
  const object = asObject(output);
  if (object && !("type" in object)) return JSON.stringify(object);
  return resultContent(chatContent(asArray(output) ?? [output], format));
}
