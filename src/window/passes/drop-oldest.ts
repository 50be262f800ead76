/** drop-oldest: whole steps leave from the head; one labelled message says what they were and how to get them back. */
import { renderNote } from "../note.ts";
import { runsOf } from "../runs.ts";
import { stubsOf } from "../stub.ts";
import type { Edit, Pass, PassContext, Stub, View, ViewStep } from "../window.ts";

/** Options of {@link dropOldest}. */
export interface DropOldestOptions {
  /**
   * Share of the target that the labelled message may use to name, by tool and subject, what left. Default 0: it only
   * says how much left and the range to recall.
   */
  readonly indexShare?: number;
}

/** Drops the oldest steps that are not protected until the rest meets the target (seed 002 strategy A, seed 004 §1). */
export function dropOldest({ indexShare = 0 }: DropOldestOptions = {}): Pass {
  return {
    name: "drop-oldest",
    plan(view: View, context: PassContext): readonly Edit[] {
      if (view.tokens <= context.target) return [];
      const cap = Math.floor(context.target * indexShare);
      const attempt = (reserve: number): readonly Edit[] => {
        return editsFor(view, dropUntil(view, context.target - reserve), context, cap);
      };
      // An older note stands until a step is dropped, and then becomes part of the new one.
      const standing = view.steps.reduce((sum, step) => sum + (step.kind === "note" ? step.tokens : 0), 0);
      let reserve = Math.max(cap, standing, 1);
      let edits = attempt(reserve);
      // The note has the size of what it names, which is known only when the steps it stands for are.
      for (let tries = 0; tries < 3 && noteTokens(edits) > reserve; tries++) {
        reserve = noteTokens(edits);
        edits = attempt(reserve);
      }
      const snug = attempt(noteTokens(edits));
      return snug.length > 0 && noteTokens(snug) <= noteTokens(edits) ? snug : edits;
    },
  };
}

function dropUntil(view: View, target: number): ReadonlySet<ViewStep> {
  const dropped = new Set<ViewStep>();
  let left = view.tokens;
  for (const step of view.steps) if (step.kind === "note") left -= step.tokens;
  for (const step of view.steps) {
    if (left <= target) break;
    if (step.protected || step.kind === "note") continue;
    dropped.add(step);
    left -= step.tokens;
  }
  if (dropped.size > 0) for (const step of view.steps) if (step.kind === "note") dropped.add(step);
  return dropped;
}

function noteTokens(edits: readonly Edit[]): number {
  return edits.reduce((sum, edit) => sum + edit.tokensAfter, 0);
}

function editsFor(view: View, dropped: ReadonlySet<ViewStep>, { counter }: PassContext, cap: number): readonly Edit[] {
  if (dropped.size === 0) return [];
  const runs = runsOf(view, dropped);
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) return [];
  const tokens = [...dropped].reduce((sum, step) => sum + step.logTokens, 0);
  const count = runs.reduce((sum, run) => sum + run.to - run.from + 1, 0);
  const stubs: Stub[] = [];
  for (const step of view.steps) {
    if (dropped.has(step)) stubs.push(...(step.edit?.stubs ?? stubsOf(step.kind === "note" ? [] : step.messages)));
  }
  const note = renderNote({ from: first.from, to: last.to, count, tokens, stubs }, counter, cap);
  const shared = { pass: "drop-oldest", reason: "the oldest steps left to make room" };
  return runs.map((run, index): Edit =>
    index === 0
      ? {
          kind: "replace",
          ...run,
          text: note.text,
          stubs: note.stubs,
          ...shared,
          tokensBefore: tokens,
          tokensAfter: counter.count(note.text) + 4,
        }
      : { kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 },
  );
}
