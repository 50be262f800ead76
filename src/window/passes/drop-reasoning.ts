/** drop-reasoning: removes the reasoning of older answers, and nothing else. */
import type { Part } from "../../message/message.ts";
import { countPart } from "../../tokens/counter.ts";
import type { Pass, ViewStep } from "../window.ts";

/** Options of {@link dropReasoning}. */
export interface DropReasoningOptions {
  /** How many of the newest answers with reasoning keep it. Default 1. */
  readonly keep?: number;
  /**
   * Whether a tool loop that is still open keeps all its reasoning, as providers that sign reasoning require. Default
   * true.
   */
  readonly openLoop?: boolean;
}

/** Drops the reasoning of all answers but the newest with any; nothing where the provider wants all of it back. */
export function dropReasoning({ keep = 1, openLoop = true }: DropReasoningOptions = {}): Pass {
  return {
    name: "drop-reasoning",
    plan(view, { counter, profile }) {
      if (profile.rules.callNeedsReasoning) return [];
      const thinking = view.steps.flatMap((step) =>
        step.messages.filter(({ message }) => message.parts.some(isReasoning)),
      );
      const loop = openLoop ? openLoopStart(view.steps) : Infinity;
      const isBoundLoop =
        profile.reasoning === "prefix-bound" &&
        thinking.some(({ seq, message }) => seq >= loop && message.parts.some(isSigned));
      // Signed reasoning of the open loop would be lost with any before it, so all of it stays.
      if (isBoundLoop) return [];
      const oldestKept = thinking[thinking.length - keep]?.seq ?? (keep > 0 ? 0 : Infinity);
      const leaving = thinking.filter(({ seq }) => seq < Math.min(loop, oldestKept));
      const last = leaving.at(-1);
      if (!last) return [];
      const tokensBefore = leaving.reduce((total, { message }) => {
        return total + message.parts.filter(isReasoning).reduce((sum, part) => sum + countPart(counter, part), 0);
      }, 0);
      // One edit replaces the earlier one, so it begins where that one began.
      return [
        {
          kind: "drop",
          only: "reasoning",
          from: 1,
          to: last.seq,
          pass: "drop-reasoning",
          reason: "reasoning of older answers has no use for later ones",
          tokensBefore,
          tokensAfter: 0,
        },
      ];
    },
  };
}

function isReasoning(part: { readonly type: string }): boolean {
  return part.type === "reasoning";
}

/** Whether a part is reasoning that its provider signed, or that carries fields of the provider's. */
function isSigned(part: Part): boolean {
  return part.type === "reasoning" && (part.signature !== undefined || part.opaque !== undefined);
}

/**
 * The index at which the open tool loop begins: after the newest user message, if the newest step still calls tools.
 */
function openLoopStart(steps: readonly ViewStep[]): number {
  const newest = steps.findLast((step) => step.kind === "assistant" || step.kind === "user");
  if (newest?.kind !== "assistant" || newest.messages.length === 1) return Infinity;
  return (steps.findLast((step) => step.kind === "user")?.to ?? 0) + 1;
}
