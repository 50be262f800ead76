/** Sessions in Redis: a hash for each, and a sorted set of them for each tenant. */
import { WindrowError } from "../../errors.ts";
import { decodeMetadata, decodeState, parseDocument } from "../format/documents.ts";
import type { Holder } from "../shared/holder.ts";
import type { RemoteHolder } from "../shared/remote.ts";
import { formatVersion, inScope, isFinal } from "../shared/rules.ts";
import type { ListQuery, Scope, SessionInfo, SessionMetadata, SessionState } from "../store.ts";
import type { RedisPlace } from "./database.ts";

/** Sessions listed at once. */
const pageSize = 200;

const fields = ["metadata", "state", "generation", "head", "holder", "worker", "restoring", "kept"] as const;

/** A session as its hash has it. */
export interface SessionRow extends RemoteHolder {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly generation: number;
  /** The highest place that was given out. */
  readonly head: number;
  /** The mark of a restore that is under way. */
  readonly restoring: string | undefined;
  /** The mark by which it is kept, as JSON. */
  readonly kept: string | undefined;
  /** The texts that metadata.json and state.json of a file store have. */
  readonly texts: { readonly metadata: string; readonly state: string };
}

/**
 * A session, in any scope; undefined where there is none.
 *
 * @param key - of its hash
 * @throws WindrowError `store-corrupt` where it cannot be read
 */
export async function findRow(place: RedisPlace, key: string, id: string): Promise<SessionRow | undefined> {
  const values = (await place.sender.send("HMGET", key, ...fields)) as readonly (string | null)[];
  if (values[0] === null || values[0] === undefined) return undefined;
  const row = await readRow(place, id, values);
  if (row) return row;
  throw unreadable(id);
}

/** The sessions of a scope, newest creation first, page by page. */
export async function* listRows(place: RedisPlace, scope: Scope, query: ListQuery): AsyncGenerator<SessionRow> {
  const { sender, keys } = place;
  const set = keys.sessions(scope);
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let last: string | undefined;
  for (let from = 0; left > 0;) {
    // Sessions that were made meanwhile stand before those that were given.
    if (last !== undefined) from = Number((await sender.send("ZRANK", set, last)) ?? from - 1) + 1;
    const ids = (await sender.send("ZRANGE", set, from, from + pageSize - 1)) as readonly string[];
    const found = await Promise.all(ids.map((id) => rowOrFault(place, id)));
    for (const [index, row] of found.entries()) {
      const id = ids[index] ?? "";
      last = id;
      if (row instanceof WindrowError) query.unreadable?.(id, row);
      if (!row || row instanceof WindrowError || row.restoring !== undefined) continue;
      if (!inScope(scope, row.metadata)) continue;
      if (query.status !== undefined && row.state.status !== query.status) continue;
      yield row;
      if (--left <= 0) return;
    }
    if (ids.length < pageSize) return;
    from += ids.length;
  }
}

async function rowOrFault(place: RedisPlace, id: string): Promise<SessionRow | WindrowError | undefined> {
  try {
    return await findRow(place, place.keys.of(id).session, id);
  } catch (error) {
    if (error instanceof WindrowError && error.code === "store-corrupt") return error;
    throw error;
  }
}

/** How long a heartbeat is kept, in milliseconds; long after it says anything. */
const beatKeptMs = 86_400_000;

/** Says that a process lives, in its key. */
export function beat({ sender, keys, now }: RedisPlace): (id: string) => Promise<unknown> {
  return async (id) => sender.send("SET", keys.worker(id), await now(), "PX", beatKeptMs);
}

/** Takes the key of a process away. */
export function forgetBeat({ sender, keys }: RedisPlace): (id: string) => Promise<unknown> {
  return async (id) => sender.send("DEL", keys.worker(id));
}

/** A session for people. */
export function infoOf({ id, metadata, state }: SessionRow, location: string): SessionInfo {
  const readOnly = isFinal(state.status) || metadata.format > formatVersion;
  return { metadata, state, location: `${location}#${id}`, readOnly };
}

async function readRow(
  place: RedisPlace,
  id: string,
  values: readonly (string | null)[],
): Promise<SessionRow | undefined> {
  const [metadataText, stateText, generation, head, holderText, worker, restoring, kept] = values;
  const texts = { metadata: metadataText ?? "", state: stateText ?? "" };
  const metadata = decodeMetadata(parseDocument(texts.metadata), id);
  const state = decodeState(parseDocument(texts.state));
  if (!metadata || !state) return undefined;
  const holder = holderText ? (JSON.parse(holderText) as Holder) : undefined;
  const beat = holder && worker ? Number(await place.sender.send("GET", place.keys.worker(worker))) : 0;
  return {
    ...{ id, metadata, state, texts },
    generation: Number(generation),
    head: Number(head),
    holder: holder && { ...holder, ...(beat > 0 && { heartbeatAt: new Date(beat).toISOString() }) },
    silentMs: beat > 0 ? (await place.now()) - beat : Number.POSITIVE_INFINITY,
    restoring: restoring ?? undefined,
    kept: kept ?? undefined,
  };
}

function unreadable(id: string): WindrowError {
  const message = `The hash of session ${id} is unreadable, so it cannot be opened. Restore the session from a backup.`;
  return new WindrowError("store-corrupt", message, { id });
}
