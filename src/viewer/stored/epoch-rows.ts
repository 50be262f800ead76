/** The epochs of a session as rows, each with the fates of its messages. */
import { Turns } from "../../turns.ts";
import { EpochReader } from "../../window/epoch/reader.ts";
import type { EpochRow, FateRun } from "../viewer.ts";
import type { EpochIndex, EpochLine, Place } from "./epoch-index.ts";
import { fatesOf } from "./fates.ts";
import type { UsageIndex } from "./usage-index.ts";

/** Runs of fates in all rows together; above it, short runs are told with what stands beside them. */
const mostRuns = 60_000;

/** The rows without fates: nothing is read for them but what the index has. */
export function epochFigures({ lines }: EpochIndex, usage: UsageIndex): readonly EpochRow[] {
  const rows = new Map<number, EpochRow>();
  for (const line of lines) put(rows, rowOf(line, [], usage.firstCall(line.epoch)));
  return [...rows.values()];
}

/** Adds a row. Of several lines of an epoch the newest has its window, and the first says why it opened. */
function put(rows: Map<number, EpochRow>, row: EpochRow): void {
  const known = rows.get(row.epoch);
  rows.set(row.epoch, known ? { ...row, reason: known.reason, tokensBefore: known.tokensBefore } : row);
}

/**
 * Reads `edits.jsonl` once. A row for each epoch's number: where it has several lines, as after other tools, the newest
 * has its window.
 */
export async function epochRows(place: Place, epochs: EpochIndex, usage: UsageIndex): Promise<readonly EpochRow[]> {
  const rows = new Map<number, EpochRow>();
  const lines = new Map(epochs.lines.map((line) => [line.seq, line]));
  const query = { kind: "edit", to: epochs.read } as const;
  const turns = new Turns();
  const reader = new EpochReader(place.store, place.scope, place.id);
  for await (const { seq, type, data } of place.store.read(place.scope, place.id, query)) {
    await turns.turn();
    const line = type === "epoch" ? lines.get(seq) : undefined;
    if (!line) continue;
    const state = (await reader.epoch({ seq, data }))?.state;
    put(rows, rowOf(line, fatesOf(state ?? { edits: [] }, line.opened), usage.firstCall(line.epoch)));
  }
  return thinned([...rows.values()]);
}

function rowOf(line: EpochLine, fates: readonly FateRun[], firstCall: number | null): EpochRow {
  const { epoch, reason, timestamp, opened, tokensBefore, tokensAfter, budget, changed } = line;
  const row = { epoch, reason, timestamp, opened, tokensBefore, tokensAfter, budget, firstCall, fates };
  return changed ? { ...row, changed } : row;
}

/** The rows with as few runs as one answer may have: a picture of so many epochs shows no single message. */
function thinned(rows: readonly EpochRow[]): readonly EpochRow[] {
  const total = rows.reduce((sum, { fates }) => sum + fates.length, 0);
  if (total <= mostRuns) return rows;
  const most = Math.max(16, Math.floor(mostRuns / rows.length));
  return rows.map((row) => ({ ...row, fates: coarse(row.fates, row.opened, most) }));
}

/** At most `most` runs: in each stretch the fate that most of its messages have. */
function coarse(fates: readonly FateRun[], last: number, most: number): readonly FateRun[] {
  if (fates.length <= most) return fates;
  const stretch = Math.ceil(last / most);
  const found: FateRun[] = [];
  let next = 0;
  for (let from = 1; from <= last; from += stretch) {
    const to = Math.min(last, from + stretch - 1);
    let longest: FateRun | undefined;
    let length = 0;
    while ((fates[next]?.to ?? Infinity) < from) next++;
    for (let at = next; (fates[at]?.from ?? Infinity) <= to; at++) {
      const run = fates[at] as FateRun;
      const shared = Math.min(run.to, to) - Math.max(run.from, from) + 1;
      if (shared > length) [longest, length] = [run, shared];
    }
    if (longest) {
      const { fate, pass, reason } = longest;
      found.push({ from, to, fate, pass, reason });
    }
  }
  return found;
}
