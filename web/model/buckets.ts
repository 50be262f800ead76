/** Calls as columns of a chart: where there are more calls than columns, each shows its largest and its coldest. */
import type { CallBlocks, CallRow } from "../../src/viewer/viewer.ts";

/** The blocks of a request, from the bottom of a column to its top. */
export const blockOrder = ["system", "tools", "pinned", "digest", "stubs", "history", "rest"] as const;

/** The name of a block of a request. */
export type BlockName = (typeof blockOrder)[number];

/** The words for the blocks. */
export const blockWords: Readonly<Record<BlockName, string>> = {
  system: "system prompt",
  tools: "tool definitions",
  pinned: "pinned",
  digest: "digest and notes",
  stubs: "cut to excerpts",
  history: "messages",
  rest: "not on record",
};

/** A column of the chart. */
export interface Column {
  /** The first and last call in it. */
  readonly from: number;
  readonly to: number;
  /** The call that it shows: its largest. */
  readonly shown: CallRow;
  /** The call that its cache row shows: the one of which the cache read the smallest share. */
  readonly coldest: CallRow;
}

/** The tokens of a call as far as they are known: the window's, else those that the provider reported. */
export function callTokens({ tokens, usage }: CallRow): number {
  return tokens ?? usage?.input ?? 0;
}

/** The blocks of a call; all of an unrecorded window is not on record. */
export function callBlocks(call: CallRow): CallBlocks {
  const none = { system: 0, tools: 0, pinned: 0, digest: 0, stubs: 0, history: 0 };
  return call.blocks ?? { ...none, rest: callTokens(call) };
}

/** At most `most` columns over the calls. */
export function columnsOf(calls: readonly CallRow[], most: number): readonly Column[] {
  const size = Math.max(1, Math.ceil(calls.length / Math.max(1, most)));
  const columns: Column[] = [];
  for (let at = 0; at < calls.length; at += size) {
    const end = Math.min(calls.length, at + size);
    let shown = calls[at]!;
    let coldest = shown;
    for (let next = at + 1; next < end; next++) {
      const call = calls[next]!;
      if (callTokens(call) > callTokens(shown)) shown = call;
      if (readShare(call) < readShare(coldest)) coldest = call;
    }
    columns.push({ from: calls[at]!.call, to: calls[end - 1]!.call, shown, coldest });
  }
  return columns;
}

/** The parts of a request by what the cache did with them, of what the provider reported; undefined where it reported nothing. */
export function cacheParts({
  usage,
}: CallRow): { readonly read: number; readonly written: number; readonly fresh: number } | undefined {
  if (usage?.input === undefined) return undefined;
  const read = usage.cacheRead ?? 0;
  const written = usage.cacheWrite ?? 0;
  return { read, written, fresh: Math.max(0, usage.input - read - written) };
}

/** The share that the cache read; above all shares where nothing was reported. */
function readShare(call: CallRow): number {
  const parts = cacheParts(call);
  const whole = parts ? parts.read + parts.written + parts.fresh : 0;
  return parts && whole > 0 ? parts.read / whole : 2;
}

/** A round number at or above a largest value, for the top of an axis. */
export function axisTop(largest: number): number {
  if (largest <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(largest));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= largest);
  return (step ?? 10) * unit;
}
