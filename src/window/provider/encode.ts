/** Encoding a message for one provider: unreadable parts are left out, and missing required parts are filled in. */
import { withParts } from "../../message/message.ts";
import type { JsonObject, Message, Part, ReasoningPart, ToolCallPart } from "../../message/message.ts";
import { isPiece } from "../../message/step.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Profile } from "./profile.ts";
import { thoughtSignature } from "../../message/parts.ts";
import { isForeign, isReasoning, missingReasoning, skippedSignature } from "./signed.ts";

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
