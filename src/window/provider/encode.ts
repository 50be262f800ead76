/**
 * Encoding a message for one provider: unreadable parts are left out, and missing required parts are filled in. A provider
 * reads only the reasoning that it signed or sealed itself.
 */
import { fieldsOf, isObject } from "../../message/json.ts";
import { withParts } from "../../message/message.ts";
import type { JsonObject, Message, Part, ReasoningPart, ToolCallPart } from "../../message/message.ts";
import { thoughtSignature } from "../../message/parts.ts";
import { isPiece } from "../../message/step.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { findModel } from "../../tokens/models.ts";
import type { Profile } from "./profile.ts";

/**
 * The message itself where the profile asks for nothing else. Pure, and of this one message alone: the same message is
 * encoded the same wherever it stands, so that a window grows only at its end.
 */
export function encodeFor(profile: Profile, message: Message): Message {
  if (message.role === "system") return profile.rules.systemFirst ? labelled(message) : message;
  if (message.role !== "assistant") return message;
  const parts = spoken(message, profile);
  return withParts(message, parts);
}

/** The answer that stands between results and the user's words if the model gave none and the provider wants one. */
export const noAnswer: Message = {
  id: "windrow:no-answer",
  role: "assistant",
  status: "synthetic",
  parts: [{ type: "text", text: "[Windrow: no answer was recorded here.]" }],
};

/** Whether {@link noAnswer} stands between two messages. */
export function wantsAnswer({ rules }: Profile, before: Message | undefined, { role }: Message): boolean {
  return rules.answerBeforeUser && before?.role === "tool" && role === "user";
}

/** Messages with the answers that the provider wants between them. */
export function withAnswers(profile: Profile, messages: readonly NumberedMessage[]): readonly NumberedMessage[] {
  return messages.flatMap((numbered, at) => {
    const isWanted = wantsAnswer(profile, messages[at - 1]?.message, numbered.message);
    return isWanted ? [{ seq: 0, message: noAnswer }, numbered] : [numbered];
  });
}

/** The provider takes no system message here; its words stay, labelled, in the user's role. */
function labelled(message: Message): Message {
  const label: Part = { type: "text", text: "[System message]" };
  return { ...message, role: "user", status: "synthetic", parts: [label, ...message.parts] };
}

function spoken(message: Message, profile: Profile): readonly Part[] {
  const { rules } = profile;
  const parts = message.parts.flatMap((part): readonly Part[] => {
    if (!isReasoning(part)) return [part];
    const kept = reasoningFor(part, message, profile);
    return kept ? [kept] : [];
  });
  // The item of a piece that is reasoning alone is the next piece.
  if (rules.reasoningNeedsItem && !isPiece(message)) while (parts.at(-1)?.type === "reasoning") parts.pop();
  const call = parts.findIndex((part) => part.type === "tool-call");
  if (call === -1) return parts;
  if (rules.callNeedsSignature) parts[call] = signed(parts[call] as ToolCallPart);
  if (rules.callNeedsReasoning && !parts.some(saysReasoning)) {
    parts.unshift({ type: "reasoning", text: missingReasoning });
  }
  return parts;
}

function reasoningFor(part: Part, message: Message, profile: Profile): Part | undefined {
  const { rules, reasoning } = profile;
  if (part.type === "reasoning" && reasoning === "ignored") return undefined;
  if (rules.ownReasoning && isForeign(part, message, profile)) {
    const words = reasoning === "required" && part.type === "reasoning" && saysReasoning(part);
    return words ? { type: "reasoning", text: part.text } : undefined;
  }
  return rules.signedReasoning && part.type === "reasoning" && part.signature === undefined ? undefined : part;
}

/** Whether a part is reasoning that can be read. */
export function saysReasoning(part: Part): part is ReasoningPart {
  return part.type === "reasoning" && part.text.trim() !== "";
}

function signed(call: ToolCallPart): ToolCallPart {
  if (thoughtSignature(call) !== undefined) return call;
  const kept = typeof call.opaque === "object" && !Array.isArray(call.opaque) ? (call.opaque as JsonObject | null) : {};
  return { ...call, opaque: { ...kept, gemini: { thoughtSignature: skippedSignature } } };
}

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

/** A stretch of the log, by `seq`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches with signed reasoning: all there is, or around the unsigned that stays.
 *
 * @param thinking - the messages with reasoning
 * @param dropped - the stretches whose reasoning leaves anyway
 */
export function boundRanges(
  thinking: readonly NumberedMessage[],
  whole: Range,
  dropped: readonly Range[],
): readonly Range[] {
  const ranges: { from: number; to: number }[] = [];
  let isNew = true;
  let anyStays = false;
  for (const { seq, message } of thinking) {
    const own = { from: seq, to: seq };
    if (message.parts.some(isBound)) {
      const newest = ranges.at(-1);
      if (isNew || !newest) ranges.push(own);
      else newest.to = seq;
      isNew = false;
    } else if (!dropped.some((one) => isWithin(own, one))) isNew = anyStays = true;
  }
  return ranges.length > 0 && !anyStays ? [whole] : ranges;
}

/** Whether a stretch lies in another. */
export function isWithin(inner: Range, outer: Range): boolean {
  return outer.from <= inner.from && inner.to <= outer.to;
}
