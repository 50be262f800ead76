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
import { closeRemote } from "../shared/farewell.ts";
import { GroupWriter } from "../shared/group-writer.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import {
  cannotStore,
  durableCapabilities,
  prepareMetadata,
  prepareRecord,
  prepareState,
  readRecord,
} from "../shared/prepare.ts";
import { checkQuery, inScope, notFound, sessionId, storeClosed } from "../shared/rules.ts";
import { continuedFrom, encode, sealOf } from "../shared/session-log.ts";
import { fenced } from "../shared/unlock.ts";
import type { ExamineOptions, Examined, StoreCheckup } from "../store.ts";
import type { FinalStatus, ListQuery, Lock, NewSession, ReadQuery, Recovered, Scope } from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreHolding, StoreTransfer } from "../store.ts";
import type { StoreDetaching } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { askerOf } from "./client.ts";
import type { AskerOptions } from "./client.ts";
import type { Asker } from "./client.ts";
import type { Database } from "./database.ts";
import { PostgresLocks } from "./locks.ts";
import { readCounters } from "./log.ts";
import { readRecords } from "./read.ts";
import { checkPostgresOptions } from "./options.ts";
import type { PostgresStoreOptions } from "./options.ts";
import { atVersion, migrations, openSchema, quoted } from "./schema.ts";
import type { Migration } from "./schema.ts";
import { postgresDetaching } from "./detach.ts";
import { hashOfSession } from "./seal.ts";
import { Heart, holdingOf } from "../shared/remote.ts";
import { beat, endRow, findRow, forgetBeat, infoOf, insertRow, letGoOf, listRows } from "./session.ts";
import { takeBackOf, whyNotMade } from "./session.ts";
import type { SessionRow } from "./session.ts";
import { Tables } from "./tables.ts";
import { dumpSession, restoreSession } from "./transfer.ts";
import { postgresUpkeep } from "./upkeep.ts";
import { appendTo } from "./writer.ts";
import type { Held } from "./writer.ts";

export type { PostgresClient, PostgresTag } from "./client.ts";
export type { PostgresStoreOptions } from "./options.ts";

/** Batches under way at once: the server works on one while the other is made, or waits for the disk. */
const mostBatches = 2;

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
export interface PostgresPlace extends AskerOptions {
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
    unlock: async (scope, id, options = {}) => this.#locks.unlock(scope, id, options),
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
      return this.#heart.during(async () => {
        const mine = await this.#locks.claim(1);
        const target = { database: this.#database, mask: this.#mask, heart: this.#heart, mine };
        return restoreSession(target, scope, dump, signal);
      });
    },
  };
  readonly upkeep: Upkeep;
  readonly detaching: StoreDetaching;
  readonly #database: Database;
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #heart: Heart;
  readonly #writer: GroupWriter<Held>;
  readonly #tables: Tables;
  readonly #locks: PostgresLocks;
  readonly #held = new HeldSessions<Held>(
    () => this.#open(),
    (held) => this.#letGo(held),
  );
  readonly #damaged = new DamageList();
  #closing: Promise<void> | undefined;

  constructor(asker: Asker, options: PostgresStoreOptions, { location, steps = migrations }: PostgresPlace) {
    const { schema = "windrow", mask = createMask(), clock, create = true } = options;
    this.#clock = clock ?? systemClock;
    this.#mask = mask;
    this.capabilities = { ...durableCapabilities(mask), inOrder: true };
    const now = clock ? (): string => timestamp(clock) : (): null => null;
    this.#database = { asker, schema: quoted(schema), location, now, atVersion: atVersion(schema, steps) };
    this.#writer = new GroupWriter(appendTo(this.#database), { mostBatches, givenUp: asker.farewell.givenUp });
    this.#heart = new Heart({ send: beat(this.#database), forget: forgetBeat(this.#database) }, this.#clock);
    this.#tables = new Tables(() => openSchema({ asker, schema, location, steps }, create), this.#clock);
    this.#locks = new PostgresLocks({
      ...{ database: this.#database, clock: this.#clock, heart: this.#heart, tables: this.#tables, held: this.#held },
      store: this,
      checkOpen: () => this.#open(),
      find: (scope, id) => this.#find(scope, id),
    });
    this.upkeep = postgresUpkeep({
      ...{ database: this.#database, mask, clock: this.#clock },
      find: (scope, id) => this.#find(scope, id),
      alive: () => this.#alive(),
    });
    this.detaching = postgresDetaching({
      ...{ database: this.#database, heart: this.#heart },
      find: (scope, id) => this.#find(scope, id),
      newHolder: (generation) => this.#locks.claim(generation),
    });
  }

  create(scope: Scope, session: NewSession): Promise<Lock> {
    return this.#heart.during(() => this.#create(scope, session));
  }

  async #create(scope: Scope, session: NewSession): Promise<Lock> {
    await this.#alive();
    const id = sessionId(session.uuid);
    const metadata = prepareMetadata(this.#mask, scope, session);
    const state = initialState(session.createdAt);
    const mine = await this.#locks.claim(1);
    const inserted = insertRow(this.#database, { metadata, state }, mine);
    const key = await this.#heart.taking(inserted, () => takeBackOf(this.#database, id, mine.holder));
    if (key === undefined) {
      await this.#tables.look();
      throw await whyNotMade(this.#database, id);
    }
    if (this.#closing) {
      await this.#heart.lettingGo(() => letGoOf(this.#database, key, 1));
      throw storeClosed();
    }
    const counters = { seqs: noCounts(), pos: 0 };
    return this.#locks.hold(scope, { id, key, revision: 0 }, mine.holder, { counters, missing: [] });
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    const row = this.#locks.taken(scope, id)?.row ?? (await this.#find(scope, id));
    return infoOf(row, this.#database.location);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    await this.#alive();
    for await (const row of listRows(this.#database, scope, query)) {
      yield infoOf(row, this.#database.location);
      this.#open();
    }
  }

  lock(scope: Scope, id: string): Promise<Lock> {
    return this.#locks.lock(scope, id);
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#locks.writing(lock);
    const encoded = records.map((record) => encode(this.#prepared(record)));
    return encoded.length === 0 ? [] : this.#writer.write(held, encoded);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const taken = this.#locks.taken(scope, id);
    const row = taken?.row ?? (await this.#find(scope, id));
    const damaged = (span: Recovered): void => this.#damaged.add(id, span);
    const isMine = (): boolean => this.#held.open(id) !== undefined;
    for await (const record of readRecords(this.#database, row, query, { damaged, isMine }, taken?.ends)) {
      yield readRecord(this.#mask, query, record);
      this.#open();
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    const held = this.#locks.writing(lock);
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

  async prepareClose(): Promise<void> {
    this.#database.asker.farewell.begin();
  }

  close(): Promise<void> {
    this.#closing ??= closeRemote(this.#held, this.#heart, this.#database.asker);
    return this.#closing;
  }

  async *#examine(options: ExamineOptions = {}, signal?: AbortSignal): AsyncGenerator<Examined> {
    await this.#alive();
    const { examineDatabase } = await import("./examine.ts");
    yield* examineDatabase({ database: this.#database, time: timestamp(this.#clock) }, options, signal);
  }

  #open(): void {
    if (this.#closing) throw storeClosed();
  }

  async #alive(): Promise<void> {
    this.#open();
    await this.#tables.ready();
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

  async #finish(held: Held, state: SessionState): Promise<void> {
    held.taken = undefined;
    await this.#writer.written(held);
    const hash = await hashOfSession(this.#database, held.key);
    const text = encodeState(state, {}, sealOf(held.counters, hash));
    const { key, revision } = held;
    const { generation } = held.holder;
    const isEnded = await endRow(this.#database, { key, generation, revision }, { text, status: state.status });
    if (!isEnded) throw fenced({ owner: held.holder });
  }

  async #letGo(held: Held): Promise<void> {
    await this.#writer.settled(held);
    await this.#heart.lettingGo(() => letGoOf(this.#database, held.key, held.holder.generation));
  }
}
