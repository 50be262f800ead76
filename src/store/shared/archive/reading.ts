/** Reading a session whose records move between a store and an archive meanwhile. */
import { isDeepStrictEqual } from "node:util";
import type { RecordKind, StoredRecordOf } from "../../../message/record.ts";
import type { ReadQuery } from "../../store.ts";
import { notFound } from "../rules.ts";
import { recordOf } from "../session-log.ts";
import type { FetchedSession } from "./objects.ts";

/** The items that a reader was given so far. */
export interface Given<T> {
  readonly count: number;
  readonly last?: T;
}

/** The places that may have the items of a session, with how many of them were given before. */
export interface Source<T> {
  readonly again: number;
  readonly lies: () => AsyncIterable<T>;
  readonly archived: (object: FetchedSession) => Iterable<T>;
}

/** Items behind those that were given before, of which the last is known. */
export async function* behind<T>(
  id: string,
  items: AsyncIterable<T> | Iterable<T>,
  again: number,
  last: T | undefined,
): AsyncGenerator<T> {
  let seen = 0;
  for await (const item of items) {
    seen += 1;
    if (seen > again) yield item;
    else if (seen === again && !isDeepStrictEqual(item, last)) throw notFound(id);
  }
  if (seen < again) throw notFound(id);
}

/** The query for what a reader was not given yet, and the last that it was given. */
export function leftOf<K extends RecordKind>(
  query: ReadQuery<K>,
  { count, last }: Given<StoredRecordOf<K>>,
): { readonly asked: ReadQuery<K>; readonly again: number } {
  if (!last) return { asked: query, again: 0 };
  const { last: _, limit, ...others } = query;
  return { asked: { ...others, from: last.seq, ...(limit !== undefined && { limit: limit - count + 1 }) }, again: 1 };
}

/** The records that a query asks for. */
export function recordsOf<K extends RecordKind>(
  lines: readonly string[],
  { kind, from = 0, to = Infinity, last, limit }: ReadQuery<K>,
): readonly StoredRecordOf<K>[] {
  const asked: StoredRecordOf<K>[] = [];
  for (const line of lines) {
    const record = recordOf(kind, line);
    if (record && record.seq >= from && record.seq <= to) asked.push(record as StoredRecordOf<K>);
  }
  return last === undefined ? asked.slice(0, limit) : asked.slice(Math.max(0, asked.length - last));
}
