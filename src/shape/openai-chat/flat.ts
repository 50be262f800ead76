/**
 * Calls and results in the flat form of agents that keep their own messages: `tool_calls: [{ id, name, args }]`, and all results
 * of a step in one message, `tool_results: [{ tool_call_id, result, is_error }]` with any JSON value as a result.
 */
import { asArray, asName, asObject, isObject, parseJson, sameJson, without } from "../../message/json.ts";
import { resultText } from "../../message/message.ts";
import type { JsonObject, JsonValue, Part, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { absent, keep, keptOf, present } from "../host-fields.ts";
import { chat } from "./parts.ts";

/** The kind of an opaque part that is an entry of `tool_results`. */
const resultKind = `${chat}:tool_results`;

/** Marks a result that was no text. */
const asValue = "windrow:value";

/** An entry of `tool_calls` in the flat form as a part; undefined for another form. */
export function flatCallPart(entry: JsonValue, calls: CallPairing): ToolCallPart | undefined {
  const call = asObject(entry);
  const name = asName(call?.["name"]);
  if (!call || name === undefined || call["args"] === undefined || isObject(call["function"] ?? call["custom"])) {
    return undefined;
  }
  const id = asName(call["id"]);
  const rest = { ...without(call, "id", "name", "args"), ...(id === undefined && { id: call["id"] ?? absent }) };
  const callId = calls.call(id, name);
  return { type: "tool-call", callId, name, args: call["args"], ...keep(chat, { flat: rest }) };
}

/** The entry of `tool_calls` that a part came as, in the flat form; undefined for another part. */
export function flatCall(part: ToolCallPart): JsonObject | undefined {
  const kept = asObject(keptOf(chat, part.opaque)?.["flat"]);
  return kept && present({ id: part.callId, name: part.name, args: part.args, ...kept });
}

/** The results of a message as parts; undefined where it has no `tool_results`. */
export function flatResultParts(host: JsonObject, calls: CallPairing): readonly Part[] | undefined {
  return asArray(host["tool_results"])?.map((entry): Part => {
    const part = isObject(entry) ? flatResultPart(entry, calls) : undefined;
    return part && sameJson(flatResult(part), entry) ? part : { type: "opaque", kind: resultKind, data: entry };
  });
}

function flatResultPart(entry: JsonObject, calls: CallPairing): ToolResultPart | undefined {
  const id = asName(entry["tool_call_id"]);
  const { result, is_error: isError } = entry;
  if (id === undefined || result === undefined) return undefined;
  const isText = typeof result === "string";
  const rest = {
    ...without(entry, "tool_call_id", "result", "is_error"),
    ...(!isText && { result: asValue }),
    ...(isError === undefined ? { is_error: absent } : typeof isError !== "boolean" && { is_error: isError }),
  };
  return {
    type: "tool-result",
    ...calls.result(id),
    content: isText ? result : JSON.stringify(result),
    ...(isError === true && { isError: true }),
    ...keep(chat, { flat: rest }),
  };
}

/** Whether a part came from, or answers in, the flat form. */
export function isFlatResult(part: Part): boolean {
  if (part.type === "opaque") return part.kind === resultKind;
  return part.type === "tool-result" && isObject(keptOf(chat, part.opaque)?.["flat"]);
}

/** A part as an entry of `tool_results`. */
export function flatResult(part: Part): JsonValue {
  if (part.type === "opaque") return part.data;
  if (part.type !== "tool-result") return null;
  const { result, ...kept } = asObject(keptOf(chat, part.opaque)?.["flat"]) ?? {};
  const text = resultText(part);
  // A result that was shortened is no JSON any more, and stands as text.
  const value = result === asValue ? (parseJson(text) ?? text) : text;
  return present({ tool_call_id: part.callId, result: value, is_error: part.isError === true, ...kept });
}
