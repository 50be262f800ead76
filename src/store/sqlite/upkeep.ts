/**
 * The upkeep of a SQLite store: marks, a trash of its own tables, and erasing down to the pages of the file. The tables
 * are made when they are first written to.
 */
import { isWindrowError } from "../../errors.ts";
import { maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { decodeMetadata, decodeState, parseDocument } from "../format/documents.ts";
import { parseLine } from "../format/lines.ts";
import { isHeld, ownerOf } from "../shared/holder.ts";
import type { Holder } from "../shared/holder.ts";
import { busy } from "../shared/unlock.ts";
import { inScope, isFinal, notFound, ownerNamed, sessionId } from "../shared/rules.ts";
import { reachOf } from "../shared/reach.ts";
import type { Scope } from "../scope.ts";
import { makeAside, moveAside } from "./aside.ts";
import { isNotedOf, linesOf, mayErase, removeRows, wipe } from "./erase.ts";
import { forgetErasing, freeId, hasNotes, hasTable, makeNotes, noteErasing, trashRow } from "./erasing.ts";
import { columnValues, deleteLines, insertLine, logTables } from "./tables.ts";
import type { Connection, SqlRow } from "./connection/driver.ts";
import { insertRow } from "./session.ts";
import type { SessionRow } from "./session.ts";
import type { Writer } from "./connection/writer.ts";
import type { LogName } from "../store.ts";
import { logNames } from "../format/logs.ts";
import { inTrash, isKept, notFinished, notInTrash } from "../upkeep.ts";
import type { KeepMark, Upkeep } from "../upkeep.ts";

const tables = `
CREATE TABLE IF NOT EXISTS kept (session_id TEXT PRIMARY KEY, mark TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trash (
  session_id TEXT PRIMARY KEY, trashed_at TEXT NOT NULL, metadata TEXT NOT NULL, state TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS trash_lines (
  id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, log TEXT NOT NULL, seq INTEGER NOT NULL, pos INTEGER NOT NULL,
  line TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS trash_lines_by_session ON trash_lines (session_id, id);
`;

/** Lines that are brought back at once. */
const pageLines = 256;

/** The database, the store and the clock of its upkeep. */
export interface SqliteUpkeep {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly file: string;
  readonly mask: Mask;
  readonly clock: Clock;
  /** A session of the scope, or `session-not-found`; `closed` once the store is. */
  readonly find: (scope: Scope, id: string) => SessionRow;
  readonly alive: () => void;
}

/** Makes the upkeep of a SQLite store. */
export function sqliteUpkeep(database: SqliteUpkeep): Upkeep {
  const { connection, writer, mask, clock, find, alive } = database;
  const has = (table: string): boolean => hasTable(connection, table);
  const makeTables = (): void => {
    connection.exec(tables);
    // Another process may have been here first.
    if (!hasNotes(connection)) makeNotes(connection);
  };
  const change = async <T>(work: () => T): Promise<T> => {
    alive();
    if (!hasNotes(connection)) await writer.commit(true, makeTables);
    return writer.commit(true, work);
  };
  /** A mark that outlived its session keeps nothing. */
  const markOf = (id: string): KeepMark | undefined => {
    const sql =
      "SELECT mark FROM kept WHERE session_id = ? AND EXISTS (SELECT 1 FROM sessions WHERE id = session_id AND restoring = 0)";
    const row = has("kept") ? connection.get(sql, id) : undefined;
    return row && (parseDocument(String(row["mark"])) as unknown as KeepMark);
  };
  /** Refuses what is not the scope's; a row that cannot be read is the one's that its columns name. */
  const checkOwned = (scope: Scope, id: string): void => {
    try {
      find(scope, id);
    } catch (error) {
      const row = connection.get("SELECT tenant, user FROM sessions WHERE id = ?", id);
      if (!isWindrowError(error, "store-corrupt") || !row || !isNotedOf(scope, row)) throw error;
    }
  };
  return {
    async size(scope, id) {
      find(scope, id);
      const bytes = logNames.reduce((sum, log) => sum + linesOf(connection, logTables[log].table, id).bytes, 0);
      return { bytes, plainBytes: bytes, compressed: false };
    },
    async keep(scope, id, mark) {
      find(scope, id);
      const text = JSON.stringify(maskJson(mask, { ...mark } as unknown as JsonObject));
      await change(() => {
        find(scope, id);
        connection.run("INSERT OR REPLACE INTO kept (session_id, mark) VALUES (?, ?)", id, text);
      });
    },
    async unkeep(scope, id) {
      find(scope, id);
      if (markOf(id) === undefined) return false;
      return change(() => {
        find(scope, id);
        const was = markOf(id) !== undefined;
        connection.run("DELETE FROM kept WHERE session_id = ?", id);
        return was;
      });
    },
    async kept(scope, id) {
      return connection.snapshot(() => {
        checkOwned(scope, id);
        return markOf(id);
      });
    },
    async trash(scope, ids, time) {
      await change(() => {
        const known = [...new Set(ids)];
        for (const id of known) {
          const row = find(scope, id);
          if (!isFinal(row.state.status)) throw notFinished(id);
          if (markOf(id)) throw isKept(id);
          if (trashRow(connection, id)) throw inTrash(id);
        }
        for (const id of known) moveToTrash(connection, find(scope, id), time);
      });
    },
    async *trashed(scope, one) {
      alive();
      if (!has("trash")) return;
      const rows =
        one === undefined
          ? connection.all("SELECT * FROM trash")
          : connection.all("SELECT * FROM trash WHERE session_id = ?", sessionId(one));
      for (const row of rows) {
        const id = String(row["session_id"]);
        const trashedAt = String(row["trashed_at"]);
        // One that cannot be read is an operator's, and goes in time as any other.
        const metadata = decodeMetadata(parseDocument(String(row["metadata"])), id);
        if (!inScope(scope, metadata ?? {})) continue;
        const { user, createdAt = trashedAt } = metadata ?? {};
        const { bytes } = linesOf(connection, "trash_lines", id);
        yield { sessionId: id, trashedAt, ...(user !== undefined && { user }), createdAt, bytes };
      }
    },
    async untrash(scope, id) {
      sessionId(id);
      await change(() => moveFromTrash(database, scope, id));
    },
    async putAside(scope, id) {
      alive();
      sessionId(id);
      const time = timestamp(clock);
      return change(() => {
        const row = connection.get("SELECT tenant, user, holder, metadata FROM sessions WHERE id = ?", id);
        const metadata = row && decodeMetadata(parseDocument(String(row["metadata"])), id);
        if (!row || !(metadata ? inScope(scope, metadata) : isNotedOf(scope, row))) throw notFound(id);
        const holder = parseDocument(String(row["holder"])) as unknown as Holder | undefined;
        if (holder && isHeld(holder, clock.now())) throw busy(ownerOf(holder));
        makeAside(connection);
        moveAside(connection, id, time);
        return `table aside, time ${time}`;
      });
    },
    async erase(scope, ids, elsewhere = async () => [], limits = {}) {
      alive();
      const known = [...new Set(ids.map(sessionId))];
      if (known.length === 0) return [];
      const reach = { scope, ...limits };
      const places = await change(() => {
        const found = known.map((id) => mayErase(database, reachOf(reach, id), id, markOf(id) !== undefined));
        for (const { id, owners } of found) for (const owner of owners) noteErasing(connection, id, owner);
        return new Map(found.map((one) => [one.id, removeRows(connection, one)]));
      });
      const others = [...(await elsewhere(known)), wipe(database)];
      await change(() => {
        for (const id of known) forgetErasing(connection, reachOf(reach, id), id);
      });
      return known.map((id) => ({ sessionId: id, places: [...places.get(id)!, ...others] }));
    },
    async unerased(scope) {
      alive();
      if (!has("erasing")) return [];
      const rows = connection.all("SELECT * FROM erasing");
      const own = rows.filter((row) => isNotedOf(scope, row));
      return own.map((row) => ({ ...ownerNamed(row), sessionId: String(row["session_id"]) }));
    },
  };
}

function moveToTrash(connection: Connection, row: SessionRow, time: string): void {
  const { id, texts } = row;
  const sql = "INSERT INTO trash (session_id, trashed_at, metadata, state) VALUES (?, ?, ?, ?)";
  connection.run(sql, id, time, texts.metadata, texts.state);
  for (const log of logNames) {
    const { table } = logTables[log];
    const copy = `INSERT INTO trash_lines (session_id, log, seq, pos, line) SELECT session_id, '${log}', seq, pos, line`;
    connection.run(`${copy} FROM ${table} WHERE session_id = ? ORDER BY id`, id);
    connection.run(deleteLines[log], id);
  }
  connection.run("DELETE FROM sessions WHERE id = ?", id);
}

function moveFromTrash({ connection, clock }: SqliteUpkeep, scope: Scope, id: string): void {
  const row = trashRow(connection, id);
  const texts = { metadata: String(row?.["metadata"]), state: String(row?.["state"]) };
  const metadata = decodeMetadata(parseDocument(texts.metadata), id);
  const state = decodeState(parseDocument(texts.state));
  if (!metadata || !state || !inScope(scope, metadata)) throw notInTrash(id);
  freeId(connection, metadata, clock.now(), true);
  insertRow(connection, { metadata, state, restoring: false }, texts);
  const sql = `SELECT id, log, seq, pos, line FROM trash_lines WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${pageLines}`;
  for (let page = connection.all(sql, id, 0); page.length > 0; page = connection.all(sql, id, lastId(page))) {
    for (const { log, seq, pos, line } of page) {
      const name = String(log) as LogName;
      const [fields = {}] = parseLine(Buffer.from(String(line))).objects;
      connection.run(insertLine[name], id, seq ?? 0, pos ?? 0, ...columnValues(name, fields), String(line));
    }
  }
  connection.run("DELETE FROM trash_lines WHERE session_id = ?", id);
  connection.run("DELETE FROM trash WHERE session_id = ?", id);
}

function lastId(page: readonly SqlRow[]): number {
  return Number(page.at(-1)?.["id"] ?? 0);
}
