/** The tables of a database: one of sessions, and one for each log, whose lines a program can ask by their fields. */
import type { LogName } from "../store.ts";

/** The version of the tables, in the database's `user_version`. */
export const schemaVersion = 2;

/** The table of each log, and the fields of its lines that are columns of it. */
const logTables: Readonly<
  Record<LogName, { readonly table: string; readonly fields: Readonly<Record<string, string>> }>
> = {
  messages: { table: "messages", fields: { role: "TEXT", tool_name: "TEXT", token_count: "REAL", timestamp: "TEXT" } },
  calls: { table: "calls", fields: { tool_name: "TEXT", tool_call_id: "TEXT", timestamp: "TEXT" } },
  tools: {
    table: "tool_calls",
    fields: { tool_name: "TEXT", tool_call_id: "TEXT", status: "TEXT", duration_ms: "INTEGER", timestamp: "TEXT" },
  },
  usage: { table: "usage", fields: { purpose: "TEXT", model: "TEXT", timestamp: "TEXT" } },
  summaries: {
    table: "summaries",
    fields: {
      ...{ start_seq: "INTEGER", end_seq: "INTEGER", original_tokens: "REAL", summary_tokens: "REAL" },
      ...{ compression_ratio: "REAL", created_at: "TEXT" },
    },
  },
  snapshot: { table: "snapshots", fields: { timestamp: "TEXT" } },
  edits: { table: "edits", fields: { type: "TEXT", timestamp: "TEXT" } },
};

/** The statements for the lines of one log. */
export interface LogStatements {
  /** Session, seq, pos, line. */
  readonly insert: string;
  /** Session. */
  readonly last: string;
  /** Session. */
  readonly remove: string;
  /** Session. */
  readonly size: string;
  /** The new id, session. */
  readonly rename: string;
  /** Session, from, to, n − 1: the place of the n-th line from the end. */
  readonly fromEnd: string;
  /** Session, seq and row of the line before, to, how many. */
  readonly after: string;
}

/** The statements for each log. */
export const logStatements = Object.fromEntries(
  Object.entries(logTables).map(([log, { table }]) => [log, statementsOf(table)]),
) as Readonly<Record<LogName, LogStatements>>;

function statementsOf(table: string): LogStatements {
  const ofSession = `FROM ${table} WHERE session_id = ?`;
  return {
    insert: `INSERT INTO ${table} (session_id, seq, pos, line) VALUES (?, ?, ?, ?)`,
    last: `SELECT seq, pos ${ofSession} ORDER BY seq DESC, id DESC LIMIT 1`,
    remove: `DELETE ${ofSession}`,
    size: `SELECT count(*) AS count, sum(length(CAST(line AS BLOB))) AS bytes ${ofSession}`,
    rename: `UPDATE ${table} SET session_id = ? WHERE session_id = ?`,
    fromEnd: `SELECT seq, id ${ofSession} AND seq BETWEEN ? AND ? ORDER BY seq DESC, id DESC LIMIT 1 OFFSET ?`,
    after: `SELECT id, seq, pos, line ${ofSession} AND (seq, id) > (?, ?) AND seq <= ? ORDER BY seq, id LIMIT ?`,
  };
}

/** A column of whole numbers that JavaScript can count. */
function number(name: string): string {
  return `${name} INTEGER NOT NULL CHECK (typeof(${name}) = 'integer' AND ${name} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER})`;
}

const logSchemas = Object.values(logTables).map(({ table, fields }) => {
  // Computed when they are asked for, so that they say what the line says.
  const columns = Object.entries(fields).map(
    ([name, type]) => `${name} ${type} AS (CASE WHEN json_valid(line) THEN line ->> '$.${name}' END) VIRTUAL`,
  );
  return `
CREATE TABLE IF NOT EXISTS ${table} (
  id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, ${number("seq")}, ${number("pos")}, line TEXT NOT NULL,
  ${columns.join(",\n  ")}
);
CREATE INDEX IF NOT EXISTS ${table}_by_seq ON ${table} (session_id, seq);`;
});

/** Makes the tables that are not there yet. */
export const schema = `
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY, tenant TEXT, user TEXT, status TEXT NOT NULL,
  created_ms INTEGER NOT NULL CHECK (typeof(created_ms) = 'integer' AND abs(created_ms) <= 8640000000000000),
  hidden INTEGER NOT NULL CHECK (hidden IN (0, 1)), aside_of TEXT,
  metadata TEXT NOT NULL, state TEXT NOT NULL, mark TEXT NOT NULL,
  ${["made", "revision", "origin", "generation"].map(number).join(",\n  ")},
  holder TEXT, heartbeat_at TEXT
);
CREATE INDEX IF NOT EXISTS sessions_aside ON sessions (aside_of) WHERE aside_of IS NOT NULL;
CREATE INDEX IF NOT EXISTS sessions_by_creation ON sessions (hidden, tenant, created_ms DESC, id);
CREATE INDEX IF NOT EXISTS sessions_by_status ON sessions (hidden, tenant, status, created_ms DESC, id);
${logSchemas.join("")}
`;

/** Lines whose session is not there, which nothing but a damaged table leaves: how many. */
export const countOrphans = Object.values(logTables)
  .map(({ table }) => `SELECT count(*) AS count FROM ${table} WHERE session_id NOT IN (SELECT id FROM sessions)`)
  .join(" UNION ALL ");
