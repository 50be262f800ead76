/** An engine over a SQLite database: a row for each session, and a row for each line (docs/format.md). */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine, Head, HeadsQuery, Listing, NewHead, Page, PageQuery, PlacedLine, Step } from "../engine.ts";
import { logNames } from "../format/logs.ts";
import type { Clock } from "../shared/clock.ts";
import { countersOf, headOfRow } from "../shared/head-row.ts";
import type { Taker } from "../shared/holder.ts";
import { storeClosed } from "../shared/rules.ts";
import type { Finding, LogName } from "../store.ts";
import type { ErasedPlace } from "../upkeep.ts";
import { sqliteFailure } from "./connection/driver.ts";
import type { Connection, SqlRow, SqlValue } from "./connection/driver.ts";
import type { DatabaseShare } from "./connection/open-databases.ts";
import { countOrphans, logStatements } from "./tables.ts";

/** How long calls may follow each other before other work of the process gets its turn, in milliseconds. */
const patienceMs = 10;

/** Makes an engine over this process's share in a database. */
export function sqliteEngine(share: DatabaseShare, clock: Clock): Engine {
  return new SqliteEngine(share, clock);
}

class SqliteEngine implements Engine {
  readonly name = "sqlite";
  readonly survives = "power";
  readonly isShared = true;
  readonly #share: DatabaseShare;
  readonly #clock: Clock;
  #turnAt = performance.now();
  #isClosed = false;

  constructor(share: DatabaseShare, clock: Clock) {
    this.#share = share;
    this.#clock = clock;
  }

  /** @throws WindrowError `closed` once the engine is */
  get #connection(): Connection {
    if (this.#isClosed) throw storeClosed();
    return this.#share.connection;
  }

  locationOf(id: string): string {
    return `sqlite:${this.#share.file}#${id}`;
  }

  check(): void {
    this.#share.check();
  }

  make({ id, documents, listing, revision, holder }: NewHead): Promise<number | undefined> {
    return this.#write(true, () => {
      if (this.#rowOf(id)) return undefined;
      const numbers = { made: revision, revision, origin: revision };
      const row = { id, ...documents, ...numbers, ...listedColumns(listing), ...heldColumns(holder) };
      const places = Object.keys(row).map(() => "?");
      const sql = `INSERT INTO sessions (${Object.keys(row).join(", ")}) VALUES (${places.join(", ")})`;
      this.#connection.run(sql, ...Object.values(row));
      return revision;
    });
  }

  head(id: string): Promise<Head | undefined> {
    return this.#read(() => {
      const row = this.#rowOf(id);
      return row && this.#headOf(row);
    });
  }

  heads({ scope, status, isHidden, asideOf, after, most }: HeadsQuery): Promise<readonly Head[]> {
    const conditions = ["TRUE"];
    const values: SqlValue[] = [];
    const where = (condition: string, ...more: readonly SqlValue[]): void => {
      conditions.push(condition);
      values.push(...more);
    };
    if (isHidden !== undefined) where("hidden = ?", Number(isHidden));
    if (asideOf !== undefined) where("aside_of = ?", asideOf);
    if (scope) where("tenant IS ?", scope.tenant ?? null);
    if (scope?.user !== undefined) where("user = ?", scope.user);
    if (status !== undefined) where("status = ?", status);
    if (after) where("created_ms <= ? AND (created_ms < ? OR id > ?)", after.createdMs, after.createdMs, after.id);
    const sql = `SELECT * FROM sessions WHERE ${conditions.join(" AND ")} ORDER BY created_ms DESC, id LIMIT ?`;
    return this.#read(() => this.#connection.all(sql, ...values, most).map((row) => this.#headOf(row)));
  }

  numbers(id: string) {
    const newest = (log: LogName) => [log, this.#connection.get(logStatements[log].last, id)] as const;
    return this.#read(() => countersOf(logNames.map(newest)));
  }

  page(id: string, log: LogName, query: PageQuery): Promise<Page> {
    const page = (): Page => {
      const row = this.#connection.get("SELECT origin FROM sessions WHERE id = ? AND hidden = 0", id);
      if (!row) return { origin: undefined, newest: 0, lines: [] };
      const newest = Number(this.#connection.get(logStatements[log].last, id)?.["seq"] ?? 0);
      return { origin: Number(row["origin"]), newest, lines: this.#lines(id, log, query) };
    };
    return this.#read(() => this.#connection.snapshot(page));
  }

  #lines(id: string, log: LogName, { from, to, last, after, most }: PageQuery): readonly PlacedLine[] {
    const { fromEnd, after: behind } = logStatements[log];
    const first = last === undefined ? undefined : this.#connection.get(fromEnd, id, from, to, last - 1);
    const start = after ?? { seq: Number(first?.["seq"] ?? from), row: Number(first?.["id"] ?? 0) - 1 };
    const rows = this.#connection.all(behind, id, start.seq, start.row, to, most);
    return rows.map((row) => ({ seq: Number(row["seq"]), row: Number(row["id"]), line: String(row["line"]) }));
  }

  size(id: string) {
    return this.#read(() => {
      const row = this.#rowOf(id);
      const texts = ["metadata", "state", "mark"]
        .map((name) => String(row?.[name] ?? ""))
        .filter((text) => text !== "");
      const size = { count: texts.length, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
      for (const log of logNames) {
        const found = this.#connection.get(logStatements[log].size, id);
        size.count += Number(found?.["count"] ?? 0);
        size.bytes += Number(found?.["bytes"] ?? 0);
      }
      return size;
    });
  }

  async commit(steps: readonly Step[]): Promise<readonly boolean[]> {
    const isDurable = steps.some((step) => step.isDurable);
    return this.#write(isDurable, () => steps.map((step) => this.#make(step)));
  }

  #make({ id, at, isEmptied = false, lines = [], documents = {}, listing, to, holder }: Step): boolean {
    const changed: Columns = {
      revision: at + 1,
      ...documents,
      ...(isEmptied && { origin: at + 1 }),
      ...(listing && listedColumns(listing)),
      ...(to !== undefined && { id: to }),
      ...(holder !== undefined && heldColumns(holder)),
    };
    const sets = Object.keys(changed).map((name) => `${name} = ?`);
    const sql = `UPDATE sessions SET ${sets.join(", ")} WHERE id = ? AND revision = ? RETURNING id`;
    if (!this.#connection.get(sql, ...Object.values(changed), id, at)) return false;
    if (isEmptied) this.#removeLines(id);
    for (const { log, seq, pos, line } of lines) this.#connection.run(logStatements[log].insert, id, seq, pos, line);
    if (to !== undefined) for (const log of logNames) this.#connection.run(logStatements[log].rename, to, id);
    return true;
  }

  /** What is removed is overwritten in the file, and goes out of the write-ahead log unless somebody reads it just now. */
  async remove(id: string, at: number): Promise<boolean> {
    try {
      return await this.#write(true, () => {
        const sql = "DELETE FROM sessions WHERE id = ? AND revision = ? RETURNING id";
        const isMade = this.#connection.get(sql, id, at) !== undefined;
        if (isMade) this.#removeLines(id);
        return isMade;
      });
    } finally {
      await this.#read(() => this.#connection.pragma("wal_checkpoint(TRUNCATE)"));
    }
  }

  async beat(holders: readonly { readonly id: string; readonly taking: string }[], time: string): Promise<void> {
    const sql = "UPDATE sessions SET heartbeat_at = ? WHERE id = ? AND instr(holder, ?) > 0";
    await this.#write(false, () => {
      for (const { id, taking } of holders) this.#connection.run(sql, time, id, JSON.stringify(taking));
    });
  }

  /** Writes the file anew without what was removed, and empties the write-ahead log, which has it too. */
  async scrub(): Promise<ErasedPlace> {
    const { file } = this.#share;
    const before = this.#pages();
    try {
      this.#connection.exec("VACUUM");
    } catch (error) {
      throw sqliteFailure(error, "Writing the database anew", file);
    }
    if (this.#connection.pragma("wal_checkpoint(TRUNCATE)") !== 0) {
      const busy = new Error("another process reads it, and its write-ahead log still holds what was erased");
      throw sqliteFailure(busy, "Writing the database anew", file);
    }
    const after = this.#pages();
    const bytes = Math.max(0, before.bytes - after.bytes);
    return { kind: "free-space", place: "pages and write-ahead log", count: before.count - after.count, bytes };
  }

  /** SQLite's own check of every page and index, and lines of no session. */
  examine(mend: boolean): Promise<readonly Finding[]> {
    return this.#read(() => this.#examined(mend));
  }

  #examined(mend: boolean): readonly Finding[] {
    const faults = (): readonly string[] =>
      this.#connection
        .all("PRAGMA integrity_check(100)")
        .map((row) => String(row["integrity_check"]))
        .filter((result) => result !== "ok");
    const found = faults();
    if (mend && found.length > 0) this.#share.write(true, () => this.#connection.exec("REINDEX"));
    const left = new Set(mend && found.length > 0 ? faults() : found);
    const advice = "Indexes are made anew; for more, restore a copy.";
    const findings = found.map((fault) => damaged(`SQLite finds a fault: ${fault}. ${advice}`, !left.has(fault)));
    const orphans = this.#connection.all(countOrphans).reduce((sum, { count }) => sum + Number(count), 0);
    if (orphans === 0) return findings;
    return [...findings, damaged(`${orphans} lines belong to sessions that are not there. Restore a copy.`, false)];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#share.release();
  }

  async #write<T>(isDurable: boolean, work: () => T): Promise<T> {
    const done = this.#share.write(isDurable, work);
    await this.#turn();
    return done;
  }

  /** @throws WindrowError `store-corrupt`, `store-unavailable` */
  async #read<T>(work: () => T): Promise<T> {
    try {
      const found = work();
      await this.#turn();
      return found;
    } catch (error) {
      throw sqliteFailure(error, "Reading", this.#share.file);
    }
  }

  /** Nothing here waits, so that other work of the process needs its turn now and then. */
  async #turn(): Promise<void> {
    if (performance.now() - this.#turnAt > patienceMs) {
      await nextTurn();
      this.#turnAt = performance.now();
    }
  }

  #rowOf(id: string): SqlRow | undefined {
    return this.#connection.get("SELECT * FROM sessions WHERE id = ?", id);
  }

  #headOf(row: SqlRow): Head {
    const heartbeatAt = String(row["heartbeat_at"]);
    return headOfRow(row, heartbeatAt, this.#clock.now() - Date.parse(heartbeatAt));
  }

  #removeLines(id: string): void {
    for (const log of logNames) this.#connection.run(logStatements[log].remove, id);
  }

  #pages(): { readonly count: number; readonly bytes: number } {
    const count = Number(this.#connection.pragma("page_count"));
    return { count, bytes: count * Number(this.#connection.pragma("page_size")) };
  }
}

/** Columns of a session, to be written. */
type Columns = Readonly<Record<string, SqlValue>>;

function listedColumns({ tenant, user, status, createdMs, isHidden, asideOf }: Listing): Columns {
  const owner = { tenant: tenant ?? null, user: user ?? null };
  return { ...owner, status, created_ms: createdMs, hidden: Number(isHidden), aside_of: asideOf ?? null };
}

function heldColumns(holder: Taker | null): Columns {
  if (!holder) return { holder };
  const { generation, heartbeatAt } = holder;
  return { holder: JSON.stringify(holder), generation, heartbeat_at: heartbeatAt };
}

function damaged(message: string, mended: boolean): Finding {
  return { problem: "database-damaged", severity: "damage", message, mended };
}
