/** Calls and their outputs of OpenAI's Responses API as parts and back. They are paired by `call_id`. */
import { asName, asObject, asString, isObject, parseJson, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { blankPicture } from "./blank-picture.ts";
import { keep, keptOf, orAbsent, present } from "../host-fields.ts";
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
  const callId = asName(item["call_id"]);
  const call = { type: "tool-call", callId: calls.call(callId, tool), name: tool } as const;
  // Stands as the host had it, but in no request.
  const odd = {
    ...(callId === undefined && { call_id: orAbsent(item["call_id"]) }),
    ...(isNamed && typeof item["name"] !== "string" && { name: orAbsent(item["name"]) }),
  };
  if (type === "function_call") {
    const given = item["arguments"];
    const isText = typeof given === "string";
    const fields = { ...without(item, "type", "call_id", "name", "arguments"), ...odd };
    const kept = isText ? fields : { ...fields, arguments: orAbsent(given) };
    return {
      ...call,
      ...(isText ? argumentsOf(given) : { args: given === undefined ? {} : given }),
      ...keep(name, kept, true),
    };
  }
  if (type === "custom_tool_call") {
    const { input } = item;
    const kept = { ...without(item, "call_id", "name", "input"), ...odd };
    const isText = typeof input === "string";
    return {
      ...call,
      args: { input: input === undefined ? "" : input },
      ...keep(name, isText ? kept : { ...kept, input: orAbsent(input) }),
    };
  }
  const { type: _, call_id: __, id, status, ...args } = item;
  const kept = { type, ...odd, ...(id !== undefined && { id }), ...(status !== undefined && { status }) };
  return { ...call, args, ...keep(name, kept) };
}

function argumentsOf(text: string): Pick<ToolCallPart, "args" | "argsText"> {
  const args = parseJson(text);
  if (args === undefined) return { args: {}, argsText: text };
  return JSON.stringify(args) === text ? { args } : { args, argsText: text };
}

/**
 * The item of a call of any origin.
 *
 * @param isRequest - the API is to take it; otherwise it is as the host had it
 */
export function callItem({ callId, name: tool, args, argsText, opaque }: ToolCallPart, isRequest: boolean): JsonObject {
  const kept = keptOf(name, opaque) ?? {};
  const type = asString(kept["type"]) ?? "function_call";
  const text = argsText ?? JSON.stringify(args);
  const own: JsonObject =
    type === "custom_tool_call"
      ? { name: tool, input: asString(asObject(args)?.["input"]) ?? text }
      : type === "function_call"
        ? { name: tool, arguments: text }
        : {};
  const item = { type, call_id: callId, ...own };
  const given = Object.keys(own).length === 0 ? asObject(args) : {};
  return isRequest ? { ...given, ...kept, ...item } : present({ ...item, ...given, ...kept });
}

/** The result of an item that answers a call. */
export function resultPart(type: string, item: JsonObject, calls: CallPairing): ToolResultPart {
  // The output of a local shell names its call in `id`.
  const isLocal = type === "local_shell_call_output" && asName(item["call_id"]) === undefined;
  const field = isLocal ? "id" : "call_id";
  const { output } = item;
  const id = asName(item[field]);
  const kept = {
    ...without(item, field, "output"),
    ...(isLocal && { field }),
    ...(id === undefined && { [field]: orAbsent(item[field]) }),
  };
  return {
    type: "tool-result",
    ...calls.result(id),
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
 * @param isRequest - the API is to take it; otherwise it is as the host had it
 */
export function resultItem(part: ToolResultPart, call: string | undefined, isRequest: boolean): JsonObject {
  const kept = keptOf(name, part.opaque);
  const { field, ...fields } = kept ?? {};
  const type = asString(fields["type"]) ?? outputs[call ?? ""] ?? "function_call_output";
  const output = outputOf(type, part, kept !== undefined);
  const id = { [asString(field) ?? "call_id"]: part.callId };
  return present({ type, ...id, ...(output !== undefined && { output }), ...fields, ...(isRequest && id) });
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
