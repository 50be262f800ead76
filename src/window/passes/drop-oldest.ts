/** drop-oldest: whole steps leave from the head; one labelled message says what they were and how to get them back. */
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import type { Edit, Pass, PassContext, View, ViewStep } from "../window.ts";
import { summaryPass } from "../edits.ts";
import { isMerged, leavingEdits } from "./leaving.ts";
import type { LeavingOptions } from "./leaving.ts";

/** Options of {@link dropOldest}. */
export interface DropOldestOptions {
  /**
   * Share of the target that the labelled message may use to name, by tool and subject, what left. Default 0: it only
   * says how much left and the range to recall.
   */
  readonly indexShare?: number;
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
  /** Whether other passes' labelled messages leave only when all else has, and summaries stay. Default false: all leave first. */
  readonly keepNotes?: boolean;
  /** For people: why the steps left. */
  readonly reason?: string;
}

/** Drops the oldest unprotected steps until the rest meets the target. */
export function dropOldest({
  indexShare = 0,
  note = true,
  keepNotes = false,
  reason = "the oldest steps left to make room",
}: DropOldestOptions = {}): Pass {
  const planning = (view: View, context: PassContext): Work<readonly Edit[]> => {
    const cap = Math.floor(context.target * indexShare);
    return droppingFirst(view, view.steps, context, {
      pass: "drop-oldest",
      reason,
      keepNotes,
      ...(note && { noteCap: cap }),
    });
  };
  return {
    name: "drop-oldest",
    plan: (view, context) => atOnce(planning(view, context)),
    planning,
  };
}

/**
 * Drops the steps of `order`, in that order, until the rest and the message about them meet the target. Protected steps
 * stay; of labelled messages that are kept, summaries stay, and those of other passes come last.
 */
export function* droppingFirst(
  view: View,
  order: readonly ViewStep[],
  context: PassContext,
  options: LeavingOptions,
): Work<readonly Edit[]> {
  if (view.tokens <= context.target) return [];
  const merged = new Set(view.steps.filter((step) => isMerged(step, options)));
  const standing = [...merged].reduce((sum, step) => sum + step.tokens, 0);
  const stays = (step: ViewStep): boolean => options.keepNotes === true && step.edit?.pass === summaryPass;
  const free = order.filter((step) => !step.protected && !merged.has(step) && !stays(step));
  const ordered = [...free.filter((step) => step.kind !== "note"), ...free.filter((step) => step.kind === "note")];
  yield;
  const attempt = (reserve: number): readonly Edit[] => {
    const dropped = new Set<ViewStep>();
    let left = view.tokens - standing;
    for (const step of ordered) {
      if (left <= context.target - reserve) break;
      dropped.add(step);
      left -= step.tokens;
    }
    return leavingEdits(view, dropped, context, options);
  };
  if (options.noteCap === undefined) return attempt(0);
  // An older note stays until a step is dropped, and then becomes part of the new note.
  let reserve = Math.max(options.noteCap, standing, 1);
  let edits = attempt(reserve);
  yield;
  // The note's size depends on the steps it names, so it is counted after they are chosen.
  for (let tries = 0; tries < 3 && noteTokens(edits) > reserve; tries++) {
    yield;
    reserve = noteTokens(edits);
    edits = attempt(reserve);
  }
  yield;
  const snug = attempt(noteTokens(edits));
  return snug.length > 0 && noteTokens(snug) <= noteTokens(edits) ? snug : edits;
}

function noteTokens(edits: readonly Edit[]): number {
  return edits.reduce((sum, edit) => sum + edit.tokensAfter, 0);
}
