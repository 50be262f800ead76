/**
 * The Postgres store: every session in one database, every record as the line a file store would write (docs/format.md).
 * Any number of processes on any number of machines use it at once; each session has one writer, and the statement that
 * adds its lines checks on the session's row that it is still the one.
 */
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import { encodeState, initialState } from "../format/documents.ts";
import { noCounts } from "../format/seal.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import { GroupWriter } from "../shared/group-writer.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { heartbeatMs, ownIdentity, ownerOf } from "../shared/holder.ts";
import type { Holder } from "../shared/holder.ts";
import {
  cannotStore,
  durableCapabilities,
  prepareMetadata,
  prepareRecord,
  prepareState,
  readRecord,
} from "../shared/prepare.ts";
import { alreadyExists, checkQuery, finished, formatVersion, inArchive, inScope, isFinal } from "../shared/rules.ts";
import { newerFormat, notFound, sessionId, storeClosed } from "../shared/rules.ts";
import { recounted } from "../shared/recount.ts";
import { checkMessages, continuedFrom, encode, sealOf } from "../shared/session-log.ts";
import type { Continued } from "../shared/session-log.ts";
import { busy, fenced, unlockEdit } from "../shared/unlock.ts";
import type { ExamineOptions, Examined, StoreCheckup } from "../store.ts";
import type { FinalStatus, Holding, ListQuery, Lock, NewSession, ReadQuery, Recovered, Scope } from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreHolding, StoreTransfer } from "../store.ts";
import type { StoreDetaching, UnlockOptions } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { askerOf } from "./client.ts";
import type { Asker } from "./client.ts";
import type { Database } from "./database.ts";
import { readCounters, rowsOf } from "./log.ts";
import { readRecords } from "./read.ts";
import { checkPostgresOptions } from "./options.ts";
import type { PostgresStoreOptions } from "./options.ts";
import { atVersion, migrations, openSchema, quoted } from "./schema.ts";
import type { Migration } from "./schema.ts";
import { postgresDetaching } from "./detach.ts";
import { hashOfSession } from "./seal.ts";
import { Heart, heldBy, holdingOf } from "../shared/remote.ts";
import { beat, endRow, findRow, forgetBeat, infoOf, insertRow, listRows } from "./session.ts";
import { letGoOf, takeBackOf, takeRow } from "./session.ts";
import type { RowHolder, SessionRow } from "./session.ts";
import { dumpSession, restoreSession } from "./transfer.ts";
import { postgresUpkeep } from "./upkeep.ts";
import { appendTo } from "./writer.ts";
import type { Held } from "./writer.ts";

export type { PostgresClient, PostgresTag } from "./client.ts";
export type { PostgresStoreOptions } from "./options.ts";

/**
 * Opens a Postgres store on a client that the caller brings. The tables are made on its first use.
 *
 * @throws WindrowError `bad-option`; with its first use `store-unavailable`; `format-newer` and `format-older` where its
 *   tables have another version than this code works with, then or later
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  checkPostgresOptions(options);
  return postgresStoreOn(options, { location: "postgres:", owned: false });
}

/** The place of a store's tables, as messages name it, and how it is used. */
export interface PostgresPlace {
  readonly location: string;
  /** Whether the client ends with the store. */
  readonly owned: boolean;
  /** For tests: the steps of the tables that this code knows. */
  readonly steps?: readonly Migration[];
}

/** As {@link postgresStore}, with the address of the server, and perhaps with a client that ends with the store. */
export function postgresStoreOn(options: PostgresStoreOptions, place: PostgresPlace): Store {
  return new PostgresStore(askerOf(options.client, place), options, place);
}

class PostgresStore implements Store {
  readonly name = "postgres";
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holdingOf(await this.#find(scope, id)),
    unlock: async (scope, id, options = {}) => this.#unlock(scope, id, options),
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options, signal),
    rebuildIndex: async () => {
      await this.#alive();
      return (await import("./examine.ts")).rebuildColumns(this.#database);
    },
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => dumpSession(this.#database, await this.#find(scope, id)),
    restore: async (scope, dump, signal) => {
      await this.#alive();
      const target = { database: this.#database, mask: this.#mask, ...(await this.#claim(1)) };
      return restoreSession(target, scope, dump, signal);
    },
  };
  readonly upkeep: Upkeep;
  readonly detaching: StoreDetaching;
  readonly #database: Database;
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #heart: Heart;
  readonly #writer: GroupWriter<Held>;
  readonly #openTables: () => Promise<void>;
  readonly #held = new HeldSessions<Held>(
    () => this.#open(),
    (held) => this.#letGo(held),
  );
  readonly #damaged = new DamageList();
  #ready: Promise<void> | undefined;
  #lookedAt = 0;
  #closing: Promise<void> | undefined;

  constructor(asker: Asker, options: PostgresStoreOptions, { location, steps = migrations }: PostgresPlace) {
    const { schema = "windrow", mask = createMask(), clock, create = true } = options;
    this.#clock = clock ?? systemClock;
    this.#mask = mask;
    this.capabilities = durableCapabilities(mask);
    const now = clock ? (): string => timestamp(clock) : (): null => null;
    this.#database = { asker, schema: quoted(schema), location, now, atVersion: atVersion(schema, steps) };
    this.#writer = new GroupWriter(appendTo(this.#database));
    this.#heart = new Heart({ send: beat(this.#database), forget: forgetBeat(this.#database) }, this.#clock);
    this.#openTables = async () => openSchema({ asker, schema, location, steps }, create);
    this.upkeep = postgresUpkeep({
      ...{ database: this.#database, mask, clock: this.#clock },
      find: (scope, id) => this.#find(scope, id),
      alive: () => this.#alive(),
    });
    this.detaching = postgresDetaching({
      ...{ database: this.#database, heart: this.#heart },
      find: (scope, id) => this.#find(scope, id),
      newHolder: (generation) => this.#claim(generation),
    });
  }

  async create(scope: Scope, session: NewSession): Promise<Lock> {
    await this.#alive();
    const id = sessionId(session.uuid);
    const metadata = prepareMetadata(this.#mask, scope, session);
    const state = initialState(session.createdAt);
    const mine = await this.#claim(1);
    const inserted = insertRow(this.#database, { metadata, state }, mine);
    const key = await this.#heart.taking(inserted, () => takeBackOf(this.#database, id, mine.holder));
    if (key === undefined) {
      await this.#openTables();
      throw alreadyExists(id);
    }
    const counters = { seqs: noCounts(), pos: 0 };
    return this.#hold(scope, { id, key }, mine.holder, { counters, missing: [] });
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    return infoOf(await this.#find(scope, id), this.#database.location);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    await this.#alive();
    for await (const row of listRows(this.#database, scope, query)) {
      yield infoOf(row, this.#database.location);
      this.#open();
    }
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    await this.#alive();
    const row = await this.#writable(scope, id);
    const owner = heldBy(row);
    if (owner) throw busy(owner);
    return this.#take(scope, row);
  }

  /** Takes a session whose row was read; one that another process took meanwhile is busy. */
  async #take(scope: Scope, row: SessionRow): Promise<Lock> {
    const mine = await this.#claim(row.generation + 1);
    const taking = takeRow(this.#database, row, mine);
    const taken = await this.#heart.taking(taking, () => takeBackOf(this.#database, row.id, mine.holder));
    if (!taken) {
      await this.#openTables();
      return this.lock(scope, row.id);
    }
    const { state, head } = taken;
    let lock: Lock | undefined;
    try {
      const found = await readCounters(this.#database, row.key);
      const continued = continuedFrom(found, state);
      checkMessages(row.id, found, continued);
      continued.counters.pos = head;
      lock = this.#hold(scope, row, mine.holder, continued);
      // Who let go of a session wrote its state last; of a writer that died or was passed over, the lines may say more.
      if (row.holder)
        await this.setState(lock, await recounted(row, state, (log) => rowsOf(this.#database, row.key, log)));
      return lock;
    } catch (error) {
      if (lock) await lock.release();
      else await this.#heart.lettingGo(() => letGoOf(this.#database, row.key, mine.holder.generation));
      throw error;
    }
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#held.writable(lock);
    const encoded = records.map((record) => encode(this.#prepared(record)));
    return encoded.length === 0 ? [] : this.#writer.write(held, encoded);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const row = await this.#find(scope, id);
    const damaged = (span: Recovered): void => this.#damaged.add(id, span);
    const isMine = (): boolean => this.#held.open(id) !== undefined;
    for await (const record of readRecords(this.#database, row, query, { damaged, isMine })) {
      yield readRecord(this.#mask, query, record);
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
    if (row.state.archived) return this.#damaged.of(id);
    const { missing } = continuedFrom(await readCounters(this.#database, row.key), row.texts.state);
    return [...this.#damaged.of(id), ...missing];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
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
    const { examineDatabase } = await import("./examine.ts");
    yield* examineDatabase({ database: this.#database, time: timestamp(this.#clock) }, options, signal);
  }

  async #close(): Promise<void> {
    try {
      await this.#held.releaseAll();
    } finally {
      await this.#heart.stop();
      await this.#database.asker.end();
    }
  }

  #open(): void {
    if (this.#closing) throw storeClosed();
  }

  async #alive(): Promise<void> {
    this.#open();
    // Looked at again now and then, as another version may have migrated them.
    const now = this.#clock.now();
    if (this.#ready === undefined || Math.abs(now - this.#lookedAt) > heartbeatMs) {
      this.#lookedAt = now;
      this.#ready = this.#openTables();
    }
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
    this.#open();
  }

  #prepared(record: NewRecord): NewRecord {
    try {
      return prepareRecord(this.#mask, record);
    } catch (error) {
      throw cannotStore(record.kind, error);
    }
  }

  async #find(scope: Scope, id: string): Promise<SessionRow> {
    this.#open();
    sessionId(id);
    await this.#alive();
    const row = await findRow(this.#database, id);
    this.#open();
    if (!row || row.restoring || !inScope(scope, row.metadata)) throw notFound(id);
    return row;
  }

  /** A session that is not finished, and of a format that this version writes. */
  async #writable(scope: Scope, id: string): Promise<SessionRow> {
    const row = await this.#find(scope, id);
    if (row.format > formatVersion) throw newerFormat(id, row.format);
    if (isFinal(row.state.status)) throw finished(id);
    if (row.state.archived) throw inArchive(id, row.state.archived);
    return row;
  }

  /** This process as a holder, which says from now on that it lives. */
  async #claim(generation: number): Promise<RowHolder> {
    await this.#heart.beat();
    const now = timestamp(this.#clock);
    return { holder: { ...ownIdentity(), acquiredAt: now, heartbeatAt: now, generation }, worker: this.#heart.id };
  }

  #hold(scope: Scope, { id, key }: Pick<SessionRow, "id" | "key">, holder: Holder, continued: Continued): Lock {
    const held: Held = { id, key, holder, counters: continued.counters };
    return this.#held.add({ id, scope, recovery: continued.missing, owner: () => ownerOf(held.holder) }, held);
  }

  async #finish(held: Held, state: SessionState): Promise<void> {
    await this.#writer.settled(held);
    const hash = await hashOfSession(this.#database, held.key);
    const text = encodeState(state, {}, sealOf(held.counters, hash));
    const isEnded = await endRow(this.#database, held.key, held.holder.generation, { text, status: state.status });
    if (!isEnded) throw fenced({ owner: held.holder });
  }

  async #letGo(held: Held): Promise<void> {
    await this.#writer.settled(held);
    await this.#heart.lettingGo(() => letGoOf(this.#database, held.key, held.holder.generation));
  }
}
