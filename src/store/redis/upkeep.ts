/** The upkeep of a Redis store: marks, a trash of renamed keys, and erasing. */
import { randomUUID } from "node:crypto";
import { maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import { parseDocument } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { alreadyExists, beingErased, inScope, isFinal, notFound, sessionId, ownerOf } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import { inTrash, isKept, notFinished, notInTrash } from "../upkeep.ts";
import type { KeepMark, Upkeep } from "../upkeep.ts";
import { putAside as putAsideOf } from "./aside.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { eraseSessions, seenIn, unerasedIn, unlist, weightOf } from "./erase.ts";
import type { SessionKeys } from "./keys.ts";
import { rowsOf } from "./log.ts";
import { allIn, forgetName, isBeingErased, nameIn, setName } from "./named.ts";
import type { NameRead } from "./named.ts";
import { ownerIn, salvaged } from "./owner.ts";
import { markScript, moveScript, raiseScript, removeScript } from "./scripts.ts";
import { dropDraft } from "./transfer.ts";
import { heldBy } from "../shared/remote.ts";
import { findRow, hashAnywhere, holderOf, readHash, readRow } from "./session.ts";
import type { SessionHash, SessionRow } from "./session.ts";

/** The place, the mask and the clock of a store's upkeep. */
export interface RedisUpkeep {
  readonly place: RedisPlace;
  readonly mask: Mask;
  readonly clock: Clock;
  /** A session of the scope, or `session-not-found`; `closed` once the store is. */
  readonly find: (scope: Scope, id: string) => Promise<SessionRow>;
  readonly alive: () => Promise<void>;
}

/** Makes the upkeep of a Redis store. */
export function redisUpkeep({ place, mask, clock, find, alive }: RedisUpkeep): Upkeep {
  const { sender, keys } = place;
  const trashed = async (scope: Scope, id: string): Promise<NameRead | undefined> => {
    await alive();
    const known = await nameIn(place, keys.trash, sessionId(id));
    if (!known || !inScope(scope, known)) return undefined;
    // A process that died before the move left the name alone.
    return Number(await sender.send("EXISTS", keys.inTrash(id).session)) === 1 ? known : undefined;
  };
  /** The hash of a session whose documents may be damaged, and whose it is; nobody's where that is not known. */
  const damagedToo = async (scope: Scope, id: string): Promise<{ hash: SessionHash; owner: Scope }> => {
    await alive();
    const hash = await readHash(place, keys.of(sessionId(id)).session);
    if (Object.keys(hash).length === 0) throw notFound(id);
    const owner = ownerIn(hash) ?? (await salvaged(place, id, hash))?.owner ?? {};
    if (!inScope(scope, owner)) throw notFound(id);
    return { hash, owner };
  };
  const putAside = async (scope: Scope, id: string): Promise<string> => {
    const { hash, owner: whose } = await damagedToo(scope, id);
    const own = keys.of(id);
    const owner = heldBy(await holderOf(place, hash));
    if (owner) throw busy(owner);
    const time = timestamp(clock);
    // From here on no line is added but by who takes it anew.
    const raise = randomUUID();
    const values = [hash.generation ?? "", hash.taking ?? "", raise];
    const generation = (await run(place, raiseScript, [own.session], values)) as string | null;
    if (generation === null) return putAside(scope, id);
    const put = async (one: JsonObject): Promise<boolean> => {
      const text = JSON.stringify({ time, ...one });
      return putAsideOf(place, id, whose, [generation, raise], text);
    };
    const texts = await readHash(place, own.session);
    if (!(await put({ metadata: texts.metadata ?? null, state: texts.state ?? null }))) return putAside(scope, id);
    for (const log of own.logs) {
      for await (const { line } of rowsOf(place, log)) {
        if (!(await put({ log, line }))) return putAside(scope, id);
      }
    }
    const seen = seenIn({ ...texts, generation, taking: raise });
    const removed = await run(place, removeScript, [own.session, ...own.logs], seen);
    if (Number(removed) < 0) return putAside(scope, id);
    await unlist(place, id, whose);
    return `list ${own.aside(whose)}, time ${time}`;
  };
  /** Marks a session as it was looked at, or takes its mark away with an empty text; false where it has to be looked at again. */
  const mark = async ({ id, hash }: SessionRow, text: string): Promise<boolean> => {
    const { marks = "0", kept = "", taking = "" } = hash;
    const values = [text, marks, kept, taking, randomUUID()];
    const answer = Number(await run(place, markScript, [keys.of(id).session], values));
    if (answer === 0) throw notFound(id);
    return answer === 1;
  };
  const markable = async (scope: Scope, id: string): Promise<SessionRow> => {
    const row = await find(scope, id);
    if (row.kept === undefined && (await isBeingErased(place, row, row.hash))) throw beingErased(id);
    return row;
  };
  const trashable = async (scope: Scope, id: string): Promise<SessionRow> => {
    const row = await find(scope, id);
    if (!isFinal(row.state.status)) throw notFinished(id);
    if (row.kept !== undefined) throw isKept(id);
    // In whatever scope: from here on its name there is this session's.
    if (Number(await sender.send("EXISTS", keys.inTrash(id).session)) === 1) throw inTrash(id);
    return row;
  };
  return {
    async size(scope, id) {
      await find(scope, id);
      const bytes = await bytesOf(place, keys.of(id));
      return { bytes, plainBytes: bytes, compressed: false };
    },
    async keep(scope, id, why) {
      const text = JSON.stringify(maskJson(mask, { ...why } as unknown as JsonObject));
      let row = await markable(scope, id);
      await place.durability.assured();
      while (!(await mark(row, text))) row = await markable(scope, id);
      const count = Number(row.hash.marks ?? 0) + 1;
      // An erasure that was begun since the look finds this mark, or is found here.
      if (row.kept === undefined && (await isBeingErased(place, row, await readHash(place, keys.of(id).session)))) {
        await mark({ ...row, hash: { ...row.hash, marks: String(count), kept: text } }, "");
        throw beingErased(id);
      }
      await place.durability.safe(async () => {
        const { kept, marks = 0 } = await hashAnywhere(place, id);
        return kept === text || Number(marks) > count;
      });
    },
    async unkeep(scope, id) {
      for (;;) {
        const row = await find(scope, id);
        if (row.kept === undefined) return false;
        if (await mark(row, "")) return true;
      }
    },
    async kept(scope, id) {
      const { kept, restoring } = (await damagedToo(scope, id)).hash;
      if (restoring !== undefined) throw notFound(id);
      return kept === undefined ? undefined : (parseDocument(kept) as unknown as KeepMark);
    },
    async trash(scope, ids, time) {
      const rows: SessionRow[] = [];
      for (const id of new Set(ids)) rows.push(await trashable(scope, id));
      for (const seen of rows) {
        for (let row = seen; ; row = await trashable(scope, seen.id)) {
          // The name comes before each move: whoever took the session out meanwhile took an earlier name with it.
          const name = JSON.stringify({ ...ownerOf(row.metadata), time, name: randomUUID() });
          await setName(place, keys.trash, row.id, name);
          // The list goes on to name it: what the list names and is not there is read past.
          const moved = await move(place, row, "trash");
          if (moved === -1) throw isKept(row.id);
          if (moved === 0) throw inTrash(row.id);
          if (moved === 1) break;
        }
      }
    },
    async *trashed(scope, one) {
      await alive();
      const name = one === undefined ? undefined : await nameIn(place, keys.trash, sessionId(one));
      const names = one === undefined ? await allIn(place, keys.trash) : name ? [[one, name] as const] : [];
      for (const [id, known] of names) {
        if (!inScope(scope, known)) continue;
        const hash = await readHash(place, keys.inTrash(id).session);
        if (Object.keys(hash).length === 0) continue;
        // One that cannot be read goes in time as any other.
        const row = await readRow(place, id, hash);
        const { user } = row?.metadata ?? known;
        const createdAt = row?.metadata.createdAt ?? known.time ?? timestamp(clock);
        const bytes = await bytesOf(place, keys.inTrash(id));
        const trashedAt = known.time === undefined ? {} : { trashedAt: known.time };
        yield { sessionId: id, ...trashedAt, ...(user !== undefined && { user }), createdAt, bytes };
      }
    },
    async untrash(scope, id) {
      for (let moved = -2; moved !== 1;) {
        const known = await trashed(scope, id);
        const row = known && (await findRow(place, keys.inTrash(id).session, id));
        if (!known || !row) throw notInTrash(id);
        if (await isBeingErased(place, row, row.hash)) throw beingErased(id);
        const created = -(Date.parse(row.metadata.createdAt) || 0);
        const there = await findRow(place, keys.of(id).session, id);
        if (there && there.restoring === undefined) throw alreadyExists(id);
        if (there) await dropDraft(place, there);
        await sender.send("ZADD", keys.sessions(known), created, id);
        moved = await move(place, row, "store");
        if (moved === 0) throw alreadyExists(id);
        if (moved === 1) await forgetName(place, keys.trash, id, known.text);
      }
    },
    putAside,
    async erase(scope, ids, elsewhere = async () => [], limits = {}) {
      await alive();
      return eraseSessions(place, { scope, ...limits }, [...new Set(ids.map(sessionId))], elsewhere);
    },
    async unerased(scope) {
      await alive();
      return unerasedIn(place, scope);
    },
  };
}

async function move(place: RedisPlace, row: SessionRow, to: "trash" | "store"): Promise<number> {
  const { keys } = place;
  const all = [keys.of(row.id), keys.inTrash(row.id)].map(({ session, logs }) => [session, ...logs]);
  const { generation = "", taking = "", status = "" } = row.hash;
  const values = [randomUUID(), to === "trash" ? to : "", generation, taking, status];
  return Number(await run(place, moveScript, (to === "trash" ? all : all.toReversed()).flat(), values));
}

async function bytesOf(place: RedisPlace, { session, logs }: SessionKeys): Promise<number> {
  return (await weightOf(place, [session, ...logs])).bytes;
}
