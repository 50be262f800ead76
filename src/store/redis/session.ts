/** Sessions in Redis: a hash for each, and a sorted set of them for each tenant. */
import { WindrowError } from "../../errors.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, parseDocument } from "../format/documents.ts";
import type { Holder, Taker } from "../shared/holder.ts";
import type { RemoteHolder } from "../shared/remote.ts";
import { formatVersion, haveOneOwner, inScope, isFinal, ownerOf } from "../shared/rules.ts";
import type { ListQuery, Scope, SessionInfo, SessionMetadata, SessionState } from "../store.ts";
import { run } from "./database.ts";
import type { Sender } from "./client.ts";
import type { RedisPlace } from "./database.ts";
import { ownerIn } from "./owner.ts";
import { beatScript, createScript, endScript, letGoScript, takeScript } from "./scripts.ts";

/** Sessions listed at once. */
const pageSize = 200;

const fields = [
  ...(["metadata", "state", "status", "generation", "head", "revision", "holder", "worker", "taking"] as const),
  ...(["made", "owner", "restoring", "kept", "marks"] as const),
] as const;

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
  /** Its hash, as texts. */
  readonly hash: SessionHash;
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
  const hash = await readHash(place, key);
  if (hash.metadata === undefined && hash.state === undefined) return undefined;
  const row = await readRow(place, id, hash);
  if (row) return row;
  throw unreadable(id);
}

/** The fields of a session's hash, as texts. */
export type SessionHash = Readonly<Partial<Record<(typeof fields)[number], string>>>;

/** The hash of a session; without fields where there is none. */
export async function readHash({ sender }: RedisPlace, key: string): Promise<SessionHash> {
  const values = (await sender.send("HMGET", key, ...fields)) as readonly (string | null)[];
  return Object.fromEntries(fields.flatMap((name, at) => (typeof values[at] === "string" ? [[name, values[at]]] : [])));
}

/** The hash of a session, wherever it lies; what was written of it is there also where others went on with it. */
export async function hashAnywhere(place: RedisPlace, id: string): Promise<SessionHash> {
  const found = await readHash(place, place.keys.of(id).session);
  return found.metadata === undefined ? readHash(place, place.keys.inTrash(id).session) : found;
}

/** The holder that a hash names, and when it was heard last. */
export async function holderOf(place: RedisPlace, { holder: text, worker }: SessionHash): Promise<RemoteHolder> {
  const holder = text === undefined ? undefined : (parseDocument(text) as unknown as Holder | undefined);
  const beat = holder && worker ? Number(await place.sender.send("GET", place.keys.worker(worker))) : 0;
  return {
    holder: holder && { ...holder, ...(beat > 0 && { heartbeatAt: new Date(beat).toISOString() }) },
    silentMs: beat > 0 ? (await place.now()) - beat : Number.POSITIVE_INFINITY,
    worker,
  };
}

/** The sessions of a scope, newest creation first, page by page. */
export async function* listRows(place: RedisPlace, scope: Scope, query: ListQuery): AsyncGenerator<SessionRow> {
  const { sender, keys } = place;
  const set = keys.sessions(scope);
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let last: Listed = { id: "", score: "-inf" };
  for (let size = pageSize; left > 0;) {
    // By place, not by rank: sessions come and go before the one that was given last.
    const page = await listedFrom(sender, set, last.score, size);
    const ids = page.filter(({ id, score }) => score !== last.score || id > last.id).map(({ id }) => id);
    const isLast = page.length < size;
    // More sessions than a page has were made in one millisecond: a larger page begins where this one did.
    if (ids.length === 0) size *= 2;
    else [size, last] = [pageSize, page.at(-1) ?? last];
    const found = await Promise.all(ids.map((id) => rowOrFault(place, scope, id)));
    for (const [index, row] of found.entries()) {
      const id = ids[index] ?? "";
      if (row instanceof WindrowError) query.unreadable?.(id, row);
      if (!row || row instanceof WindrowError || row.restoring !== undefined) continue;
      if (!inScope(scope, row.metadata)) continue;
      if (query.status !== undefined && row.state.status !== query.status) continue;
      yield row;
      if (--left <= 0) return;
    }
    if (isLast) return;
  }
}

/** A session in a list: its id, and minus the milliseconds of its creation. */
interface Listed {
  readonly id: string;
  readonly score: string;
}

async function listedFrom(sender: Sender, set: string, from: string, size: number): Promise<readonly Listed[]> {
  // A client answers with pairs, or with ids and scores in turn.
  const reply = (await sender.send("ZRANGEBYSCORE", set, from, "+inf", "WITHSCORES", "LIMIT", 0, size)) as unknown[];
  const texts = reply.flat().map(String);
  return texts.flatMap((id, at) => (at % 2 === 0 ? [{ id, score: texts[at + 1] ?? "" }] : []));
}

/** A session of a list; an error where it cannot be read and may be the scope's; undefined where it is gone. */
async function rowOrFault(place: RedisPlace, scope: Scope, id: string): Promise<SessionRow | WindrowError | undefined> {
  const hash = await readHash(place, place.keys.of(id).session);
  if (hash.metadata === undefined && hash.state === undefined) return undefined;
  const row = await readRow(place, id, hash);
  if (row) return row;
  const owner = ownerIn(hash);
  const isSeen = owner ? inScope(scope, owner) : scope.user === undefined;
  return isSeen ? unreadable(id) : undefined;
}

/** How long a heartbeat is kept, in milliseconds; long after it says anything. */
const beatKeptMs = 86_400_000;

/** Says that a process lives, in its key. */
export function beat({ sender, keys, now }: RedisPlace): (id: string) => Promise<unknown> {
  return async (id) => run({ sender }, beatScript, [keys.worker(id)], [await now(), beatKeptMs]);
}

/** Takes the key of a process away. */
export function forgetBeat({ sender, keys }: RedisPlace): (id: string) => Promise<unknown> {
  return async (id) => sender.send("DEL", keys.worker(id));
}

/** The process that is to have a session, and the name of its heartbeat. */
export interface RowHolder {
  readonly holder: Taker;
  readonly worker: string;
}

/** Makes a session that its process holds; false where there is one. */
export async function insertRow(
  place: RedisPlace,
  { metadata, state, holder, worker }: RowHolder & Pick<SessionRow, "metadata" | "state">,
): Promise<boolean> {
  const made = {
    ...{ metadata: encodeMetadata(metadata), state: encodeState(state), status: state.status },
    ...{ generation: 1, head: 0 },
  };
  return makeHash(place, metadata, { holder, worker }, made);
}

/** Looks at what lies in the trash under an id; more are needed only where it changes each time, or is no text. */
const mostLooks = 16;

function damagedInTrash(id: string): WindrowError {
  const message = `The metadata of session ${id} in the trash is damaged, so its id is not given out. Erase it: windrow erase ${id}.`;
  return new WindrowError("store-corrupt", message, { id });
}

/**
 * Makes the hash of a session and lists it; false where there is one of another taking, or where the trash has one of another
 * owner.
 */
export async function makeHash(
  place: RedisPlace,
  metadata: SessionMetadata,
  { holder, worker }: RowHolder,
  made: Readonly<Record<string, string | number>>,
): Promise<boolean> {
  const { sender, keys } = place;
  const { uuid: id } = metadata;
  const { session } = keys.of(id);
  if (Number(await sender.send("EXISTS", session)) === 1) return false;
  // First the list, then the session: a list that names a session that is not there is read past.
  await sender.send("ZADD", keys.sessions(metadata), "NX", -(Date.parse(metadata.createdAt) || 0), id);
  const fixed = ["worker", worker, "taking", holder.taking, "made", holder.taking];
  const owner = JSON.stringify(ownerOf(metadata));
  const values = [JSON.stringify(holder), ...fixed, "owner", owner, ...Object.entries(made).flat()];
  const isMade = await createHash(place, metadata, values);
  if (isMade) await place.durability.safe(async () => (await takingOf(place, session)) === holder.taking);
  else await unlistAnothers(place, metadata);
  return isMade;
}

async function createHash(
  place: RedisPlace,
  metadata: SessionMetadata,
  values: readonly (string | number)[],
): Promise<boolean> {
  const { uuid: id } = metadata;
  const [{ session }, trash] = [place.keys.of(id), place.keys.inTrash(id)];
  let trashed = "";
  for (let looks = 0; looks < mostLooks; looks++) {
    const outcome = Number(await run(place, createScript, [session, trash.session], [...values, trashed]));
    if (outcome !== -1) return outcome === 1;
    const found = await readHash(place, trash.session);
    trashed = found.metadata ?? "";
    const owner = ownerIn(found);
    if (owner && !haveOneOwner(owner, metadata)) return false;
  }
  throw damagedInTrash(id);
}

/** Takes an id that another tenant has from the list of the one that was refused. */
async function unlistAnothers(place: RedisPlace, metadata: SessionMetadata): Promise<void> {
  const { uuid: id } = metadata;
  for (const { session } of [place.keys.of(id), place.keys.inTrash(id)]) {
    const owner = ownerIn(await readHash(place, session));
    if (!owner) continue;
    if (owner.tenant !== metadata.tenant) await place.sender.send("ZREM", place.keys.sessions(metadata), id);
    return;
  }
}

/** A session's place and the text of its state, at the moment it was taken. */
export interface TakenRow {
  readonly head: number;
  /** How often its holders wrote it. */
  readonly revision: number;
  readonly state: string;
}

/**
 * Takes a session for the next generation.
 *
 * @returns undefined where another process took it, or it was made anew, since its hash was read
 */
export async function takeRow(
  place: RedisPlace,
  { id, generation, hash }: SessionRow,
  { holder, worker }: RowHolder,
): Promise<TakenRow | undefined> {
  const values = [generation, hash.taking ?? "", holder.generation, JSON.stringify(holder), worker, holder.taking];
  const taken = (await run(place, takeScript, [place.keys.of(id).session], values)) as readonly string[] | null;
  return taken ? { head: Number(taken[0]), state: taken[1] ?? "", revision: Number(taken[2]) } : undefined;
}

/** Lets go of a session; false where this holder has it no more. */
export async function letGoOf(place: RedisPlace, id: string, { generation, taking }: Taker): Promise<boolean> {
  return Number(await run(place, letGoScript, [place.keys.of(id).session], [generation, taking])) === 1;
}

/** A session as its holder knows it. */
export interface RowWriter {
  readonly id: string;
  readonly holder: Taker;
  readonly counters: { readonly pos: number };
  readonly revision: number;
}

/**
 * Ends a session; false where this holder has it no more, or where it was written since. Its generation goes up, so that
 * nothing comes late. An end whose answer did not come may be asked for again.
 */
export async function endRow(
  place: RedisPlace,
  { id, holder, counters, revision }: RowWriter,
  { text, status }: { readonly text: string; readonly status: string },
): Promise<boolean> {
  const { generation, taking } = holder;
  const { session } = place.keys.of(id);
  const values = [generation, taking, counters.pos, revision, text, status, generation + 1];
  const isEnded = Number(await run(place, endScript, [session], values)) === 1;
  const isThere = async (): Promise<boolean> => {
    const found = await hashAnywhere(place, id);
    return found.status === status && Number(found.generation) > generation;
  };
  if (isEnded) await place.durability.safe(isThere);
  return isEnded;
}

/** The name of the newest taking, move or restore of a session. */
export async function takingOf({ sender }: RedisPlace, session: string): Promise<string | undefined> {
  return ((await sender.send("HGET", session, "taking")) as string | null) ?? undefined;
}

/** A session for people. */
export function infoOf({ id, metadata, state }: SessionRow, location: string): SessionInfo {
  const readOnly = isFinal(state.status) || metadata.format > formatVersion;
  return { metadata, state, location: `${location}#${id}`, readOnly };
}

/** The row of a hash; undefined where its documents cannot be read. */
export async function readRow(place: RedisPlace, id: string, hash: SessionHash): Promise<SessionRow | undefined> {
  const texts = { metadata: hash.metadata ?? "", state: hash.state ?? "" };
  const metadata = decodeMetadata(parseDocument(texts.metadata), id);
  const state = decodeState(parseDocument(texts.state));
  if (!metadata || !state) return undefined;
  return {
    ...{ id, metadata, state, hash, texts, ...(await holderOf(place, hash)) },
    generation: Number(hash.generation),
    head: Number(hash.head),
    restoring: hash.restoring,
    kept: hash.kept,
  };
}

function unreadable(id: string): WindrowError {
  const message = `The hash of session ${id} is unreadable, so it cannot be opened. \`windrow doctor --mend\` writes it anew.`;
  return new WindrowError("store-corrupt", message, { id });
}
