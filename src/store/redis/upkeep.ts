/** The upkeep of a Redis store: marks, a trash of renamed keys, and erasing. */
import { randomUUID } from "node:crypto";
import { isWindrowError } from "../../errors.ts";
import { maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import { decodeMetadata, parseDocument } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { alreadyExists, inScope, isFinal, notFound, sessionId } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import { inTrash, isKept, notFinished, notInTrash } from "../upkeep.ts";
import type { ErasedPlace, KeepMark, Upkeep } from "../upkeep.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import type { SessionKeys } from "./keys.ts";
import { rowsOf } from "./log.ts";
import { asideScript, keepScript, moveScript, raiseScript, removeScript } from "./scripts.ts";
import { heldBy, isUnknownOutcome } from "../shared/remote.ts";
import { findRow, holderOf, readHash } from "./session.ts";
import type { SessionRow } from "./session.ts";

/** The place, the mask and the clock of a store's upkeep. */
export interface RedisUpkeep {
  readonly place: RedisPlace;
  readonly mask: Mask;
  readonly clock: Clock;
  /** A session of the scope, or `session-not-found`; `closed` once the store is. */
  readonly find: (scope: Scope, id: string) => Promise<SessionRow>;
  readonly alive: () => Promise<void>;
}

/** The owner of a session in the trash, or of one that is being erased. */
interface Known extends Scope {
  readonly time?: string;
}

/** Makes the upkeep of a Redis store. */
export function redisUpkeep({ place, mask, clock, find, alive }: RedisUpkeep): Upkeep {
  const { sender, keys } = place;
  const trashed = async (scope: Scope, id: string): Promise<Known | undefined> => {
    await alive();
    const known = knownIn(await sender.send("HGET", keys.trash, sessionId(id)));
    if (!known || !inScope(scope, known)) return undefined;
    // A process that died before the move left the name alone.
    return Number(await sender.send("EXISTS", keys.inTrash(id).session)) === 1 ? known : undefined;
  };
  const putAside = async (scope: Scope, id: string): Promise<string> => {
    await alive();
    const own = keys.of(sessionId(id));
    const hash = await readHash(place, own.session);
    const metadata = parseDocument(hash.metadata ?? "");
    if (!metadata || !inScope(scope, metadata)) throw notFound(id);
    const owner = heldBy(await holderOf(place, hash));
    if (owner) throw busy(owner);
    const time = timestamp(clock);
    // From here on no line is added but by who takes it anew.
    const values = [hash.generation ?? "", randomUUID()];
    const generation = (await run(place, raiseScript, [own.session], values)) as string | null;
    if (generation === null) return putAside(scope, id);
    const put = async (one: JsonObject): Promise<boolean> => {
      const text = JSON.stringify({ time, ...one });
      return Number(await run(place, asideScript, [own.session, own.aside], [generation, text])) === 1;
    };
    const texts = await readHash(place, own.session);
    if (!(await put({ metadata: texts.metadata ?? null, state: texts.state ?? null }))) return putAside(scope, id);
    for (const log of own.logs) {
      for await (const { line } of rowsOf(place, log)) {
        if (!(await put({ log, line }))) return putAside(scope, id);
      }
    }
    const seen = [generation, texts.taking ?? "", texts.kept ?? ""];
    const removed = await run(place, removeScript, [own.session, ...own.logs], seen);
    if (Number(removed) < 0) return putAside(scope, id);
    await sender.send("ZREM", keys.sessions(metadata), id);
    return `list ${own.aside}, time ${time}`;
  };
  return {
    async size(scope, id) {
      await find(scope, id);
      const bytes = await bytesOf(place, keys.of(id));
      return { bytes, plainBytes: bytes, compressed: false };
    },
    async keep(scope, id, mark) {
      await find(scope, id);
      const text = JSON.stringify(maskJson(mask, { ...mark } as unknown as JsonObject));
      if (Number(await run(place, keepScript, [keys.of(id).session], [text])) !== 1) throw notFound(id);
      await place.durability.safe(async () => (await readHash(place, keys.of(id).session)).kept === text);
    },
    async unkeep(scope, id) {
      await find(scope, id);
      return Number(await sender.send("HDEL", keys.of(id).session, "kept")) === 1;
    },
    async kept(scope, id) {
      const { kept } = await find(scope, id);
      return kept === undefined ? undefined : (parseDocument(kept) as unknown as KeepMark);
    },
    async trash(scope, ids, time) {
      const rows: SessionRow[] = [];
      for (const id of new Set(ids)) {
        const row = await find(scope, id);
        if (!isFinal(row.state.status)) throw notFinished(id);
        if (row.kept !== undefined) throw isKept(id);
        if (await trashed(scope, id)) throw inTrash(id);
        rows.push(row);
      }
      for (const { id, metadata } of rows) {
        const { tenant, user } = metadata;
        const known: Known = { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }), time };
        await sender.send("HSET", keys.trash, id, JSON.stringify(known));
        const moved = await move(place, keys.of(id), keys.inTrash(id), "trash");
        if (moved !== 1) throw moved === -1 ? isKept(id) : inTrash(id);
        await sender.send("ZREM", keys.sessions(known), id);
      }
    },
    async *trashed(scope) {
      await alive();
      for (const [id, known] of await allOf(place, keys.trash)) {
        if (!inScope(scope, known)) continue;
        const row = await findRow(place, keys.inTrash(id).session, id);
        if (!row) continue;
        const { user, createdAt } = row.metadata;
        const bytes = await bytesOf(place, keys.inTrash(id));
        const trashedAt = known.time === undefined ? {} : { trashedAt: known.time };
        yield { sessionId: id, ...trashedAt, ...(user !== undefined && { user }), createdAt, bytes };
      }
    },
    async untrash(scope, id) {
      const known = await trashed(scope, id);
      const row = known && (await findRow(place, keys.inTrash(id).session, id));
      if (!known || !row) throw notInTrash(id);
      const created = -(Date.parse(row.metadata.createdAt) || 0);
      if (await findRow(place, keys.of(id).session, id)) throw alreadyExists(id);
      await sender.send("ZADD", keys.sessions(known), created, id);
      if ((await move(place, keys.inTrash(id), keys.of(id))) !== 1) throw alreadyExists(id);
      await sender.send("HDEL", keys.trash, id);
    },
    putAside,
    async erase(scope, ids, elsewhere = async () => []) {
      await alive();
      const known = [...new Set(ids.map(sessionId))];
      const erasable = new Map<string, Erasable>();
      for (const id of known) erasable.set(id, await mayErase(place, scope, id));
      const places = new Map<string, readonly ErasedPlace[]>();
      for (const [id, { owner, isBegun }] of erasable) {
        await sender.send("HSET", keys.erasing, id, JSON.stringify(owner));
        try {
          places.set(id, [await removeSession(place, scope, id, isBegun)]);
        } catch (error) {
          // Nothing of it is gone, so that it is not being erased.
          if (!isBegun && isWindrowError(error) && !isUnknownOutcome(error))
            await sender.send("HDEL", keys.erasing, id);
          throw error;
        }
        places.set(id, [...(places.get(id) ?? []), ...(await removeRest(place, id, owner))]);
      }
      const others = known.length > 0 ? await elsewhere(known) : [];
      await place.durability.safe(async () => {
        const left = known.map(async (id) => sender.send("EXISTS", keys.of(id).session, keys.inTrash(id).session));
        return (await Promise.all(left)).every((count) => Number(count) === 0);
      });
      for (const id of known) await sender.send("HDEL", keys.erasing, id);
      return known.map((id) => ({ sessionId: id, places: [...(places.get(id) ?? []), ...others] }));
    },
    async unerased(scope) {
      await alive();
      return [...(await allOf(place, keys.erasing))].filter(([, known]) => inScope(scope, known)).map(([id]) => id);
    },
  };
}

async function move(place: RedisPlace, from: SessionKeys, to: SessionKeys, where = ""): Promise<number> {
  const names = [from.session, ...from.logs, to.session, ...to.logs];
  return Number(await run(place, moveScript, names, [randomUUID(), where]));
}

function knownIn(text: unknown): Known | undefined {
  return typeof text === "string" ? (JSON.parse(text) as Known) : undefined;
}

async function allOf({ sender }: RedisPlace, key: string): Promise<ReadonlyMap<string, Known>> {
  const found = new Map<string, Known>();
  for (const id of (await sender.send("HKEYS", key)) as readonly string[]) {
    const known = knownIn(await sender.send("HGET", key, id));
    if (known) found.set(id, known);
  }
  return found;
}

async function bytesOf(place: RedisPlace, { session, logs }: SessionKeys): Promise<number> {
  let bytes = 0;
  for (const key of [session, ...logs]) bytes += Number((await place.sender.send("MEMORY", "USAGE", key)) ?? 0);
  return bytes;
}

/** A session that may be erased, as it was looked at. */
interface Erasable {
  readonly owner: Known;
  /** Its erasure was begun before: a mark that keeps it does not stop it. */
  readonly isBegun: boolean;
  /** Generation, taking and mark, as the script that removes it compares them. */
  readonly seen: readonly string[];
}

/**
 * Refuses what may not be erased.
 *
 * @param isBegun - default: whether it is noted that its erasure was begun
 */
async function mayErase(place: RedisPlace, scope: Scope, id: string, isBegun?: boolean): Promise<Erasable> {
  const { sender, keys } = place;
  const begun = knownIn(await sender.send("HGET", keys.erasing, id));
  const wasBegun = isBegun ?? begun !== undefined;
  const trashed = knownIn(await sender.send("HGET", keys.trash, id));
  const hash = await readHash(place, keys.of(id).session);
  const owner: Known | undefined = decodeMetadata(parseDocument(hash.metadata ?? ""), id) ?? trashed ?? begun;
  if (!owner || !inScope(scope, owner)) throw notFound(id);
  if (hash.kept !== undefined && !wasBegun) throw isKept(id);
  const holder = heldBy(await holderOf(place, hash));
  if (holder) throw busy(holder);
  const { tenant, user } = owner;
  const known = { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
  const seen = [hash.generation ?? "", hash.taking ?? "", hash.kept ?? ""];
  return { owner: known, isBegun: wasBegun, seen };
}

/** Removes a session's keys; one that a process took or marked meanwhile is looked at again. */
async function removeSession(place: RedisPlace, scope: Scope, id: string, isBegun: boolean): Promise<ErasedPlace> {
  const found = place.keys.of(id);
  for (;;) {
    const { seen } = await mayErase(place, scope, id, isBegun);
    const bytes = await bytesOf(place, found);
    const count = Number(await run(place, removeScript, [found.session, ...found.logs], seen));
    if (count >= 0) return { kind: "session", place: found.session, count, bytes };
  }
}

/** Removes what else there is of a session. */
async function removeRest(place: RedisPlace, id: string, owner: Known): Promise<readonly ErasedPlace[]> {
  const { sender, keys } = place;
  const places: ErasedPlace[] = [];
  const trashed = keys.inTrash(id);
  const inTrashBytes = await bytesOf(place, trashed);
  const count = Number(await sender.send("UNLINK", trashed.session, ...trashed.logs));
  places.push({ kind: "trash", place: trashed.session, count, bytes: inTrashBytes });
  const { aside } = keys.of(id);
  const bytes = Number((await sender.send("MEMORY", "USAGE", aside)) ?? 0);
  places.push({ kind: "aside", place: aside, count: Number(await sender.send("UNLINK", aside)), bytes });
  const listed = Number(await sender.send("ZREM", keys.sessions(owner), id));
  places.push({ kind: "index", place: keys.sessions(owner), count: listed, bytes: listed * id.length });
  await sender.send("HDEL", keys.trash, id);
  return places;
}
