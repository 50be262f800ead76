/**
 * The SQLite store: every session in one database file, every record as the line a file store would write
 * (docs/format.md), with columns for what one asks for. Many processes can use it at once; each session has one writer,
 * and what that one writes is checked against its generation in the same transaction.
 */
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { encodeMetadata, encodeState } from "../format/documents.ts";
import { heartbeatMs, isHeld, newTaker, ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import {
  durableCapabilities,
  cannotStore,
  prepareMetadata,
  prepareRecord,
  prepareState,
  readRecord,
} from "../shared/prepare.ts";
import { checkQuery, finished, formatVersion, inScope } from "../shared/rules.ts";
import { initialState } from "../format/documents.ts";
import { isFinal, newerFormat, notFound, sessionId, storeClosed } from "../shared/rules.ts";
import { busy, unlockEdit } from "../shared/unlock.ts";
import type { Connection } from "./connection/driver.ts";
import { checkFence, isHolder, takeRow, takingOf, writeState } from "./held.ts";
import type { Held, Taken } from "./held.ts";
import { keepRecounted } from "./recount.ts";
import { addRecord, encode, newestOf, readCounters, recordOf, rowsOf } from "./log.ts";
import { countersOf, sealOfSession } from "./seal.ts";
import type { Continued } from "./seal.ts";
import type { Counters } from "./log.ts";
import { freeId } from "./erasing.ts";
import { findRow, holdingOf, infoOf, insertRow, listRows } from "./session.ts";
import type { SessionRow } from "./session.ts";
import type { DatabaseExamination } from "./examine/examination.ts";
import { checkSqliteOptions } from "./options.ts";
import type { SharedOptions, SqliteStoreOptions } from "./options.ts";
import type { DatabaseClass } from "./connection/read-only.ts";
import { adoptDatabase, openDatabase } from "./connection/open-databases.ts";
import type { DatabaseShare } from "./connection/open-databases.ts";
import { dumpSession, restoreSession } from "./transfer.ts";
import { Writer } from "./connection/writer.ts";
import type { ExamineOptions, Examined, FinalStatus, Holding, ListQuery } from "../store.ts";
import type { Lock, NewSession } from "../store.ts";
import type { ReadQuery, Recovered, Scope, SessionInfo, SessionState, UnlockOptions } from "../store.ts";
import type { Store, StoreCapabilities, StoreCheckup, StoreHolding, StoreTransfer } from "../store.ts";
import { kindLogs } from "../format/logs.ts";
import { sqliteUpkeep } from "./upkeep.ts";
import type { Upkeep } from "../upkeep.ts";

export type { SqliteStoreOptions } from "./options.ts";

/**
 * Opens a SQLite store on a database that the caller brings.
 *
 * @throws WindrowError `bad-option`; `store-foreign` for a database of another program; `store-corrupt` for a damaged
 *   one; `format-newer` for tables of a newer version; `store-unavailable` where it cannot be written
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  checkSqliteOptions(options);
  return new SqliteStore(adoptDatabase(options.database, options.checked ?? true), options);
}

/**
 * Opens a SQLite store on a file, with the connection that this process has to it, or a new one.
 *
 * @throws WindrowError as {@link sqliteStore}
 */
export async function sqliteFileStore(path: string, driver: DatabaseClass, options: SharedOptions): Promise<Store> {
  checkSqliteOptions(options);
  return new SqliteStore(await openDatabase(path, driver, options.checked ?? true), options);
}

class SqliteStore implements Store {
  readonly name = "sqlite";
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holdingOf(this.#find(scope, id), this.#clock.now()),
    unlock: async (scope, id, options = {}) => this.#unlock(scope, id, options),
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options, signal),
    rebuildIndex: async () => {
      this.#alive();
      return (await import("./examine/examine.ts")).rebuildColumns(this.#examination());
    },
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => {
      this.#find(scope, id);
      return dumpSession(this.#connection, id);
    },
    restore: async (scope, dump, signal) => {
      this.#alive();
      const holder = this.#newHolder(1);
      const now = (): number => this.#clock.now();
      const target = { connection: this.#connection, writer: this.#writer, mask: this.#mask, holder, now };
      return restoreSession(target, scope, dump, signal);
    },
  };
  readonly upkeep: Upkeep;
  readonly #share: DatabaseShare;
  readonly #connection: Connection;
  readonly #file: string;
  readonly #writer: Writer;
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #held = new HeldSessions<Held>(
    () => this.#alive(),
    (held) => this.#letGo(held),
  );
  readonly #damaged = new DamageList();
  #closing: Promise<void> | undefined;

  constructor(share: DatabaseShare, options: SharedOptions) {
    const { connection, file } = share;
    this.#share = share;
    this.#connection = connection;
    this.#file = file;
    this.#writer = new Writer(share);
    this.#mask = options.mask ?? createMask();
    this.capabilities = durableCapabilities(this.#mask);
    this.#clock = options.clock ?? systemClock;
    this.upkeep = sqliteUpkeep({
      ...{ connection, file, writer: this.#writer, mask: this.#mask, clock: this.#clock },
      find: (scope, id) => this.#find(scope, id),
      alive: () => this.#alive(),
    });
  }

  async create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#alive();
    const id = sessionId(session.uuid);
    const metadata = prepareMetadata(this.#mask, scope, session);
    const state = initialState(session.createdAt);
    const holder = this.#newHolder(1);
    await this.#writer.commit(true, () => {
      freeId(this.#connection, metadata, this.#clock.now());
      const texts = { metadata: encodeMetadata(metadata), state: encodeState(state) };
      insertRow(this.#connection, { metadata, state, holder, restoring: false }, texts);
    });
    return this.#hold(scope, id, holder, { counters: readCounters(this.#connection, id), missing: [] });
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    return infoOf(this.#find(scope, id), this.#file);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    this.#alive();
    for (const row of listRows(this.#connection, scope, query)) {
      yield infoOf(row, this.#file);
      this.#alive();
    }
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    this.#alive();
    sessionId(id);
    const taken = await this.#writer.commit(true, () => {
      const row = this.#writable(scope, id);
      if (row.holder && isHeld(row.holder, this.#clock.now())) throw busy(ownerOf(row.holder));
      return takeRow(this.#connection, row, this.#newHolder(row.generation + 1));
    });
    return this.#goOn(scope, taken);
  }

  async #goOn(scope: Scope, { row, holder, continued }: Taken): Promise<Lock> {
    const lock = this.#hold(scope, row.id, holder, continued);
    // Who let go of a session wrote its state last; of a writer that died or was passed over, the lines may say more.
    if (row.holder) await keepRecounted(this.#connection, row, this, lock);
    return lock;
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#held.writable(lock);
    const encoded = records.map((record) => encode(this.#prepared(record)));
    if (encoded.length === 0) return [];
    let before: Counters | undefined;
    return this.#writer.commit(
      true,
      () => {
        checkFence(this.#connection, held);
        before = { pos: held.counters.pos, seqs: { ...held.counters.seqs } };
        return encoded.map((one) => addRecord(this.#connection, held.id, held.counters, one));
      },
      () => before && Object.assign(held.counters, before),
    );
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const session = this.#find(scope, id);
    const log = kindLogs[query.kind];
    const newest = newestOf(this.#connection, id, log);
    for await (const row of rowsOf(this.#connection, session, log, newest, query)) {
      const record = recordOf(query.kind, row.line);
      if (record) yield readRecord(this.#mask, query, record as StoredRecordOf<K>);
      else
        this.#damaged.add(id, {
          file: log,
          offset: row.id,
          length: row.line.length,
          problem: "damaged",
          quarantine: "",
        });
      this.#alive();
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    const held = this.#held.writable(lock);
    const prepared = prepareState(this.#mask, state);
    const row = this.#connection.get("SELECT status FROM sessions WHERE id = ?", held.id);
    const changed = row?.["status"] !== prepared.status;
    await this.#writer.commit(changed, () => {
      checkFence(this.#connection, held);
      writeState(this.#connection, held, prepared);
    });
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    const prepared = prepareState(this.#mask, state);
    await this.#held.finish(lock, (held) => this.#finish(held, prepared));
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    const { missing } = countersOf(this.#connection, id, this.#find(scope, id).texts.state);
    return [...this.#damaged.of(id), ...missing];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    this.#alive();
    const { found, taken } = await this.#writer.commit(true, () => {
      const row = this.#writable(scope, id);
      const found = holdingOf(row, this.#clock.now());
      const edit = unlockEdit(id, found, options, timestamp(this.#clock));
      if (found.state === "none") return { found };
      const encoded = edit && encode(this.#prepared(edit));
      const taken = takeRow(this.#connection, row, this.#newHolder(row.generation + 1));
      if (encoded) addRecord(this.#connection, id, taken.continued.counters, encoded);
      return { found, taken };
    });
    if (taken) await (await this.#goOn(scope, taken)).release();
    return found;
  }

  async *#examine(options: ExamineOptions = {}, signal?: AbortSignal): AsyncGenerator<Examined> {
    this.#alive();
    yield* (await import("./examine/examine.ts")).examineDatabase(this.#examination(), options, signal);
  }

  async #close(): Promise<void> {
    try {
      await this.#held.releaseAll();
    } finally {
      await this.#writer.settled();
      this.#share.release();
    }
  }

  #alive(): void {
    if (this.#closing) throw storeClosed();
    this.#share.check();
  }

  #prepared(record: NewRecord): NewRecord {
    try {
      return prepareRecord(this.#mask, record);
    } catch (error) {
      throw cannotStore(record.kind, error);
    }
  }

  #find(scope: Scope, id: string): SessionRow {
    this.#alive();
    const row = findRow(this.#connection, sessionId(id));
    if (!row || row.restoring || !inScope(scope, row.metadata)) throw notFound(id);
    return row;
  }

  /** A session that is not finished, and of a format that this version writes. */
  #writable(scope: Scope, id: string): SessionRow {
    const row = this.#find(scope, id);
    if (row.format > formatVersion) throw newerFormat(id, row.format);
    if (isFinal(row.state.status)) throw finished(id);
    return row;
  }

  #examination(): DatabaseExamination {
    const now = this.#clock.now();
    return { connection: this.#connection, writer: this.#writer, time: timestamp(this.#clock), now };
  }

  #newHolder(generation: number): Taker {
    return newTaker(generation, timestamp(this.#clock));
  }

  #hold(scope: Scope, id: string, holder: Taker, { counters, missing }: Continued): Lock {
    const stopHeartbeat = this.#clock.every(heartbeatMs, () => void this.#heartbeat(held).catch(() => undefined));
    const held: Held = { id, holder, stopHeartbeat, counters };
    return this.#held.add({ id, scope, recovery: missing, owner: () => ownerOf(held.holder) }, held);
  }

  /** Says that the holder lives. It is not worth a sync, and a holder that was passed over says nothing. */
  async #heartbeat(held: Held): Promise<void> {
    if (this.#held.open(held.id) !== held) return;
    const holder = { ...held.holder, heartbeatAt: timestamp(this.#clock) };
    await this.#writer.commit(false, () => {
      const sql = `UPDATE sessions SET holder = ? WHERE ${isHolder}`;
      this.#connection.run(sql, JSON.stringify(holder), ...takingOf(held.id, holder));
    });
    held.holder = holder;
  }

  async #finish(held: Held, state: SessionState): Promise<void> {
    await this.#writer.settled();
    const hash = await sealOfSession(this.#connection, held.id);
    await this.#writer.commit(true, () => {
      checkFence(this.#connection, held);
      writeState(this.#connection, held, state, hash);
      this.#connection.run("UPDATE sessions SET holder = NULL WHERE id = ?", held.id);
    });
    held.stopHeartbeat();
  }

  async #letGo(held: Held): Promise<void> {
    held.stopHeartbeat();
    await this.#writer.commit(false, () => {
      const sql = `UPDATE sessions SET holder = NULL WHERE ${isHolder}`;
      this.#connection.run(sql, ...takingOf(held.id, held.holder));
    });
  }
}
