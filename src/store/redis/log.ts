/** The lines of a session's logs in Redis: a stream for each log, whose ids are the numbers of the lines. */
import { logNames } from "../format/logs.ts";
import { SealHash, noCounts } from "../format/seal.ts";
import { addLine } from "../shared/session-log.ts";
import type { Counters } from "../shared/session-log.ts";
import { notFound } from "../shared/rules.ts";
import type { LogName, ReadQuery } from "../store.ts";
import type { Send } from "./client.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import type { SessionKeys } from "./keys.ts";
import { readScript } from "./scripts.ts";
import type { SessionRow } from "./session.ts";

/** Lines read at once: first, and at most; and the characters of a page, about. */
const firstPage = 32;
const longestPage = 1_024;
const pageCharacters = 1024 * 1024;

/** Sends the commands that read a log. */
interface LogSource {
  readonly sender: Pick<RedisPlace["sender"], "send">;
}

/** A line as it lies in its stream. */
export interface LogRow {
  readonly seq: number;
  readonly line: string;
}

/** The place of a log among the keys of a session, from 1. */
export function logNumber(log: LogName): number {
  return logNames.indexOf(log) + 1;
}

/** The key of a session's log. */
export function logKey({ logs }: SessionKeys, log: LogName): string {
  return logs[logNumber(log) - 1] ?? "";
}

/** The last numbers of a session, as its lines have them. */
export async function readCounters({ sender }: LogSource, keys: SessionKeys): Promise<Counters> {
  const counters: Counters = { seqs: noCounts(), pos: 0 };
  const newest = await Promise.all(
    logNames.map(async (log) => entriesOf(await sender.send("XREVRANGE", logKey(keys, log), "+", "-", "COUNT", 1))),
  );
  for (const [index, log] of logNames.entries()) {
    const [last] = newest[index] ?? [];
    if (!last) continue;
    counters.seqs[log] = last.seq;
    counters.pos = Math.max(counters.pos, Number(/"pos":(\d{1,15})/.exec(last.line)?.[1] ?? 0));
  }
  return counters;
}

/** The hash over all lines of a session that nobody writes to meanwhile. */
export async function hashOfSession(place: RedisPlace, keys: SessionKeys): Promise<string> {
  const hash = new SealHash();
  for (const log of logNames) {
    for await (const { line } of rowsOf(place, logKey(keys, log))) addLine(hash, log, line);
  }
  return hash.digest();
}

/** A session that is read, as its hash was when the reading began. */
type Reading = Pick<SessionRow, "id" | "hash">;

/**
 * As {@link rowsOf}, of a session that is there when each page is read: what is left of one that went is not all of it.
 *
 * @throws WindrowError `session-not-found` where it went, or was made anew under its id
 */
export function rowsIn(
  place: RedisPlace,
  reading: Reading,
  log: LogName,
  query: Omit<ReadQuery, "kind"> = {},
): AsyncGenerator<LogRow> {
  return rowsOf(sourceOf(place, reading), logKey(place.keys.of(reading.id), log), query);
}

/** As {@link readCounters}, of a session that is there; `session-not-found` as {@link rowsIn}. */
export async function countersIn(place: RedisPlace, reading: Reading): Promise<Counters> {
  return readCounters(sourceOf(place, reading), place.keys.of(reading.id));
}

/** The commands that read a log, each of which finds the session there. */
function sourceOf(place: RedisPlace, { id, hash }: Reading): LogSource {
  const keys = place.keys.of(id);
  const send: Send = async (command, key, ...values) => {
    const reply = await run(place, readScript, [keys.session, String(key)], [hash.made ?? "", command, ...values]);
    if (reply === null) throw notFound(id);
    return reply;
  };
  return { sender: { send } };
}

/** The rows a query asks for, oldest first. A reader stops at what was the newest when it began. */
export async function* rowsOf(
  { sender }: LogSource,
  key: string,
  query: Omit<ReadQuery, "kind"> = {},
): AsyncGenerator<LogRow> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, last, limit = Number.POSITIVE_INFINITY } = query;
  if (last === 0 || limit === 0 || to < from) return;
  const newest = entriesOf(await sender.send("XREVRANGE", key, to, from, "COUNT", Math.min(last ?? 1, longestPage)));
  if (last !== undefined && last <= longestPage) {
    yield* newest.toReversed();
    return;
  }
  const end = newest[0]?.id;
  if (end === undefined) return;
  const first = last === undefined ? `${from}` : await idFromEnd({ sender }, key, { from, end, last });
  let left = limit;
  let start = first;
  for (let size = firstPage; left > 0;) {
    const asked = Math.min(size, left);
    const page = entriesOf(await sender.send("XRANGE", key, start, end, "COUNT", asked));
    let characters = 0;
    for (const entry of page) {
      characters += entry.line.length;
      yield entry;
    }
    const lastId = page.at(-1)?.id;
    if (page.length < asked || lastId === undefined) return;
    start = `(${lastId}`;
    left -= page.length;
    size = Math.max(1, Math.min(longestPage, Math.floor((pageCharacters * page.length) / Math.max(1, characters))));
  }
}

/** The id of the n-th line from the end. */
async function idFromEnd(
  { sender }: LogSource,
  key: string,
  { from, end, last }: { readonly from: number; readonly end: string; readonly last: number },
): Promise<string> {
  let [at, left] = [end, last];
  let begin = end;
  while (left > 0) {
    const page = entriesOf(await sender.send("XREVRANGE", key, at, from, "COUNT", Math.min(left, longestPage)));
    begin = page.at(-1)?.id ?? begin;
    left -= page.length;
    if (page.length < longestPage) break;
    at = `(${begin}`;
  }
  return begin;
}

function entriesOf(reply: unknown): readonly (LogRow & { readonly id: string })[] {
  return (reply as readonly (readonly [string, readonly string[]])[]).map(([id, values]) => ({
    id,
    seq: Number(id.slice(0, id.indexOf("-"))),
    line: values[1] ?? "",
  }));
}
