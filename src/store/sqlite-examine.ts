/**
 * A store in a database, examined: SQLite's own check, each session's documents, and every line. Nothing is changed unless
 * mending was asked for; nothing is ever deleted: what is taken out goes into the table `aside`.
 */
import { WindrowError } from "../errors.ts";
import type { JsonObject } from "../message/message.ts";
import { decodeRecord } from "./files/codec.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, parseDocument } from "./files/documents.ts";
import { BadLine } from "./files/fields.ts";
import { parseLine } from "./files/jsonl.ts";
import { isHeld } from "./holder.ts";
import type { Holder } from "./holder.ts";
import { formatVersion, initialState } from "./rules.ts";
import { columnValues, deleteLines, insertSession, logTables, sessionColumns } from "./sql.ts";
import type { Connection, SqlRow, SqlValue } from "./sqlite-driver.ts";
import type { Writer } from "./sqlite-writer.ts";
import type { Examined, ExamineOptions, Finding, LogName, SessionMetadata, SessionState } from "./store.ts";
import { logKinds, logNames } from "./transfer.ts";

/** Lines read at once. */
const pageLines = 16;

/** What is examined, and how. */
export interface DatabaseExamination {
  readonly connection: Connection;
  readonly writer: Writer;
  /** For the table `aside`: when this examination began. */
  readonly time: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One session under examination. */
interface Patient extends DatabaseExamination {
  readonly id: string;
  readonly mend: boolean;
  readonly findings: Finding[];
}

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
  if (mend) await database.writer.commit(false, () => connection.exec(asideSchema));
  const drafts: Finding[] = [];
  for (const id of idsOf(connection)) {
    if (signal?.aborted)
      throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
    const row = connection.get(`SELECT ${sessionColumns}, created_at FROM sessions WHERE id = ?`, id);
    const holder = holderIn(row);
    const isAtWork = holder !== undefined && isHeld(holder, database.now);
    const patient: Patient = { ...database, id, mend: mend && !isAtWork, findings: [] };
    if (row?.["restoring"] === 1) {
      await examineDraft(patient, isAtWork);
      drafts.push(...patient.findings);
      continue;
    }
    const logs = await examineLines(patient);
    await examineRow(patient, row);
    if (holder && !isAtWork) {
      const message = `Its process ${holder.processId} died without letting go. Resume it, or let the monitor end it.`;
      find(patient, { problem: "holder-gone", severity: "notice", message });
    }
    yield { sessionId: id, ...logs, findings: patient.findings };
  }
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: [...drafts, ...(await examineWhole(database, mend))] };
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

const asideSchema = `CREATE TABLE IF NOT EXISTS aside (
  id INTEGER PRIMARY KEY, time TEXT NOT NULL, source TEXT NOT NULL, source_id INTEGER, session_id TEXT NOT NULL,
  content TEXT NOT NULL
)`;

const putAside = "INSERT INTO aside (time, source, source_id, session_id, content) VALUES (?, ?, ?, ?, ?)";

/** Every session of which there is a row or a line. */
function idsOf(connection: Connection): readonly string[] {
  const tables = logNames.map((log) => `SELECT session_id FROM ${logTables[log].table}`);
  const sql = `SELECT id FROM sessions UNION ${tables.join(" UNION ")} ORDER BY 1`;
  return connection.all(sql).map((row) => String(row["id"]));
}

async function examineLines(patient: Patient): Promise<Pick<Examined, "records" | "goodBytes" | "badBytes">> {
  const total = { records: 0, goodBytes: 0, badBytes: 0 };
  for (const log of logNames) {
    const { table, columns } = logTables[log];
    const names = ["id", "seq", "pos", ...columns.map(({ name }) => name), "line"].join(", ");
    const sql = `SELECT ${names} FROM ${table} WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${pageLines}`;
    const seen = { highest: 0, twice: 0 };
    for (let page = [] as readonly SqlRow[], after = 0; ; after = Number(page.at(-1)?.["id"])) {
      page = patient.connection.all(sql, patient.id, after);
      for (const row of page) {
        const size = Buffer.byteLength(String(row["line"]));
        const fields = await examineLine(patient, log, row);
        total.records += fields ? 1 : 0;
        total[fields ? "goodBytes" : "badBytes"] += size;
        if (fields && Number(row["seq"]) <= seen.highest) seen.twice += 1;
        seen.highest = Math.max(seen.highest, Number(row["seq"]));
      }
      if (page.length < pageLines) break;
    }
    if (seen.twice > 0) {
      const message = `${seen.twice} lines carry a number that came before. Every one is read.`;
      find(patient, { problem: "duplicate-seq", severity: "notice", file: table, message });
    }
  }
  return total;
}

/** @returns the line's fields, where it is a record */
async function examineLine(patient: Patient, log: LogName, row: SqlRow): Promise<JsonObject | undefined> {
  const { connection, id, mend, time } = patient;
  const { table, columns } = logTables[log];
  const [rowId, line] = [Number(row["id"]), String(row["line"])];
  const where = { file: table, offset: rowId, length: Buffer.byteLength(line) };
  const [fields] = parseLine(Buffer.from(line)).objects;
  const numbers = fields && numbersOf(log, fields);
  if (!fields || !numbers) {
    const known = hasAside(connection) && connection.get(isAside, table, rowId) !== undefined;
    const message = known
      ? "A damaged line, copied into the table aside before. It is stepped over; every line around it is read."
      : "A damaged line. It is stepped over; a copy is put into the table aside, and it stays where it is.";
    if (mend && !known) {
      await patient.writer.commit(false, () => connection.run(putAside, time, table, rowId, id, line));
    }
    find(patient, {
      ...where,
      problem: "damaged",
      severity: known ? "notice" : "damage",
      message,
      mended: mend && !known,
    });
    return undefined;
  }
  const names = ["seq", "pos", ...columns.map(({ name }) => name)];
  const values = [numbers.seq, numbers.pos, ...columnValues(log, fields)];
  if (values.some((value, index) => value !== row[names[index]!])) {
    if (mend) {
      const sql = `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE id = ?`;
      await patient.writer.commit(false, () => connection.run(sql, ...values, rowId));
    }
    const message = "Columns of a line say something else than the line. They are copied from it again.";
    find(patient, { ...where, problem: "columns-differ", message, mended: mend });
  }
  return fields;
}

const isAside = "SELECT 1 FROM aside WHERE source = ? AND source_id = ?";

function hasAside(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM sqlite_schema WHERE name = 'aside'") !== undefined;
}

function numbersOf(log: LogName, fields: JsonObject): { readonly seq: number; readonly pos: number } | undefined {
  try {
    return decodeRecord(logKinds[log], fields);
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}

/** The documents, and the columns that are copies of what they say. */
async function examineRow(patient: Patient, row: SqlRow | undefined): Promise<void> {
  const { connection, writer, id, mend, time } = patient;
  const found = row ? documentsOf(row, id) : {};
  const metadata = found.metadata ?? salvaged(connection, id, row);
  const state = found.state ?? counted(connection, id, metadata);
  if (!row) {
    const message = "There are lines of a session that has no row, so it cannot be opened. A row is made from them.";
    find(patient, { problem: "metadata-unreadable", file: "sessions", message, mended: mend });
    if (!mend) return;
    const texts = [encodeMetadata(metadata), encodeState(state)];
    await writer.commit(true, () => {
      connection.run(insertSession, id, ...Object.values(copiesOf(metadata, state)), ...texts, 0, null, 0);
    });
    return;
  }
  for (const [name, text] of [
    ["metadata", found.metadata ? undefined : encodeMetadata(metadata)],
    ["state", found.state ? undefined : encodeState(state)],
  ] as const) {
    if (text === undefined) continue;
    const from =
      name === "metadata" ? "what its other columns say" : "the usage and tool calls, which are counted again";
    const message = `The ${name} cannot be read. It is written anew from ${from}; the old text goes aside.`;
    find(patient, { problem: `${name}-unreadable`, file: "sessions", message, mended: mend });
    if (!mend) continue;
    await writer.commit(true, () => {
      connection.run(putAside, time, `sessions.${name}`, null, id, String(row[name]));
      connection.run(`UPDATE sessions SET ${name} = ? WHERE id = ?`, text, id);
    });
  }
  const copies = copiesOf(metadata, state);
  if (Object.entries(copies).every(([name, value]) => row[name] === value)) return;
  if (mend) await writer.commit(true, () => setColumns(connection, id, copies));
  const message = "The columns it is listed by say something else than its metadata and state. They are copied again.";
  find(patient, { problem: "stale-index", file: "sessions", message, mended: mend });
}

function documentsOf(row: SqlRow, id: string): { readonly metadata?: SessionMetadata; readonly state?: SessionState } {
  const metadata = decodeMetadata(parseDocument(String(row["metadata"])), id);
  const state = decodeState(parseDocument(String(row["state"])));
  return { ...(metadata && { metadata }), ...(state && { state }) };
}

/** In the order in which a row of `sessions` has them. */
function copiesOf(metadata: SessionMetadata, state: SessionState): Readonly<Record<string, SqlValue>> {
  return {
    tenant: metadata.tenant ?? null,
    user: metadata.user ?? null,
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
  const count = (table: string, more = ""): number =>
    Number(connection.get(`SELECT count(*) AS count FROM ${table} WHERE session_id = ? ${more}`, id)?.["count"]);
  const usage = connection.get(
    "SELECT sum(coalesce(line ->> '$.usage.input', 0) + coalesce(line ->> '$.usage.output', 0)) AS tokens, " +
      "max(timestamp) AS last FROM usage WHERE session_id = ? AND json_valid(line)",
    id,
  );
  return {
    ...initialState(metadata.createdAt),
    status: "processing",
    updatedAt: String(usage?.["last"] ?? metadata.createdAt),
    llmCallCount: count("usage", "AND purpose = 'turn'"),
    toolCallCount: count("tool_calls"),
    totalTokensUsed: Number(usage?.["tokens"] ?? 0),
    lastActivity: "state_rebuilt",
  };
}

/** What a restore left that was cut short. */
async function examineDraft(patient: Patient, isAtWork: boolean): Promise<void> {
  const { connection, id, mend, time } = patient;
  if (mend) {
    await patient.writer.commit(true, () => {
      for (const log of logNames) {
        const { table } = logTables[log];
        const select = `SELECT ?, '${table}', id, session_id, line FROM ${table} WHERE session_id = ? ORDER BY id`;
        connection.run(`INSERT INTO aside (time, source, source_id, session_id, content) ${select}`, time, id);
        connection.run(deleteLines[log], id);
      }
      const select = "SELECT ?, 'sessions.metadata', NULL, id, metadata FROM sessions WHERE id = ?";
      connection.run(`INSERT INTO aside (time, source, source_id, session_id, content) ${select}`, time, id);
      connection.run("DELETE FROM sessions WHERE id = ?", id);
    });
  }
  const message = "The beginning of a session that a restore left when it was cut short. It goes aside.";
  find(patient, {
    problem: "draft",
    severity: isAtWork ? "notice" : "damage",
    file: "sessions",
    message,
    mended: mend,
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

function find(
  { id, findings }: Patient,
  finding: Pick<Finding, "problem" | "message"> &
    Partial<Pick<Finding, "severity" | "file" | "offset" | "length" | "mended">>,
): void {
  findings.push({ severity: "damage", sessionId: id, mended: false, ...finding });
}
