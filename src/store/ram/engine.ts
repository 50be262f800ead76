/** An engine in memory. It ends with its process. */
import type { Documents, Engine, Head, HeadsQuery, NewHead, Page, PageQuery, PlacedLine, Step } from "../engine.ts";
import type { Listing } from "../engine.ts";
import { noCounts } from "../format/seal.ts";
import { logNames } from "../format/logs.ts";
import type { LogName } from "../store.ts";

type RamLine = PlacedLine & { readonly pos: number };

interface Row extends Head {
  readonly logs: Map<LogName, RamLine[]>;
}

/** Makes an engine in memory, empty. */
export function ramEngine(): Engine {
  const rows = new Map<string, Row>();

  function changed(row: Row, step: Step): Row {
    const revision = row.revision + 1;
    const logs = step.isEmptied ? new Map<LogName, RamLine[]>() : row.logs;
    for (const { log, seq, pos, line } of step.lines ?? []) {
      const lines = logs.get(log) ?? [];
      lines.push({ seq, pos, line, row: lines.length });
      logs.set(log, lines);
      if (seq < (lines.at(-2)?.seq ?? 0)) logs.set(log, ordered(lines));
    }
    return {
      ...row,
      ...{ revision, logs, origin: step.isEmptied ? revision : row.origin },
      documents: { ...row.documents, ...step.documents },
      listing: step.listing ?? row.listing,
      ...(step.holder !== undefined && { holder: step.holder ?? undefined }),
      generation: step.holder?.generation ?? row.generation,
    };
  }

  return {
    name: "ram",
    survives: "nothing",
    isShared: false,
    locationOf: (id) => `ram:${id}`,
    check: () => undefined,
    async make({ id, documents, listing, revision, holder }: NewHead) {
      if (rows.has(id)) return undefined;
      const head = { id, documents, listing, holder, revision, made: revision, origin: revision, generation: 1 };
      rows.set(id, { ...head, silentMs: 0, logs: new Map() });
      return revision;
    },
    head: async (id) => rows.get(id),
    async heads({ scope, status, isHidden, asideOf, after, most }: HeadsQuery) {
      const found = [...rows.values()].filter(
        ({ listing }) =>
          (isHidden === undefined || listing.isHidden === isHidden) &&
          (asideOf === undefined || listing.asideOf === asideOf) &&
          (status === undefined || listing.status === status) &&
          (!scope || isOf(scope, listing)),
      );
      found.sort(byCreation);
      const start = after ? found.findIndex(({ id, listing }) => byCreation({ id, listing }, keyOf(after)) > 0) : 0;
      return start < 0 ? [] : found.slice(start, start + most);
    },
    async numbers(id) {
      const counters = { seqs: noCounts(), pos: 0 };
      for (const log of logNames) {
        for (const { seq, pos } of rows.get(id)?.logs.get(log) ?? []) {
          counters.seqs[log] = Math.max(counters.seqs[log], seq);
          counters.pos = Math.max(counters.pos, pos);
        }
      }
      return counters;
    },
    async page(id, log, query): Promise<Page> {
      const row = rows.get(id);
      if (!row || row.listing.isHidden) return { origin: undefined, newest: 0, lines: [] };
      const lines = row.logs.get(log) ?? [];
      return { origin: row.origin, newest: lines.at(-1)?.seq ?? 0, lines: pageOf(lines, query) };
    },
    async size(id) {
      const row = rows.get(id);
      const texts = row ? Object.values<string>(row.documents as Documents & Record<string, string>) : [];
      for (const log of row?.logs.values() ?? []) for (const { line } of log) texts.push(line);
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      return { count: texts.length, bytes };
    },
    async commit(steps) {
      return steps.map((step) => {
        const row = rows.get(step.id);
        if (row?.revision !== step.at) return false;
        const to = step.to ?? step.id;
        if (to !== step.id) rows.delete(step.id);
        rows.set(to, { ...changed(row, step), id: to });
        return true;
      });
    },
    async remove(id, at) {
      return rows.get(id)?.revision === at && rows.delete(id);
    },
    beat: async () => undefined,
    async close() {
      rows.clear();
    },
  };
}

/** Lines in the order of their numbers, as those of a restored session may not come. */
function ordered(lines: readonly RamLine[]): RamLine[] {
  return lines.toSorted((one, other) => one.seq - other.seq).map((line, row) => ({ ...line, row }));
}

/** The lines of a page; those of a log lie in the order of their numbers. */
function pageOf(lines: readonly PlacedLine[], { from, to, last, after, most }: PageQuery): readonly PlacedLine[] {
  const end = firstAbove(lines, to);
  const begin = Math.max(firstAbove(lines, from - 1), last === undefined ? 0 : end - last);
  const start = after ? after.row + 1 : begin;
  return lines.slice(start, Math.min(end, start + most));
}

/** The place of the first line with a higher number. */
function firstAbove(lines: readonly PlacedLine[], seq: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isOf(scope: NonNullable<HeadsQuery["scope"]>, { tenant, user }: Listing): boolean {
  return scope.tenant === tenant && (scope.user === undefined || scope.user === user);
}

type Keyed = { readonly id: string; readonly listing: Pick<Listing, "createdMs"> };

function keyOf({ id, createdMs }: NonNullable<HeadsQuery["after"]>): Keyed {
  return { id, listing: { createdMs } };
}

function byCreation(one: Keyed, other: Keyed): number {
  return other.listing.createdMs - one.listing.createdMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}
