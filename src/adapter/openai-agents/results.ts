/** Result items of the OpenAI Agents SDK as tool results and back, each kind with the output that its API accepts. */
import { isObject, without, sameJson, asString } from "../../message/json.ts";
import type { JsonObject, JsonValue, ResultContent, ToolResultPart } from "../../message/message.ts";
import { blankPicture } from "../../shape/responses/blank-picture.ts";
import { keep, keptOf } from "../../shape/host-fields.ts";
import { inputBlock, inputPart, name } from "./blocks.ts";

/** Result items by the calls they answer; the argument field of calls that have a single one. */
export const results: Readonly<Record<string, string>> = {
  function_call_result: "function_call",
  computer_call_result: "computer_call",
  shell_call_output: "shell_call",
  apply_patch_call_output: "apply_patch_call",
  program_output: "program",
};

/** How a shell command ended that says nothing else. */
const shellEnd = { stderr: "", outcome: { type: "exit", exitCode: 0 } };

/** The tool result of an item whose type is one of {@link results}. */
export function resultPart(item: JsonObject): ToolResultPart {
  const kind = asString(item.type) ?? "";
  const { callId, name: tool, output } = item;
  const fields = { ...without(item, "callId", "name", "output"), shape: shapeOf(output) };
  return {
    type: "tool-result",
    callId: typeof callId === "string" ? callId : "",
    ...(typeof tool === "string" && { name: tool }),
    ...(typeof tool !== "string" && kind !== "function_call_result" && { name: results[kind] ?? kind }),
    content: contentOf(kind, output),
    ...keep(name, fields),
  };
}

/** How an output was written: a string, a text object with its further fields, a list, or else. */
function shapeOf(output: JsonValue | undefined): JsonValue {
  if (typeof output === "string") return "string";
  if (isObject(output) && typeof output.text === "string") return without(output, "text");
  return Array.isArray(output) ? "list" : "one";
}

function contentOf(kind: string, output: JsonValue | undefined): ToolResultPart["content"] {
  if (typeof output === "string") return output;
  if (isObject(output) && typeof output.text === "string") return output.text;
  if (!Array.isArray(output)) return [{ type: "opaque", kind: `${name}/output`, data: output ?? null }];
  const [only] = output as readonly JsonValue[];
  if (output.length === 1 && isObject(only)) {
    if (sameJson(without(only, "text"), { type: "input_text" })) return asString(only.text) ?? "";
    if (kind === "shell_call_output" && sameJson(without(only, "stdout"), shellEnd)) return asString(only.stdout) ?? "";
  }
  return output.map((block: JsonValue): ResultContent => {
    if (kind !== "shell_call_output" || !isObject(block) || typeof block.stdout !== "string") return inputPart(block);
    return { type: "text", text: block.stdout, ...keep(name, without(block, "stdout"), true) };
  });
}

/** The item of a tool result. */
export function resultItem(part: ToolResultPart): JsonObject {
  const kept = keptOf(name, part.opaque);
  const { shape = {}, ...fields } = kept ?? { type: "function_call_result", status: "completed" };
  const kind = typeof fields["type"] === "string" ? fields["type"] : "function_call_result";
  const named = kind === "function_call_result" && part.name !== undefined ? { name: part.name } : {};
  return { ...fields, ...named, callId: part.callId, output: outputOf(kind, part, shape) };
}

function outputOf(kind: string, { content }: ToolResultPart, shape: JsonValue): JsonValue {
  if (typeof content === "string") {
    if (shape === "string") return content;
    if (isObject(shape)) return { type: "text", text: content, ...shape };
    if (kind === "computer_call_result") return { type: "computer_screenshot", data: blankPicture };
    if (kind !== "shell_call_output") return [{ type: "input_text", text: content }];
    return [{ stdout: content, ...shellEnd }];
  }
  if (shape === "one" && content[0]?.type === "opaque") return content[0].data;
  return content.map((item) => {
    const block = inputBlock(item);
    if (kind !== "shell_call_output" || item.type !== "text") return block;
    const { type: _type, text, ...rest } = block;
    return { stdout: text ?? "", ...(Object.keys(rest).length > 0 ? rest : shellEnd) };
  });
}
