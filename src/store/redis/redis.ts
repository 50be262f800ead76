/**
 * The Redis store: a hash and seven streams for each session, every record as the line a file store would write
 * (docs/format.md). Each session has one writer; the script that adds its lines checks that it is still the one.
 */
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import { encodeState, initialState } from "../format/documents.ts";
import { kindLogs } from "../format/logs.ts";
import { noCounts } from "../format/seal.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import { closeRemote } from "../shared/farewell.ts";
import { GroupWriter } from "../shared/group-writer.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { newTaker, ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { durableCapabilities, prepareMetadata } from "../shared/prepare.ts";
import { prepareState, readRecord } from "../shared/prepare.ts";
import { alreadyExists, checkQuery, inScope, notFound, sessionId, storeClosed } from "../shared/rules.ts";
import { recounted } from "../shared/recount.ts";
import { checkMessages, continuedFrom, encode, recordOf, sealOf } from "../shared/session-log.ts";
import type { Continued } from "../shared/session-log.ts";
import { busy, fenced, unlockEdit } from "../shared/unlock.ts";
import type { ExamineOptions, Examined, StoreCheckup } from "../store.ts";
import type { FinalStatus, Holding, ListQuery, Lock, NewSession, ReadQuery, Recovered, Scope } from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreHolding, StoreTransfer } from "../store.ts";
import type { UnlockOptions } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { placeOf } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { countersIn, hashOfSession, logKey, readCounters, rowsIn, rowsOf } from "./log.ts";
import { checkRedisOptions } from "./options.ts";
import type { RedisStoreOptions } from "./options.ts";
import { Heart, heldBy, holdingOf } from "../shared/remote.ts";
import { beat, endRow, findRow, forgetBeat, infoOf, insertRow, letGoOf, listRows } from "./session.ts";
import { takeRow } from "./session.ts";
import type { SessionRow } from "./session.ts";
import { checkErasing, checkWritable } from "./named.ts";
import { dumpSession, restoreSession } from "./transfer.ts";
import { redisUpkeep } from "./upkeep.ts";
import { appendTo } from "./writer.ts";
import type { Held } from "./writer.ts";

export type { IoRedisClient, NodeRedisClient, NodeRedisCluster, RedisClient } from "./client.ts";
export type { RedisStoreOptions } from "./options.ts";

/**
 * Opens a Redis store on a client that the caller brings.
 *
 * @throws WindrowError `bad-option`; with its first use `bad-option` where the server cannot keep what `strict` promises,
 *   `store-unavailable`
 */
export function redisStore(options: RedisStoreOptions): Store {
  checkRedisOptions(options);
  return redisStoreOn(options, { location: "redis:", owned: false });
}

/** As {@link redisStore}, with the address of the server, and perhaps with a client that ends with the store. */
export function redisStoreOn(
  options: RedisStoreOptions,
  server: { readonly location: string; readonly owned: boolean },
): Store {
  return new RedisStore(options, server);
}

class RedisStore implements Store {
  readonly name = "redis";
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holdingOf(await this.#find(scope, id)),
    unlock: async (scope, id, options = {}) => this.#heart.during(() => this.#unlock(scope, id, options)),
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options, signal),
    rebuildIndex: async () => {
      await this.#alive();
      return (await import("./examine.ts")).relist(this.#place);
    },
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => dumpSession(this.#place, await this.#find(scope, id)),
    restore: async (scope, dump, signal) =>
      this.#heart.during(async () => {
        await this.#assured();
        await this.#heart.beat();
        const target = { place: this.#place, mask: this.#mask, holder: this.#newHolder(1), worker: this.#heart.id };
        return restoreSession({ ...target, heart: this.#heart, underWay: this.#restoring }, scope, dump, signal);
      }),
  };
  readonly upkeep: Upkeep;
  readonly #place: RedisPlace;
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #heart: Heart;
  readonly #writer: GroupWriter<Held>;
  readonly #held = new HeldSessions<Held>(
    () => this.#open(),
    (held) => this.#letGo(held),
  );
  readonly #damaged = new DamageList();
  readonly #restoring = new Set<string>();
  #closing: Promise<void> | undefined;

  constructor(options: RedisStoreOptions, server: { readonly location: string; readonly owned: boolean }) {
    const { mask = createMask(), clock = systemClock } = options;
    [this.#place, this.#mask, this.#clock] = [placeOf(options, server), mask, clock];
    this.#writer = new GroupWriter(appendTo(this.#place), { givenUp: this.#place.sender.farewell.givenUp });
    this.#heart = new Heart({ send: beat(this.#place), forget: forgetBeat(this.#place) }, this.#clock);
    this.capabilities = { ...durableCapabilities(mask), inOrder: true };
    this.upkeep = redisUpkeep({
      ...{ place: this.#place, mask, clock: this.#clock },
      find: (scope, id) => this.#find(scope, id),
      alive: () => this.#alive(),
    });
  }

  create(scope: Scope, session: NewSession): Promise<Lock> {
    return this.#heart.during(() => this.#create(scope, session));
  }

  async #create(scope: Scope, session: NewSession): Promise<Lock> {
    await this.#assured();
    const id = sessionId(session.uuid);
    await checkErasing(this.#place, id);
    const metadata = prepareMetadata(this.#mask, scope, session);
    const state = initialState(session.createdAt);
    const holder = this.#newHolder(1);
    await this.#heart.beat();
    const inserted = insertRow(this.#place, { metadata, state, holder, worker: this.#heart.id });
    const isMade = await this.#heart.taking(inserted, () => letGoOf(this.#place, id, holder));
    if (!isMade) throw alreadyExists(id);
    const known = { counters: { seqs: noCounts(), pos: 0 }, missing: [] };
    const lock = this.#hold(scope, { id, revision: 0 }, holder, known);
    if (this.#closing) {
      await lock.release();
      throw storeClosed();
    }
    return lock;
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    return infoOf(await this.#find(scope, id), this.#place.location);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    await this.#alive();
    for await (const row of listRows(this.#place, scope, query)) {
      yield infoOf(row, this.#place.location);
      this.#open();
    }
  }

  lock(scope: Scope, id: string): Promise<Lock> {
    return this.#heart.during(() => this.#lock(scope, id));
  }

  async #lock(scope: Scope, id: string): Promise<Lock> {
    await this.#alive();
    const row = await this.#writable(scope, id);
    const owner = heldBy(row);
    if (owner) throw busy(owner);
    return this.#take(scope, row);
  }

  /** Takes a session whose hash was read; one that another process took meanwhile is busy. */
  async #take(scope: Scope, row: SessionRow): Promise<Lock> {
    const holder = this.#newHolder(row.generation + 1);
    await this.#assured();
    await this.#heart.beat();
    const keys = this.#place.keys.of(row.id);
    const taking = takeRow(this.#place, row, { holder, worker: this.#heart.id });
    const taken = await this.#heart.taking(taking, () => letGoOf(this.#place, row.id, holder));
    if (!taken) return this.#lock(scope, row.id);
    const { head, revision, state } = taken;
    let lock: Lock | undefined;
    try {
      // One that was begun since the look finds this taking, or is found here.
      await checkWritable(this.#place, row);
      const found = await readCounters(this.#place, keys);
      const continued = continuedFrom(found, state);
      checkMessages(row.id, found, continued);
      continued.counters.pos = head;
      lock = this.#hold(scope, { id: row.id, revision }, holder, continued);
      // Who let go of a session wrote its state last; of a writer that died or was passed over, the lines may say more.
      if (row.holder)
        await this.setState(lock, await recounted(row, state, (log) => rowsOf(this.#place, logKey(keys, log))));
      this.#open();
      return lock;
    } catch (error) {
      if (lock) await lock.release();
      else await this.#lettingGo(row.id, holder);
      throw error;
    }
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#held.writable(lock);
    const encoded = records.map((record) => encode(this.#mask, record));
    return encoded.length === 0 ? [] : this.#writer.write(held, encoded);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const row = await this.#find(scope, id);
    const log = kindLogs[query.kind];
    for await (const { seq, line } of rowsIn(this.#place, row, log, query)) {
      const record = recordOf(query.kind, line);
      if (record) yield readRecord(this.#mask, query, record as StoredRecordOf<K>);
      else {
        const span = { file: log, offset: seq, length: line.length, problem: "damaged", quarantine: "" } as const;
        this.#damaged.add(id, span);
      }
      this.#open();
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    const held = this.#held.writable(lock);
    await this.#writer.write(held, [], prepareState(this.#mask, state));
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    const prepared = prepareState(this.#mask, state);
    await this.#held.finish(lock, (held) => this.#finish(held, prepared));
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    const row = await this.#find(scope, id);
    const { missing } = continuedFrom(await countersIn(this.#place, row), row.texts.state);
    return [...this.#damaged.of(id), ...missing];
  }

  async prepareClose(): Promise<void> {
    this.#place.sender.farewell.begin();
  }

  close(): Promise<void> {
    this.#closing ??= closeRemote(this.#held, this.#heart, this.#place.sender);
    return this.#closing;
  }

  async #unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    await this.#alive();
    const row = await this.#writable(scope, id);
    const found = holdingOf(row);
    const edit = unlockEdit(id, found, options, timestamp(this.#clock));
    if (found.state === "none") return found;
    const lock = await this.#take(scope, row);
    try {
      if (edit) await this.append(lock, [edit]);
    } finally {
      await lock.release();
    }
    return found;
  }

  async *#examine(options: ExamineOptions = {}, signal?: AbortSignal): AsyncGenerator<Examined> {
    await this.#alive();
    const { examineRedis } = await import("./examine.ts");
    yield* examineRedis(this.#place, timestamp(this.#clock), options, signal);
  }

  #open(): void {
    if (this.#closing) throw storeClosed();
  }

  async #alive(): Promise<void> {
    this.#open();
    try {
      await this.#place.durability.assuredOnce();
    } finally {
      this.#open();
    }
  }

  /** As {@link RedisStore.#alive}, before a session is taken or made. */
  async #assured(): Promise<void> {
    this.#open();
    await this.#place.durability.assured();
    this.#open();
  }

  async #find(scope: Scope, id: string): Promise<SessionRow> {
    this.#open();
    sessionId(id);
    await this.#alive();
    const row = await findRow(this.#place, this.#place.keys.of(id).session, id);
    this.#open();
    if (!row || row.restoring !== undefined || !inScope(scope, row.metadata)) throw notFound(id);
    return row;
  }

  /** A session that is not finished, and of a format that this version writes. */
  async #writable(scope: Scope, id: string): Promise<SessionRow> {
    const row = await this.#find(scope, id);
    await checkWritable(this.#place, row);
    return row;
  }

  #newHolder(generation: number): Taker {
    return newTaker(generation, timestamp(this.#clock));
  }

  #hold(scope: Scope, { id, revision }: Pick<Held, "id" | "revision">, holder: Taker, known: Continued): Lock {
    const held: Held = { id, revision, keys: this.#place.keys.of(id), holder, counters: known.counters };
    return this.#held.add({ id, scope, recovery: known.missing, owner: () => ownerOf(holder) }, held);
  }

  async #finish(held: Held, state: SessionState): Promise<void> {
    await this.#writer.written(held);
    await this.#place.durability.assured();
    const text = encodeState(state, {}, sealOf(held.counters, await hashOfSession(this.#place, held.keys)));
    if (await endRow(this.#place, held, { text, status: state.status })) return;
    throw fenced({ owner: held.holder });
  }

  async #letGo(held: Held): Promise<void> {
    await this.#writer.settled(held);
    await this.#lettingGo(held.id, held.holder);
  }

  async #lettingGo(id: string, holder: Taker): Promise<void> {
    await this.#heart.lettingGo(async () => void (await letGoOf(this.#place, id, holder)));
  }
}
