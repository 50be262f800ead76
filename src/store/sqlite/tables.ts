/** The tables of a store in a database, and the statements on them (docs/format.md, "In a database"). */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { LogName } from "../store.ts";

/** The version of the tables, an integer. */
export const schemaVersion = 1;

/** A column that is a copy of one of the line's fields, for queries. */
interface FieldColumn {
  readonly name: string;
  readonly type: "TEXT" | "INTEGER" | "REAL";
}

const text = (...names: readonly string[]): readonly FieldColumn[] => names.map((name) => ({ name, type: "TEXT" }));

/** The table of each log. Beside `session_id`, `seq`, `pos` and the whole `line` it has the fields one asks for. */
export const logTables: Readonly<
  Record<LogName, { readonly table: string; readonly columns: readonly FieldColumn[] }>
> = {
  messages: {
    table: "messages",
    columns: [...text("role", "tool_name"), { name: "token_count", type: "REAL" }, ...text("timestamp")],
  },
  calls: { table: "calls", columns: text("tool_name", "tool_call_id", "timestamp") },
  tools: {
    table: "tool_calls",
    columns: [
      ...text("tool_name", "tool_call_id", "status"),
      { name: "duration_ms", type: "INTEGER" },
      ...text("timestamp"),
    ],
  },
  usage: { table: "usage", columns: text("purpose", "model", "timestamp") },
  summaries: {
    table: "summaries",
    columns: [
      ...["start_seq", "end_seq"].map((name): FieldColumn => ({ name, type: "INTEGER" })),
      ...["original_tokens", "summary_tokens", "compression_ratio"].map((name): FieldColumn => ({
        name,
        type: "REAL",
      })),
      ...text("created_at"),
    ],
  },
  snapshot: { table: "snapshots", columns: text("timestamp") },
  edits: { table: "edits", columns: text("type", "timestamp") },
};

const logSchemas = Object.values(logTables).map(
  ({ table, columns }) => `
CREATE TABLE IF NOT EXISTS ${table} (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  pos INTEGER NOT NULL,
${columns.map(({ name, type }) => `  ${name} ${type},\n`).join("")}  line TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ${table}_by_seq ON ${table} (session_id, seq);`,
);

/** Makes the tables that are not there yet. */
export const schema = `
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY,
  tenant TEXT,
  user TEXT,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  format INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  state TEXT NOT NULL,
  generation INTEGER NOT NULL,
  holder TEXT,
  restoring INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_by_creation ON sessions (tenant, created_ms DESC, id);
CREATE INDEX IF NOT EXISTS sessions_by_status ON sessions (tenant, status, created_ms DESC, id);
${logSchemas.join("")}
`;

/** Adds a line to a log: session, seq, pos, the log's columns, the line. */
export const insertLine = statements(({ table, columns }) => {
  const names = columns.map(({ name }) => name);
  const places = "?, ".repeat(names.length);
  return `INSERT INTO ${table} (session_id, seq, pos, ${names.join(", ")}, line) VALUES (?, ?, ?, ${places}?)`;
});

/** The last line of a log: of a session. */
export const lastLine = statements(
  ({ table }) => `SELECT seq, pos FROM ${table} WHERE session_id = ? ORDER BY seq DESC, id DESC LIMIT 1`,
);

/** A line: its id, session, seq. */
export const lineAt = statements(
  ({ table }) => `SELECT line FROM ${table} WHERE id = ? AND session_id = ? AND seq = ?`,
);

/** The place of the n-th line from the end: session, from, to, n − 1. */
export const placeFromEnd = statements(
  ({ table }) =>
    `SELECT seq, id FROM ${table} WHERE session_id = ? AND seq BETWEEN ? AND ? ` +
    "ORDER BY seq DESC, id DESC LIMIT 1 OFFSET ?",
);

/** Lines behind a place, oldest first: session, seq and id of the place, to, how many. */
export const linesAfter = statements(
  ({ table }) =>
    `SELECT id, seq, pos, line FROM ${table} WHERE session_id = ? AND (seq, id) > (?, ?) AND seq <= ? ` +
    "ORDER BY seq, id LIMIT ?",
);

/** Removes the lines of a session. */
export const deleteLines = statements(({ table }) => `DELETE FROM ${table} WHERE session_id = ?`);

/** The statement that adds a session. */
export const insertSession =
  "INSERT INTO sessions (id, tenant, user, status, created_at, created_ms, format, metadata, state, generation, holder, " +
  "restoring) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/** The columns of a session that are read. */
export const sessionColumns =
  "id, tenant, user, status, created_ms, format, metadata, state, generation, holder, restoring";

/** One session, also one that is just being restored: by id. */
export const selectSession = `SELECT ${sessionColumns} FROM sessions WHERE id = ?`;

/** The values of a log's columns, taken from a line's fields; null where a field has another type. */
export function columnValues(log: LogName, fields: JsonObject): readonly (string | number | null)[] {
  return logTables[log].columns.map(({ name, type }) => columnValue(fields[name], type));
}

function columnValue(value: JsonValue | undefined, type: FieldColumn["type"]): string | number | null {
  return typeof value === (type === "TEXT" ? "string" : "number") ? (value as string | number) : null;
}

function statements(make: (log: (typeof logTables)[LogName]) => string): Readonly<Record<LogName, string>> {
  const entries = Object.entries(logTables).map(([name, log]) => [name, make(log)]);
  return Object.fromEntries(entries) as Record<LogName, string>;
}
