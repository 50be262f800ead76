/** Signed reasoning: a provider reads only the reasoning that it signed or sealed itself. */
import { fieldsOf, isObject } from "../../message/json.ts";
import type { JsonObject, Message, Part, ReasoningPart, ToolCallPart } from "../../message/message.ts";
import { thoughtSignature } from "../../message/parts.ts";
import { findModel } from "../../tokens/models.ts";
import type { Profile } from "./profile.ts";

/** Names that adapters, transcripts and hosts give a provider, and the provider (src/tokens/models.ts). */
const providers: ReadonlyMap<string, string> = new Map([
  ["anthropic", "anthropic"],
  ["claude-code", "anthropic"],
  ["codex", "openai"],
  ["openai", "openai"],
  ["openai-agents", "openai"],
  ["openai-responses", "openai"],
  ["gemini", "google"],
  ["google", "google"],
  ["deepseek", "deepseek"],
  ["kimi", "moonshot"],
  ["moonshot", "moonshot"],
]);

/** The reasoning of a call whose own is unknown; chat APIs refuse a missing or an empty one. */
export const missingReasoning = ".";

/** The thought signature of a call whose own is unknown (ai.google.dev: thought signatures, FAQ). */
export const skippedSignature = "skip_thought_signature_validator";

/** Whether a provider, or the model a window goes to, cannot read this part and refuses or ignores it. */
export function isForeign(part: Part, message: Message, { reads, model, reasoning }: Profile): boolean {
  if (!isReasoning(part)) return false;
  const signed = part.type === "opaque" || part.signature !== undefined;
  // A provider that only requires some reasoning accepts unsigned text.
  if (reasoning === "required" && !signed) return false;
  const writer = writerOf(message);
  const provider = adapterOf(part) ?? writer.provider;
  if (reads && provider !== undefined && !reads.includes(provider)) return true;
  const target = signed && model !== undefined ? findModel(model) : undefined;
  return target !== undefined && writer.model !== undefined && writer.model !== target.id;
}

/** Whether a part is reasoning, understood or not. */
export function isReasoning(part: Part): part is ReasoningPart | Extract<Part, { readonly type: "opaque" }> {
  return part.type === "reasoning" || (part.type === "opaque" && /\/(redacted_)?(reasoning|thinking)$/.test(part.kind));
}

/** Whether a part is reasoning that its provider signed or sealed, which is only good behind the prefix it was written on. */
export function isBound(part: Part): boolean {
  if (!isReasoning(part)) return false;
  return part.type === "opaque" || part.signature !== undefined || part.opaque !== undefined;
}

/** A call without its thought signature; the call itself where it has none. */
export function withoutSignature(call: ToolCallPart): ToolCallPart {
  if (thoughtSignature(call) === undefined) return call;
  const { opaque, ...rest } = call;
  const kept = Object.entries(unsigned(fieldsOf(opaque))).map(([name, value]) => [
    name,
    isObject(value) ? unsigned(value) : value,
  ]);
  return { ...rest, opaque: Object.fromEntries(kept) as JsonObject };
}

function unsigned(fields: JsonObject): JsonObject {
  const { thoughtSignature: _, thought_signature: __, ...rest } = fields;
  return rest;
}

function adapterOf(part: ReasoningPart | Extract<Part, { readonly type: "opaque" }>): string | undefined {
  const names = part.type === "opaque" ? [part.kind.split("/", 1)[0] ?? ""] : Object.keys(fieldsOf(part.opaque));
  return names.map((name) => providers.get(name)).find((provider) => provider !== undefined);
}

interface Writer {
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

const writers = new WeakMap<Message, Writer>();

/** The model that wrote a message, as far as the message says; looked up once per message. */
function writerOf(message: Message): Writer {
  let writer = writers.get(message);
  if (!writer) {
    const model = message.model === undefined ? undefined : findModel(message.model);
    const host = message.extra?.["provider"];
    const named = typeof host === "string" ? providers.get(host) : undefined;
    writers.set(message, (writer = { provider: named ?? model?.provider, model: model?.id }));
  }
  return writer;
}
