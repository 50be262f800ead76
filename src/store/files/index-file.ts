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
  return { id, created: Date.parse(metadata.createdAt) || 0, ...optional("user", user), ...optional("tenant", tenant) };
}

/** An entry as its line, with the line end. */
export function lineOf(entry: IndexEntry | EndEntry): string {
  const { id, status } = entry;
  const made = "created" in entry ? madeFields(entry) : {};
  return `${JSON.stringify({ uuid: id, ...made, ...optional("status", status) })}\n`;
}

/** The entries of lines, in their order; a line that has none is passed over. */
export function readEntries(lines: readonly string[]): readonly (IndexEntry | EndEntry)[] {
  return lines.flatMap((line) => entryIn(parsed(line)) ?? []);
}

function entryIn(value: unknown): IndexEntry | EndEntry | undefined {
  if (!isObject(value)) return undefined;
  const { uuid: id, created_at: createdAt, user, tenant, status } = value;
  if (!isSessionId(id)) return undefined;
  if (typeof createdAt !== "string") return { id, ...finalStatus(status) };
  const created = Date.parse(createdAt) || 0;
  if (user === undefined && tenant === undefined && status === undefined) return { id, created, status };
  const ofUser = typeof user === "string" ? { user } : {};
  const ofTenant = typeof tenant === "string" ? { tenant } : {};
  return { id, created, ...ofUser, ...ofTenant, ...finalStatus(status) };
}

function madeFields({ created, user, tenant }: IndexEntry): JsonObject {
  const createdAt = new Date(created).toISOString();
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
