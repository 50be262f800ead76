/**
 * The examination of a SQLite store: SQLite's own check, each session's documents, and every line. Nothing is changed
 * unless mending is asked for. Nothing is deleted: rows that are taken out go into the table `aside`.
 */
import { WindrowError } from "../../../errors.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, parseDocument } from "../../format/documents.ts";
import { decodeRecord } from "../../format/record.ts";
import { StateCount } from "../../shared/state-count.ts";
import type { JsonObject } from "../../../message/message.ts";
import { isHeld } from "../../shared/holder.ts";
import type { Holder } from "../../shared/holder.ts";
import { formatVersion } from "../../shared/rules.ts";
import { initialState } from "../../format/documents.ts";
import { makeAside, moveAside, putAside } from "../aside.ts";
import { insertSession, logTables, sessionColumns } from "../tables.ts";
import type { Connection, SqlRow, SqlValue } from "../connection/driver.ts";
import { checkOf, examineLines, examineLosses } from "./lines.ts";
import { find } from "./examination.ts";
import type { DatabaseExamination, ExaminedSession } from "./examination.ts";
import type { Examined, ExamineOptions, Finding, SessionMetadata, SessionState } from "../../store.ts";
import { logNames } from "../../format/logs.ts";

/** Looks at a session that goes and comes back meanwhile. */
const looks = 3;

/**
 * Examines every session, and last the database around them.
 *
 * @throws WindrowError `aborted`, `store-unavailable`
 */
export async function* examineDatabase(
  database: DatabaseExamination,
  { mend = false }: ExamineOptions,
  signal?: AbortSignal,
): AsyncGenerator<Examined> {
  const { connection } = database;
  if (mend) await database.writer.commit(false, () => makeAside(connection));
  // First: lines are found by the indexes, and what a broken one hides is not missing.
  const whole = await examineWhole(database, mend);
  const isReadable = whole.every(({ mended }) => mended);
  const drafts: Finding[] = [];
  for (const id of idsOf(connection)) {
    if (signal?.aborted)
      throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
    for (let look = 1; look <= looks; look += 1) {
      const one = await examineSession(database, id, { mend, isReadable });
      if (one === "moved") continue;
      if (one && "sessionId" in one) yield one;
      else drafts.push(...(one?.findings ?? []));
      break;
    }
  }
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: [...drafts, ...whole] };
}

/**
 * Examines one session.
 *
 * @returns findings alone of what a restore left; undefined where the session is gone; `moved` where it went meanwhile, and
 *   may be there again
 */
async function examineSession(
  database: DatabaseExamination,
  id: string,
  { mend, isReadable }: { readonly mend: boolean; readonly isReadable: boolean },
): Promise<Examined | { readonly findings: readonly Finding[] } | "moved" | undefined> {
  const { connection } = database;
  const row = connection.get(`SELECT ${sessionColumns}, created_at FROM sessions WHERE id = ?`, id);
  // Erased, or put into the trash, since the sessions were listed.
  if (!row && !hasLines(connection, id)) return undefined;
  const holder = holderIn(row);
  const isAtWork = holder !== undefined && isHeld(holder, database.now);
  const check = checkOf(connection, id, row);
  const examined: ExaminedSession = {
    ...{ ...database, id, row, mend: mend && !isAtWork, findings: [], check, inDamage: new Set<string>() },
  };
  const { findings } = examined;
  if (row?.["restoring"] === 1) {
    await examineDraft(examined, row, isAtWork);
    return { findings };
  }
  const logs = await examineLines(examined);
  if (!logs) return "moved";
  if (isReadable) examineLosses(examined);
  await examineRow(examined, row);
  if (holder && !isAtWork) {
    const message = `Its process ${holder.processId} died without letting go. Resume it, or let the monitor end it.`;
    find(examined, { problem: "holder-gone", severity: "notice", message });
  }
  return { sessionId: id, ...logs, findings };
}

/**
 * Writes the columns that sessions are listed by anew, from the documents they are copies of, and SQLite's indexes.
 *
 * @returns how many sessions there are
 */
export async function rebuildColumns({ connection, writer }: DatabaseExamination): Promise<number> {
  return writer.commit(true, () => {
    let count = 0;
    for (const id of idsOf(connection)) {
      const row = connection.get(`SELECT ${sessionColumns}, created_at FROM sessions WHERE id = ?`, id);
      const documents = row && documentsOf(row, id);
      if (documents?.metadata === undefined || documents.state === undefined) continue;
      setColumns(connection, id, copiesOf(documents.metadata, documents.state));
      count += 1;
    }
    connection.exec("REINDEX");
    return count;
  });
}

/** Every session of which there is a row or a line. */
function idsOf(connection: Connection): readonly string[] {
  const tables = logNames.map((log) => `SELECT session_id FROM ${logTables[log].table}`);
  const sql = `SELECT id FROM sessions UNION ${tables.join(" UNION ")} ORDER BY 1`;
  return connection.all(sql).map((row) => String(row["id"]));
}

function hasRow(connection: Connection, id: string): boolean {
  return connection.get("SELECT 1 FROM sessions WHERE id = ?", id) !== undefined;
}

function hasLines(connection: Connection, id: string): boolean {
  return logNames.some((log) => {
    const sql = `SELECT 1 FROM ${logTables[log].table} WHERE session_id = ? LIMIT 1`;
    return connection.get(sql, id) !== undefined;
  });
}

/** The documents, and the columns that are copies of what they say. */
async function examineRow(examined: ExaminedSession, row: SqlRow | undefined): Promise<void> {
  const { connection, writer, id, mend, time } = examined;
  const found = row ? documentsOf(row, id) : {};
  const metadata = found.metadata ?? salvaged(connection, id, row);
  const state = found.state ?? counted(connection, id, metadata);
  const copies = copiesOf(metadata, state);
  if (!row) {
    const texts = [encodeMetadata(metadata), encodeState(state)];
    const makeRow = (): boolean => {
      const isLeft = !hasRow(connection, id) && hasLines(connection, id);
      if (isLeft) connection.run(insertSession, id, ...Object.values(copies), ...texts, 0, null, 0);
      return isLeft;
    };
    const mended = mend && (await writer.commit(true, makeRow));
    const message = "There are lines of a session that has no row, so it cannot be opened. A row is made from them.";
    find(examined, { problem: "metadata-unreadable", file: "sessions", message, mended });
    return;
  }
  const unreadable = [
    ...(found.metadata ? [] : [["metadata", encodeMetadata(metadata)] as const]),
    ...(found.state ? [] : [["state", encodeState(state)] as const]),
  ];
  const isStale = !Object.entries(copies).every(([name, value]) => row[name] === value);
  if (unreadable.length === 0 && !isStale) return;
  const writeAnew = (): boolean => {
    if (!isAsSeen(connection, row)) return false;
    for (const [name, text] of unreadable) {
      connection.run(putAside, time, `sessions.${name}`, null, id, String(row[name]));
      connection.run(`UPDATE sessions SET ${name} = ? WHERE id = ?`, text, id);
    }
    setColumns(connection, id, copies);
    return true;
  };
  const mended = mend && (await writer.commit(true, writeAnew));
  for (const [name] of unreadable) {
    const from =
      name === "metadata" ? "what its other columns say" : "the usage and tool calls, which are counted again";
    const message = `The ${name} cannot be read. It is written anew from ${from}; the old text goes aside.`;
    find(examined, { problem: `${name}-unreadable`, file: "sessions", message, mended });
  }
  if (!isStale) return;
  const message = "The columns it is listed by say something else than its metadata and state. They are copied again.";
  find(examined, { problem: "stale-index", file: "sessions", message, mended });
}

/** Whether a row is as it was read: nobody took the session, wrote it, or made another under its id. Inside a transaction. */
function isAsSeen(connection: Connection, row: SqlRow): boolean {
  const names = ["id", "generation", "holder", "metadata", "state", "restoring"];
  const sql = `SELECT id FROM sessions WHERE ${names.map((name) => `${name} IS ?`).join(" AND ")}`;
  return connection.get(sql, ...names.map((name) => row[name] ?? null)) !== undefined;
}

function documentsOf(row: SqlRow, id: string): { readonly metadata?: SessionMetadata; readonly state?: SessionState } {
  const metadata = decodeMetadata(parseDocument(String(row["metadata"])), id);
  const state = decodeState(parseDocument(String(row["state"])));
  return { ...(metadata && { metadata }), ...(state && { state }) };
}

/** In the order in which a row of `sessions` has them. */
function copiesOf(metadata: SessionMetadata, state: SessionState): Readonly<Record<string, SqlValue>> {
  return {
    // Sessions of earlier versions may have names that columns change.
    tenant: metadata.tenant?.toWellFormed() ?? null,
    user: metadata.user?.toWellFormed() ?? null,
    status: state.status,
    created_at: metadata.createdAt,
    created_ms: Date.parse(metadata.createdAt) || 0,
    format: metadata.format,
  };
}

function setColumns(connection: Connection, id: string, copies: Readonly<Record<string, SqlValue>>): void {
  const names = Object.keys(copies).map((name) => `${name} = ?`);
  connection.run(`UPDATE sessions SET ${names.join(", ")} WHERE id = ?`, ...Object.values(copies), id);
}

function salvaged(connection: Connection, id: string, row: SqlRow | undefined): SessionMetadata {
  const first = connection.get("SELECT timestamp FROM messages WHERE session_id = ? ORDER BY id LIMIT 1", id);
  const createdAt = row?.["created_at"] ?? first?.["timestamp"] ?? new Date(0).toISOString();
  const [user, tenant] = [row?.["user"], row?.["tenant"]];
  return {
    uuid: id,
    taskKey: {},
    createdAt: String(createdAt),
    processId: 0,
    hostname: "",
    config: {},
    ...(typeof user === "string" ? { user } : {}),
    ...(typeof tenant === "string" ? { tenant } : {}),
    format: typeof row?.["format"] === "number" ? row["format"] : formatVersion,
  };
}

function counted(connection: Connection, id: string, metadata: SessionMetadata): SessionState {
  const count = new StateCount(metadata.createdAt);
  for (const [table, kind] of [
    ["usage", "usage"] as const,
    ["tool_calls", "tool"] as const,
    ["edits", "edit"] as const,
  ]) {
    const sql = `SELECT line FROM ${table} WHERE session_id = ? AND json_valid(line) ORDER BY id`;
    for (const { line } of connection.all(sql, id)) {
      const record = decodeRecord(kind, JSON.parse(String(line)) as JsonObject);
      if (record.kind === "usage" || record.kind === "tool" || record.kind === "edit") count.take(record);
    }
  }
  return {
    ...initialState(metadata.createdAt),
    ...count.numbers,
    status: "processing",
    lastActivity: "state_rebuilt",
  };
}

/** Examines the rows that a restore left when it was cut short. */
async function examineDraft(examined: ExaminedSession, row: SqlRow, isAtWork: boolean): Promise<void> {
  const { connection, writer, id, mend, time } = examined;
  const takeOut = (): boolean => {
    const isLeft = isAsSeen(connection, row);
    if (isLeft) moveAside(connection, id, time);
    return isLeft;
  };
  const mended = mend && (await writer.commit(true, takeOut));
  const message = "The beginning of a session that a restore left when it was cut short. It goes aside.";
  find(examined, {
    problem: "draft",
    severity: isAtWork ? "notice" : "damage",
    file: "sessions",
    message,
    mended,
  });
}

/** SQLite's own check of every page and index. */
async function examineWhole({ connection, writer }: DatabaseExamination, mend: boolean): Promise<readonly Finding[]> {
  const faults = (): readonly string[] =>
    connection
      .all("PRAGMA integrity_check(100)")
      .map((row) => String(row["integrity_check"]))
      .filter((result) => result !== "ok");
  const found = faults();
  if (found.length === 0) return [];
  if (mend) await writer.commit(true, () => connection.exec("REINDEX"));
  const left = mend ? faults() : found;
  return found.map((fault) => ({
    problem: "database-damaged",
    severity: "damage",
    message: `SQLite finds a fault: ${fault}. Indexes are made anew; for more, restore a copy.`,
    mended: !left.includes(fault),
  }));
}

function holderIn(row: SqlRow | undefined): Holder | undefined {
  const text = row?.["holder"];
  return typeof text === "string" ? (parseDocument(text) as unknown as Holder | undefined) : undefined;
}
