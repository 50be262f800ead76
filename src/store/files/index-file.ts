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
  /** The status of a session that ended. */
  readonly status?: FinalStatus;
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

/** The entry of a line; undefined for a line that has none. */
export function readEntry(line: string): IndexEntry | EndEntry | undefined {
  const { uuid: id, created_at: createdAt, user, tenant, status } = parsed(line) ?? {};
  if (!isSessionId(id)) return undefined;
  const ended = finalStatus(status);
  if (typeof createdAt !== "string") return { id, ...ended };
  const ofUser = typeof user === "string" ? { user } : {};
  const ofTenant = typeof tenant === "string" ? { tenant } : {};
  return { id, created: Date.parse(createdAt), ...ofUser, ...ofTenant, ...ended };
}

function madeFields({ created, user, tenant }: IndexEntry): JsonObject {
  const createdAt = Number.isNaN(created) ? "" : new Date(created).toISOString();
  return { created_at: createdAt, ...optional("user", user), ...optional("tenant", tenant) };
}

function finalStatus(status: JsonValue | undefined): { readonly status?: FinalStatus } {
  return status === "completed" || status === "failed" || status === "timeout" ? { status } : {};
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
