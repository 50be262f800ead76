/** Dropping: whole steps leave the window, with or without a labelled message that says how much left and how to get it back. */
import { isRange, summaryPass } from "../edits.ts";
import { noteText } from "../stub/stub.ts";
import type { Edit, Pass, PassContext, View, ViewStep } from "../window.ts";

/** A pass by which whole steps leave. */
export interface Dropping {
  readonly name: string;
  /** For people: why the steps left. */
  readonly reason: string;
  /** Whether a labelled message stands for what left; it takes in the earlier ones. */
  readonly note: boolean;
  /** Whether labelled messages of other passes leave only after all other steps, and summaries stay. Default: all are taken in. */
  readonly keepNotes?: boolean;
  /** Whether all steps of `order` leave at once. Default: no more than it takes to meet the target. */
  readonly all?: boolean;
  /** The steps that may leave, the first to leave first. Protected steps among them stay. */
  readonly order: (view: View, context: PassContext) => readonly ViewStep[];
}

/** A pass that drops the steps of an order; its message becomes part of the next one. */
export function dropping(options: Dropping): Pass {
  const { name, note, keepNotes = false, all = false, order } = options;
  const isMerged = (step: ViewStep): boolean =>
    note && step.kind === "note" && (!keepNotes || step.edit?.pass === name);
  const stays = (step: ViewStep): boolean =>
    step.protected || isMerged(step) || (keepNotes && step.edit?.pass === summaryPass);
  return {
    name,
    plan(view, context) {
      if (!all && view.tokens <= context.target) return [];
      const merged = view.steps.filter(isMerged);
      const standing = sum(merged, ({ tokens }) => tokens);
      const free = order(view, context).filter((step) => !stays(step));
      const ordered = [...free.filter(({ kind }) => kind !== "note"), ...free.filter(({ kind }) => kind === "note")];
      const attempt = (reserve: number): readonly Edit[] => {
        const dropped = new Set<ViewStep>();
        let left = view.tokens - standing;
        for (const step of ordered) {
          if (left <= context.target - reserve) break;
          dropped.add(step);
          left -= step.tokens;
        }
        if (dropped.size === 0) return [];
        return note
          ? notedEdits(view, new Set([...dropped, ...merged]), context, options)
          : leavingEdits(view, dropped, options);
      };
      if (all) return attempt(Infinity);
      if (!note) return attempt(0);
      // An earlier message stays until a step is dropped. The size of the new one is known when the steps are chosen.
      let edits = attempt(Math.max(standing, 1));
      for (let tries = 0; tries < 4; tries++) {
        const reserve = noteTokens(edits);
        const next = attempt(reserve);
        if (next.length === 0) break;
        edits = next;
        if (noteTokens(next) <= reserve) break;
      }
      return edits;
    },
  };
}

/** The edits for steps that leave, with a message that says how much left. */
function notedEdits(
  view: View,
  leaving: ReadonlySet<ViewStep>,
  { counter, edits = [], sessionName }: PassContext,
  options: Dropping,
): readonly Edit[] {
  const isNoted = [...leaving].some(({ edit }) => edit?.pass === options.name);
  const gone = isNoted ? edits.filter((edit) => isRange(edit) && edit.pass === options.name) : [];
  const named = namedBy(runsOf(view, leaving), gone, edits);
  const text = noteText({ ...named, tokens: sum(leaving, ({ logTokens }) => logTokens), sessionName });
  return leavingEdits(view, leaving, options, { text, tokensAfter: counter.count(text) + 4 });
}

/** The messages that a note names: those of its runs, and those that an earlier one named and no step shows. */
function namedBy(
  runs: readonly Range[],
  gone: readonly Range[],
  edits: readonly Edit[],
): Range & { readonly count: number } {
  const isInside = (edit: Edit | Range): boolean => runs.some(({ from, to }) => from <= edit.from && edit.to <= to);
  const all = [...runs, ...gone.filter((edit) => !isInside(edit))];
  // A run may pass over what a summary tells.
  const told = edits.filter((edit) => edit.pass === summaryPass && edit.kind === "drop" && isInside(edit));
  const length = (ranges: readonly Range[]): number => sum(ranges, ({ from, to }) => to - from + 1);
  return {
    from: Math.min(...all.map(({ from }) => from)),
    to: Math.max(...all.map(({ to }) => to)),
    count: length(all) - length(told),
  };
}

/**
 * The edits for steps that leave: a drop of each run of them, or a labelled message in the place of the first run, which
 * stands for them all.
 */
export function leavingEdits(
  view: View,
  leaving: ReadonlySet<ViewStep>,
  { name, reason }: Pick<Dropping, "name" | "reason">,
  note?: Pick<Edit, "text" | "role" | "stubs" | "tokensAfter">,
): readonly Edit[] {
  const sorted = [...leaving].sort((left, right) => left.from - right.from);
  let next = 0;
  return runsOf(view, leaving).map((run, index): Edit => {
    let tokensBefore = 0;
    for (let step = sorted[next]; step && (note || step.from <= run.to); step = sorted[++next])
      tokensBefore += step.logTokens;
    const shared = { ...run, pass: name, reason, tokensBefore };
    return note && index === 0 ? { kind: "replace", ...shared, ...note } : { kind: "drop", ...shared, tokensAfter: 0 };
  });
}

/** A range of the log. */
export type Range = Pick<Edit, "from" | "to">;

/** The ranges of the log that dropped steps cover, parted only by messages that stay. */
export function runsOf(view: View, dropped: ReadonlySet<ViewStep>): readonly Range[] {
  let from = Infinity;
  let to = 0;
  for (const step of dropped) {
    from = Math.min(from, step.from);
    to = Math.max(to, step.to);
  }
  const kept: Range[] = [];
  for (const step of view.steps) {
    if (dropped.has(step)) continue;
    // A labelled message covers all of its range, a step only its own messages.
    if (step.kind === "note") kept.push(step);
    else for (const { seq } of step.messages) kept.push({ from: seq, to: seq });
  }
  const within = kept.filter((one) => one.to >= from && one.from <= to).sort((left, right) => left.from - right.from);
  const runs: Range[] = [];
  let start = from;
  for (const one of [...within, { from: to + 1, to: to + 1 }]) {
    if (one.from > start) runs.push({ from: start, to: one.from - 1 });
    start = Math.max(start, one.to + 1);
  }
  return runs;
}

function noteTokens(edits: readonly Edit[]): number {
  return sum(edits, ({ tokensAfter }) => tokensAfter);
}

function sum<Item>(items: Iterable<Item>, sizeOf: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += sizeOf(item);
  return total;
}

/** Options of {@link dropOldest}. */
export interface DropOldestOptions extends Partial<Pick<Dropping, "keepNotes" | "reason">> {
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
}

/** Drops the oldest unprotected steps until the rest meets the target. */
export function dropOldest({
  note = true,
  keepNotes = false,
  reason = "the oldest steps left to make room",
}: DropOldestOptions = {}): Pass {
  return dropping({ name: "drop-oldest", reason, note, keepNotes, order: ({ steps }) => steps });
}

/** Options of {@link keepRecent}. */
export interface KeepRecentOptions {
  /** Number of newest messages to keep; a step stays whole where a part of it is kept. */
  readonly messages: number;
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
}

/** Drops the oldest steps until the rest meets the target, but none of the newest messages, and no protected step. */
export function keepRecent({ messages, note = true }: KeepRecentOptions): Pass {
  return dropping({
    name: "keep-recent",
    reason: "older than what is always kept",
    note,
    keepNotes: true,
    order(view) {
      const kept = recentSteps(view.steps, messages);
      return view.steps.filter((step) => !kept.has(step) && step.kind !== "note");
    },
  });
}

/** The steps of so many newest messages; labelled messages are none of them. */
export function recentSteps(steps: readonly ViewStep[], messages: number): ReadonlySet<ViewStep> {
  const kept = new Set<ViewStep>();
  let seen = 0;
  for (const step of steps.toReversed()) {
    if (step.kind === "note") continue;
    if (seen < messages) kept.add(step);
    seen += step.messages.length;
  }
  return kept;
}
