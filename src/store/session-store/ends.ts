/**
 * The ends of a session's logs, read in the moment in which a process takes the session: who goes on with it reads them
 * without asking again, until it writes.
 */
import { kindLogs, logNames } from "../format/logs.ts";
import type { EndPart, PlacedLine, Look } from "../engine.ts";
import { recordOf } from "../shared/session-log.ts";
import type { LogName, ReadQuery } from "../store.ts";

/** What is read: the newest lines of most logs, and the first messages, which hold the goal. */
export const endParts: readonly EndPart[] = [
  { log: "messages", lines: 4, bytes: 16 * 1024, isFirst: true },
  { log: "messages", lines: 512, bytes: 256 * 1024 },
  { log: "usage", lines: 256, bytes: 64 * 1024 },
  { log: "snapshot", lines: 1, bytes: 256 * 1024 },
  { log: "edits", lines: 128, bytes: 1024 * 1024, until: "epoch" },
];

/** Every line of a log whose number lies in a range. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Oldest first. */
  readonly lines: readonly PlacedLine[];
}

/** The lines that a query asks for, and the range that has to be asked for before them. */
export interface KnownLines {
  readonly before: { readonly from: number; readonly to: number } | undefined;
  /** Oldest first, and newer than all of `before`. */
  readonly lines: readonly PlacedLine[];
}

/** The ends of the logs of one session. */
export class LogEnds {
  readonly #numbers: Look["numbers"];
  readonly #spans = new Map<LogName, Span[]>(logNames.map((log) => [log, []]));

  constructor({ numbers, ends }: Look) {
    this.#numbers = numbers;
    for (const log of logNames) {
      if (numbers.seqs[log] === 0) this.#spans.get(log)!.push({ from: 0, to: Infinity, lines: [] });
    }
    for (const [index, { log, isFirst }] of endParts.entries()) {
      const span = spanOf(ends[index] ?? [], isFirst === true);
      if (span) this.#spans.get(log)!.push(span);
    }
  }

  /** The lines that a query asks for; undefined where they have to be asked for. */
  known<K extends ReadQuery["kind"]>(query: ReadQuery<K>): KnownLines | undefined {
    const log = kindLogs[query.kind];
    const spans = this.#spans.get(log)!;
    const { from = 0, to = Infinity, last, limit } = query;
    const within = ({ seq }: PlacedLine): boolean => seq >= from && seq <= to;
    const newest = (lines: readonly PlacedLine[], most: number) => lines.slice(Math.max(0, lines.length - most));
    const isWhole = (span: Span) => span.from <= Math.max(1, from) && Math.min(to, this.#numbers.seqs[log]) <= span.to;
    const whole = spans.find(isWhole)?.lines.filter(within);
    if (whole) return { before: undefined, lines: last === undefined ? whole.slice(0, limit) : newest(whole, last) };
    const end = spans.find((span) => span.to === Infinity);
    if (!end) return undefined;
    const lines = end.lines.filter(within);
    if (last !== undefined) {
      return isEnough(lines, query, last) ? { before: undefined, lines: newest(lines, last) } : undefined;
    }
    return limit === undefined ? { before: { from, to: Math.min(to, end.from - 1) }, lines } : undefined;
  }
}

/** Whether the newest lines are all that a query for the newest ones needs. */
function isEnough<K extends ReadQuery["kind"]>(
  lines: readonly PlacedLine[],
  query: ReadQuery<K>,
  last: number,
): boolean {
  if (lines.length >= last) return true;
  return lines.some(({ line }) => {
    const record = recordOf(query.kind, line);
    return record !== undefined && query.enough?.(record) === true;
  });
}

/** The range of numbers that lines are all of; undefined for none. A number of which a line is missing is left out. */
function spanOf(lines: readonly EndLine[], isFirst: boolean): Span | undefined {
  const [oldest, newest] = [lines[0], lines.at(-1)];
  if (!oldest || !newest) return undefined;
  // More lines may have the last number.
  const to = isFirst ? newest.seq - 1 : Infinity;
  const from = isFirst ? 0 : oldest.seq + (oldest.isCut ? 1 : 0);
  const whole = lines.filter(({ seq }) => seq >= from && seq <= to);
  return whole.length === 0 ? undefined : { from, to, lines: whole };
}

type EndLine = Look["ends"][number][number];
