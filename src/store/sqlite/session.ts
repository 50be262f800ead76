/** The rows of the sessions table. */
import { WindrowError } from "../../errors.ts";
import { decodeMetadata, decodeState, parseDocument } from "../format/documents.ts";
import { isHeld, ownerOf } from "../shared/holder.ts";
import type { Holder } from "../shared/holder.ts";
import { formatVersion, inScope, isFinal } from "../shared/rules.ts";
import { insertSession, selectSession, sessionColumns } from "./tables.ts";
import type { Connection, SqlRow, SqlValue } from "./connection/driver.ts";
import type { Holding, ListQuery, Scope, SessionInfo, SessionMetadata, SessionState } from "../store.ts";

/** Sessions listed at once. */
const pageSize = 100;

/** A session as its row has it. */
export interface SessionRow {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly format: number;
  readonly generation: number;
  readonly holder: Holder | undefined;
  /** It is being written by a restore and is not there yet. */
  readonly restoring: boolean;
  /** The texts that metadata.json and state.json of a file store have. */
  readonly texts: { readonly metadata: string; readonly state: string };
  readonly createdMs: number;
}

/** A session's row, in any scope. */
export function findRow(connection: Connection, id: string): SessionRow | undefined {
  const row = connection.get(selectSession, id);
  return row && rowOf(row);
}

/** Adds the row of a session. */
export function insertRow(
  connection: Connection,
  row: {
    readonly metadata: SessionMetadata;
    readonly state: SessionState;
    /** Absent: nobody holds it. */
    readonly holder?: Holder;
    readonly restoring: boolean;
  },
  texts: { readonly metadata: string; readonly state: string },
): void {
  const { metadata, state, holder, restoring } = row;
  connection.run(
    insertSession,
    metadata.uuid,
    metadata.tenant ?? null,
    metadata.user ?? null,
    state.status,
    metadata.createdAt,
    Date.parse(metadata.createdAt) || 0,
    metadata.format,
    texts.metadata,
    texts.state,
    holder?.generation ?? 0,
    holder ? JSON.stringify(holder) : null,
    Number(restoring),
  );
}

/** The sessions of a scope, newest creation first, page by page. */
export function* listRows(connection: Connection, scope: Scope, query: ListQuery): Generator<SessionRow> {
  const conditions = ["restoring = 0", "tenant IS ?"];
  const values: SqlValue[] = [scope.tenant ?? null];
  if (scope.user !== undefined) {
    conditions.push("user = ?");
    values.push(scope.user);
  }
  if (query.status !== undefined) {
    conditions.push("status = ?");
    values.push(query.status);
  }
  const select = `SELECT ${sessionColumns} FROM sessions WHERE ${conditions.join(" AND ")}`;
  const sql = `${select} AND created_ms <= ? AND (created_ms < ? OR id > ?) ORDER BY created_ms DESC, id LIMIT ?`;
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let after = { createdMs: Number.MAX_SAFE_INTEGER, id: "" };
  while (left > 0) {
    const asked = Math.min(pageSize, left);
    const page = connection.all(sql, ...values, after.createdMs, after.createdMs, after.id, asked);
    for (const row of page) {
      after = { createdMs: Number(row["created_ms"]), id: String(row["id"]) };
      const found = readRow(row);
      // The columns cannot hold half a character: they may name another's, too.
      if (found && !inScope(scope, found.metadata)) continue;
      if (!found) {
        query.unreadable?.(after.id, unreadable(after.id));
        continue;
      }
      left -= 1;
      yield found;
    }
    if (page.length < asked) return;
  }
}

/** A row for people. */
export function infoOf(row: SessionRow, file: string): SessionInfo {
  const { metadata, state } = row;
  const readOnly = isFinal(state.status) || row.format > formatVersion;
  return { metadata, state, location: `sqlite:${file}#${row.id}`, readOnly };
}

/**
 * Whether a process writes a session.
 *
 * @param now - milliseconds since 1970
 */
export function holdingOf({ holder }: SessionRow, now: number): Holding {
  if (!holder) return { state: "none" };
  return { state: isHeld(holder, now) ? "held" : "gone", owner: ownerOf(holder) };
}

function rowOf(row: SqlRow): SessionRow {
  const found = readRow(row);
  if (found) return found;
  throw unreadable(String(row["id"]));
}

function unreadable(id: string): WindrowError {
  const message = `The row of session ${id} is unreadable, so it cannot be opened. \`windrow doctor --mend\` writes it anew.`;
  return new WindrowError("store-corrupt", message, { id });
}

/** A row of the table; undefined where its documents cannot be read. */
function readRow(row: SqlRow): SessionRow | undefined {
  const id = String(row["id"]);
  const texts = { metadata: String(row["metadata"]), state: String(row["state"]) };
  const metadata = decodeMetadata(parseDocument(texts.metadata), id);
  const state = decodeState(parseDocument(texts.state));
  if (!metadata || !state) return undefined;
  return {
    id,
    metadata,
    state,
    texts,
    format: Number(row["format"]),
    generation: Number(row["generation"]),
    holder: typeof row["holder"] === "string" ? (JSON.parse(row["holder"]) as Holder) : undefined,
    restoring: row["restoring"] === 1,
    createdMs: Number(row["created_ms"]),
  };
}
