/** Leaving: the edits that take whole steps out of the window, with or without a labelled message in their place. */
import { isRange, summaryPass } from "../edits.ts";
import { renderNote } from "../stub/note.ts";
import { runsOf } from "./runs.ts";
import { stubsOf } from "../stub/stub.ts";
import type { Edit, PassContext, Stub, View, ViewStep } from "../window.ts";

/** Options of the edits by which steps leave. */
export interface LeavingOptions {
  readonly pass: string;
  readonly reason: string;
  /**
   * Tokens that the labelled message may use to name, by tool and subject, what left; 0 leaves its first line. Absent: no
   * message at all.
   */
  readonly noteCap?: number;
  /** Whether labelled messages of other passes (a summary) stay beside the new one. Default false: it takes their place. */
  readonly keepNotes?: boolean;
}

/** Whether a labelled message becomes part of the one these edits leave. */
export function isMerged(step: ViewStep, { pass, noteCap, keepNotes = false }: LeavingOptions): boolean {
  return noteCap !== undefined && step.kind === "note" && (!keepNotes || step.edit?.pass === pass);
}

/** The edits for steps that leave. Where a message says so, earlier ones become part of it. */
export function leavingEdits(
  view: View,
  dropped: ReadonlySet<ViewStep>,
  { counter, mask, edits = [], sessionName }: Pick<PassContext, "counter" | "mask" | "edits" | "sessionName">,
  options: LeavingOptions,
): readonly Edit[] {
  if (dropped.size === 0) return [];
  const { pass, reason, noteCap } = options;
  const shared = { pass, reason };
  if (noteCap === undefined) return plainDrops(view, dropped, shared);
  const leaving = new Set([...dropped, ...view.steps.filter((step) => isMerged(step, options))]);
  const runs = runsOf(view, leaving);
  const [first] = runs;
  if (!first) return [];
  let tokens = 0;
  const stubs: Stub[] = [];
  for (const step of view.steps) {
    if (!leaving.has(step)) continue;
    tokens += step.logTokens;
    // A note of its first line alone names none.
    if (noteCap === 0) continue;
    for (const stub of step.edit?.stubs ?? (step.kind === "note" ? [] : stubsOf(step.messages, mask))) stubs.push(stub);
  }
  const isNoted = view.steps.some((step) => step.edit?.pass === pass && leaving.has(step));
  const gone = isNoted ? edits.filter((edit) => isRange(edit) && edit.pass === pass) : [];
  const named = namedBy(runs, gone, edits);
  const note = renderNote({ ...named, tokens, stubs, sessionName }, counter, noteCap);
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

/** The messages that a labelled message names: those of its runs, and those an earlier one named that are not seen any more. */
function namedBy(
  runs: readonly Range[],
  gone: readonly Range[],
  edits: readonly Edit[],
): { readonly from: number; readonly to: number; readonly count: number } {
  const others = gone.filter((edit) => !runs.some((run) => run.from <= edit.from && edit.to <= run.to));
  const all = [...runs, ...others];
  // A run may pass over what a summary tells.
  const told = edits.filter((edit) => edit.pass === summaryPass && edit.kind === "drop");
  const passed = told.filter((edit) => runs.some((run) => run.from <= edit.from && edit.to <= run.to));
  const length = (ranges: readonly Range[]): number => ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return {
    from: Math.min(...all.map(({ from }) => from)),
    to: Math.max(...all.map(({ to }) => to)),
    count: length(all) - length(passed),
  };
}

type Range = Pick<Edit, "from" | "to">;

function plainDrops(
  view: View,
  dropped: ReadonlySet<ViewStep>,
  shared: Pick<Edit, "pass" | "reason">,
): readonly Edit[] {
  const sizes = [...dropped].toSorted((left, right) => left.from - right.from);
  let next = 0;
  return runsOf(view, dropped).map(({ from, to }): Edit => {
    let tokensBefore = 0;
    for (let size = sizes[next]; size && size.from <= to; size = sizes[++next]) {
      if (size.from >= from) tokensBefore += size.logTokens;
    }
    return { kind: "drop", from, to, ...shared, tokensBefore, tokensAfter: 0 };
  });
}
