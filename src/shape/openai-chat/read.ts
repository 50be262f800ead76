/** One message of the chat-completions API as Windrow's. */
import { asArray, asName, asObject, asString, defined, without } from "../../message/json.ts";
import type { JsonObject, NewMessage, Part, Role, ToolResultPart } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { absent, contentNote, keep, orAbsent } from "../host-fields.ts";
import { flatCallPart, flatResultParts } from "./flat.ts";
import { audioKind, blockPart, callPart, chat, functionCallPart } from "./parts.ts";
import { chatUsage } from "./usage.ts";

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

const reasoningFields = ["reasoning_content", "reasoning", "thinking"];

/** The reason why a value is no message of the API; undefined for one that is. */
export function chatFault({ role, content }: JsonObject): string | undefined {
  if (typeof role !== "string" || !Object.hasOwn(roles, role)) {
    return `its role is none of ${Object.keys(roles).join(", ")}`;
  }
  const isContent = (content ?? null) === null || typeof content === "string" || Array.isArray(content);
  return isContent ? undefined : "its content is neither text, nor an array of parts, nor null";
}

/** A message that has no {@link chatFault}. */
export function readChat(host: JsonObject, calls: CallPairing): NewMessage {
  const role = roles[asString(host["role"]) ?? ""] ?? "user";
  return role === "tool" ? toolMessage(host, calls) : spokenMessage(host, role, calls);
}

function spokenMessage(host: JsonObject, role: Role, calls: CallPairing): NewMessage {
  const { content } = host;
  const spoken: Part[] =
    typeof content === "string" && content !== ""
      ? [{ type: "text", text: content }]
      : (asArray(content) ?? []).map(blockPart);
  const [only] = spoken;
  const alone = spoken.length === 1 && only?.type === "text" && only.opaque === undefined;
  const beside = role === "assistant" ? besideContent(host, calls) : [];
  const parts = [
    ...beside.filter(({ part }) => part.type === "reasoning").map(({ part }) => part),
    ...spoken,
    ...beside.filter(({ part }) => part.type !== "reasoning").map(({ part }) => part),
  ];
  const read = beside.map(({ field }) => field);
  const note =
    role === "assistant" && content === null && spoken.length === 0 ? {} : contentNote(host, spoken.length, alone);
  return message(host, role, parts, { ...without(host, "role", "content", ...read), ...note });
}

/** Texts of an assistant's message outside its content, with the field it stood in. */
function besideContent(
  host: JsonObject,
  calls: CallPairing,
): readonly { readonly field: string; readonly part: Part }[] {
  const found: { readonly field: string; readonly part: Part }[] = [];
  const reasoning = reasoningFields.find((field) => typeof host[field] === "string");
  if (reasoning !== undefined) {
    const named = reasoning === "reasoning_content" ? {} : { field: reasoning };
    const text = asString(host[reasoning]) ?? "";
    found.push({ field: reasoning, part: { type: "reasoning", text, ...keep(chat, named) } });
  }
  const refusal = asName(host["refusal"]);
  if (refusal !== undefined) {
    found.push({ field: "refusal", part: { type: "text", text: refusal, ...keep(chat, { field: "refusal" }) } });
  }
  for (const entry of asArray(host["tool_calls"]) ?? []) {
    found.push({ field: "tool_calls", part: flatCallPart(entry, calls) ?? callPart(entry, calls) });
  }
  const single = asObject(host["function_call"]);
  const called = single && functionCallPart(single, calls);
  if (called) found.push({ field: "function_call", part: called });
  const audio = asObject(host["audio"]);
  if (audio) found.push({ field: "audio", part: { type: "opaque", kind: audioKind, data: audio } });
  return found;
}

function toolMessage(host: JsonObject, calls: CallPairing): NewMessage {
  const { content } = host;
  const flat = flatResultParts(host, calls);
  if (flat && (content === undefined || content === null)) {
    return message(host, "tool", flat, without(host, "role", "tool_results"));
  }
  const modern = host["role"] === "tool";
  const id = modern ? asName(host["tool_call_id"]) : undefined;
  const part: ToolResultPart = {
    type: "tool-result",
    ...calls.result(id, asName(host["name"])),
    content: typeof content === "string" ? content : (asArray(content) ?? []).map(blockPart),
    ...(host["is_error"] === true && { isError: true }),
  };
  const empty = content === undefined || content === null;
  return message(host, "tool", [empty ? { ...part, content: "" } : part], {
    ...without(host, "content", ...(modern ? ["role", "tool_call_id"] : [])),
    ...(modern && id === undefined && { tool_call_id: orAbsent(host["tool_call_id"]) }),
    ...(empty && { content: content === null ? null : absent }),
    ...(Array.isArray(content) && { content: [] }),
  });
}

function message(host: JsonObject, role: Role, parts: readonly Part[], kept: JsonObject): NewMessage {
  const named = host["role"] === role ? kept : { ...kept, role: host["role"] ?? role };
  return defined({
    role,
    parts,
    model: asName(host["model"]),
    usage: chatUsage(host["usage"]),
    extra: Object.keys(named).length === 0 ? undefined : { [chat]: named },
  });
}
