/** The lines of `index.jsonl`: one for each session made, and one for each that ended (docs/format.md). */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { optional } from "../format/fields.ts";
import { isSessionId } from "../shared/rules.ts";
import type { FinalStatus, SessionMetadata } from "../store.ts";

/** The index of all sessions, in the base folder. */
export const indexFile = "index.jsonl";

/** A session, as the index describes it. */
export interface IndexEntry {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly user?: string;
  readonly tenant?: string;
  /** The status of a session that ended; an end that is read later sets it. */
  status?: FinalStatus | undefined;
}

/** The end of a session that has an entry already. */
export interface EndEntry {
  readonly id: string;
  readonly status?: FinalStatus;
}

/** The entry of a session that did not end. */
export function entryOf(id: string, metadata: SessionMetadata): IndexEntry {
  const { user, tenant } = metadata;
  return { id, created: Date.parse(metadata.createdAt), ...optional("user", user), ...optional("tenant", tenant) };
}

/** An entry as its line, with the line end. */
export function lineOf(entry: IndexEntry | EndEntry): string {
  const { id, status } = entry;
  const made = "created" in entry ? madeFields(entry) : {};
  return `${JSON.stringify({ uuid: id, ...made, ...optional("status", status) })}\n`;
}

/** The entries of lines, in their order; a line that has none is passed over. */
export function readEntries(lines: readonly string[]): readonly (IndexEntry | EndEntry)[] {
  const entries: (IndexEntry | EndEntry)[] = [];
  for (const line of lines) {
    const entry = plainEntry(line) ?? entryIn(parsed(line));
    if (entry) entries.push(entry);
  }
  return entries;
}

/**
 * The entry of a line as {@link lineOf} writes it for a session without a user and a tenant. Taken apart by its places:
 * JSON.parse costs four times as much, and an index has 100,000 lines.
 */
function plainEntry(line: string): IndexEntry | EndEntry | undefined {
  if (!line.startsWith('{"uuid":"')) return undefined;
  const id = line.slice(9, 45);
  if (line.length === 87 && line.startsWith('","created_at":"', 45) && line.endsWith('Z"}') && isSessionId(id)) {
    const created = Date.parse(line.slice(61, 85));
    return Number.isNaN(created) ? undefined : { id, created, status: undefined };
  }
  if (line.startsWith('","status":"', 45) && line.endsWith('"}') && isSessionId(id)) {
    const status: string = line.slice(57, -2);
    return isFinalWord(status) ? { id, status } : undefined;
  }
  return undefined;
}

function entryIn(value: unknown): IndexEntry | EndEntry | undefined {
  if (!isObject(value)) return undefined;
  const { uuid: id, created_at: createdAt, user, tenant, status } = value;
  if (!isSessionId(id)) return undefined;
  if (typeof createdAt !== "string") return { id, ...finalStatus(status) };
  const created = Date.parse(createdAt);
  if (user === undefined && tenant === undefined && status === undefined) return { id, created, status };
  const ofUser = typeof user === "string" ? { user } : {};
  const ofTenant = typeof tenant === "string" ? { tenant } : {};
  return { id, created, ...ofUser, ...ofTenant, ...finalStatus(status) };
}

function madeFields({ created, user, tenant }: IndexEntry): JsonObject {
  const createdAt = Number.isNaN(created) ? "" : new Date(created).toISOString();
  return { created_at: createdAt, ...optional("user", user), ...optional("tenant", tenant) };
}

function finalStatus(status: JsonValue | undefined): { readonly status?: FinalStatus } {
  return isFinalWord(status) ? { status } : {};
}

function isFinalWord(status: unknown): status is FinalStatus {
  return status === "completed" || status === "failed" || status === "timeout";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
