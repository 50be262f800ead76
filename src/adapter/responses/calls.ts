/** Calls and their outputs of OpenAI's Responses API as parts and back. They are paired by `call_id`. */
import { asName, asObject, asString, isObject, parseJson, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { blankPicture } from "../host/blank-picture.ts";
import { keep, keptOf } from "../host/host-fields.ts";
import { contentBlock, contentParts, name } from "./content.ts";

/** The calls that a client answers, each with the type of its output. All other items of a model are carried whole. */
export const outputs: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
  local_shell_call: "local_shell_call_output",
  shell_call: "shell_call_output",
  apply_patch_call: "apply_patch_call_output",
  computer_call: "computer_call_output",
};

const callTypes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(outputs).map(([call, output]) => [output, call]),
);

/** Whether an item of this type answers a call. */
export function isOutput(type: string): boolean {
  return Object.hasOwn(callTypes, type);
}

/** The call of an item. */
export function callPart(type: string, item: JsonObject, calls: CallPairing): ToolCallPart {
  // An item of a type of its own names its tool by its type.
  const isNamed = type === "function_call" || type === "custom_tool_call";
  const tool = isNamed ? (asString(item["name"]) ?? "") : type.replace(/_call$/, "");
  const call = { type: "tool-call", callId: calls.call(asName(item["call_id"]), tool), name: tool } as const;
  if (type === "function_call") {
    const given = item["arguments"];
    const fields = without(item, "type", "call_id", "name", "arguments");
    const args = typeof given === "string" ? argumentsOf(given) : { args: given ?? {} };
    return { ...call, ...args, ...keep(name, fields, true) };
  }
  if (type === "custom_tool_call") {
    return { ...call, args: { input: item["input"] ?? "" }, ...keep(name, without(item, "call_id", "name", "input")) };
  }
  const { type: _, call_id: __, id, status, ...args } = item;
  const kept = { type, ...(id !== undefined && { id }), ...(status !== undefined && { status }) };
  return { ...call, args, ...keep(name, kept) };
}

function argumentsOf(text: string): Pick<ToolCallPart, "args" | "argsText"> {
  const args = parseJson(text);
  if (args === undefined) return { args: {}, argsText: text };
  return JSON.stringify(args) === text ? { args } : { args, argsText: text };
}

/** The item of a call of any origin. */
export function callItem({ callId, name: tool, args, argsText, opaque }: ToolCallPart): JsonObject {
  const kept = keptOf(name, opaque);
  const type = asString(kept?.["type"]) ?? "function_call";
  if (type === "custom_tool_call") {
    const input = asString(asObject(args)?.["input"]) ?? argsText ?? JSON.stringify(args);
    return { type, call_id: callId, name: tool, input, ...kept };
  }
  if (type !== "function_call") return { type, call_id: callId, ...asObject(args), ...kept };
  return { type, call_id: callId, name: tool, arguments: argsText ?? JSON.stringify(args), ...kept };
}

/** The result of an item that answers a call. */
export function resultPart(type: string, item: JsonObject, calls: CallPairing): ToolResultPart {
  // The output of a local shell names its call in `id`.
  const isLocal = type === "local_shell_call_output" && asName(item["call_id"]) === undefined;
  const field = isLocal ? "id" : "call_id";
  const { output } = item;
  const kept = { ...without(item, field, "output"), ...(isLocal && { field }) };
  return {
    type: "tool-result",
    ...calls.result(asName(item[field])),
    content: outputContent(output),
    ...keep(name, kept),
  };
}

function outputContent(output: JsonValue | undefined): ToolResultPart["content"] {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return contentParts(output, "input_text");
  return output === undefined ? "" : [{ type: "opaque", kind: `${name}/output`, data: { output } }];
}

/**
 * The item of a result of any origin.
 *
 * @param call - the type of the call it answers
 */
export function resultItem(part: ToolResultPart, call: string | undefined): JsonObject {
  const kept = keptOf(name, part.opaque);
  const { field, ...fields } = kept ?? {};
  const type = asString(fields["type"]) ?? outputs[call ?? ""] ?? "function_call_output";
  const output = outputOf(type, part, kept !== undefined);
  return {
    type,
    [asString(field) ?? "call_id"]: part.callId,
    ...(output !== undefined && { output }),
    ...fields,
  };
}

function outputOf(type: string, part: ToolResultPart, isOwn: boolean): JsonValue | undefined {
  const { content } = part;
  if (typeof content !== "string") {
    const [only] = content;
    if (only?.type === "opaque" && only.kind === `${name}/output` && isObject(only.data)) return only.data["output"];
    if (isOwn || type === "function_call_output" || type === "custom_tool_call_output") {
      return content.map((item) => contentBlock(item, "input_text", false));
    }
  }
  const text = resultText(part);
  switch (type) {
    case "computer_call_output":
      return { type: "computer_screenshot", image_url: blankPicture };
    case "shell_call_output":
      return [{ stdout: text, stderr: "", outcome: { type: "exit", exit_code: 0 } }];
    default:
      return text === "" && isOwn && type === "apply_patch_call_output" ? undefined : text;
  }
}
