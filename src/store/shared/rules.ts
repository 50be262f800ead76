/** The rules that every store shares: ids, scopes, queries, and the text of each refusal. */
import { createHash } from "node:crypto";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { shown } from "../../shown.ts";
import type { ArchiveMark, FinalStatus, ReadQuery, Scope, SessionMetadata, SessionStatus } from "../store.ts";

/** The version of the disk format this code writes. Newer ones are read, never written. */
export const formatVersion = 1;

/**
 * A session id in its canonical, lowercase form. Checked before any path is built from it.
 *
 * @throws WindrowError `session-id-invalid`
 */
export function sessionId(id: string): string {
  if (isSessionId(id)) return id;
  throw new WindrowError(
    "session-id-invalid",
    `A session id is a UUID in lowercase, as crypto.randomUUID() makes it; this is none: ${shown(id)}.`,
    { id },
  );
}

/** Whether a name is a UUID in canonical form. */
export function isSessionId(name: unknown): name is string {
  return typeof name === "string" && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(name);
}

/** A session id made of names: the same names give the same UUID. */
export function uuidOf(names: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(names)).digest("hex");
  const variant = ((parseInt(hash.slice(16, 17), 16) & 3) | 8).toString(16);
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `4${hash.slice(13, 16)}`, variant + hash.slice(17, 20)];
  return [...parts, hash.slice(20, 32)].join("-");
}

/** Whether a session has ended. */
export function isFinal(status: SessionStatus): status is FinalStatus {
  return status === "completed" || status === "failed" || status === "timeout";
}

/** Whether nobody is to write a session just now: it has ended, or was put to rest until it is resumed. */
export function isAtRest(status: SessionStatus | undefined): boolean {
  return status !== undefined && (isFinal(status) || status === "closed");
}

/**
 * Refuses an end of a session that no state can say.
 *
 * @throws WindrowError `bad-option` for a status that ends none, or an error that is no text
 */
export function checkEnd(status: unknown, error: unknown): void {
  if (!isFinal(status as SessionStatus)) {
    const known = "`completed`, `failed` or `timeout`";
    throw new WindrowError("bad-option", `finish: \`status\` is ${known}, not ${shown(status)}.`, { option: "status" });
  }
  if (error === null || error === undefined || typeof error === "string") return;
  throw new WindrowError("bad-option", `finish: \`error\` is a text, not ${shown(error)}.`, { option: "error" });
}

/**
 * Whether a session belongs to a scope: the same tenant (none is a tenant of its own), and the same user where the
 * scope names one.
 */
export function inScope(scope: Scope, metadata: Pick<SessionMetadata, "tenant" | "user">): boolean {
  return scope.tenant === metadata.tenant && (scope.user === undefined || scope.user === metadata.user);
}

/** The owner of a session, without the rest of its metadata. */
export function ownerOf({ tenant, user }: Scope): Scope {
  return { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
}

/** The owner that the fields of a row or a document name. */
export function ownerNamed({ tenant, user }: Readonly<Record<string, unknown>>): Scope {
  return { ...(typeof tenant === "string" && { tenant }), ...(typeof user === "string" && { user }) };
}

/**
 * Refuses an owner whose name a database would change: one with half a character (a lone surrogate) or a NUL.
 *
 * @throws WindrowError `bad-option`
 */
export function checkOwner(owner: Scope): void {
  for (const option of ["tenant", "user"] as const) {
    const name = owner[option] ?? "";
    if (name.isWellFormed() && !name.includes("\0")) continue;
    const message = `The ${option} ${JSON.stringify(name)} has half a character, or a NUL. Take it out: other names would be the same in a database.`;
    throw new WindrowError("bad-option", message, { option });
  }
}

/** Whether two sessions belong to one user of one tenant. */
export function haveOneOwner(one: Scope, other: Scope): boolean {
  return one.tenant === other.tenant && one.user === other.user;
}

/**
 * Refuses a query that cannot be answered.
 *
 * @throws WindrowError `bad-option`
 */
export function checkQuery(query: Partial<Pick<ReadQuery, "from" | "to" | "last" | "limit">>): void {
  for (const name of ["from", "to", "last", "limit"] as const) {
    const value = query[name];
    if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) continue;
    throw new WindrowError("bad-option", `"${name}" must be an integer from 0, not ${String(value)}.`, {
      option: name,
      value,
    });
  }
  if (query.last === undefined || query.limit === undefined) return;
  throw new WindrowError("bad-option", 'A query has "last" or "limit", not both.', { option: "last" });
}

/** Whether a value is a time: ISO 8601, with its zone. */
export function isTime(value: unknown): value is string {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
  return typeof value === "string" && form.test(value) && !Number.isNaN(Date.parse(value));
}

/**
 * Refuses what is no time.
 *
 * @throws WindrowError `bad-option`
 */
export function checkTime(name: string, value: unknown): void {
  if (isTime(value)) return;
  const message = `"${name}" must be a time such as 2026-01-31T10:00:00.000Z, not ${shown(value)}.`;
  throw new WindrowError("bad-option", message, { option: name });
}

/** No session has this id, as far as the scope sees. */
export function notFound(id: string): WindrowError {
  return new WindrowError("session-not-found", `There is no session ${id} in this store.`, { id });
}

/** The id is taken. */
export function alreadyExists(id: string): WindrowError {
  return new WindrowError("session-exists", `A session ${id} exists already; nothing was changed. Use another id.`, {
    id,
  });
}

/** The erasure of the id was begun and has not ended: what of it lies elsewhere is found by the id alone. */
export function beingErased(id: string): WindrowError {
  const message = `Session ${id} is being erased, and its id is not given out again before: \`windrow erase ${id}\` ends it.`;
  return new WindrowError("session-busy", message, { id });
}

/** The session was written by a newer version. */
export function newerFormat(id: string, format: number): WindrowError {
  return new WindrowError(
    "format-newer",
    `Session ${id} has format ${format}, this version writes ${formatVersion}: read it, or update Windrow.`,
    { id, format },
  );
}

/** The session's records lie in an archive, which this store does not have beside it. */
export function inArchive(id: string, mark?: ArchiveMark): WindrowError {
  const message =
    `The records of session ${id} lie in an archive, and this store was opened without it. Name it: \`archive\` in ` +
    "windrow.config.yaml or in the options of openStore, or --archive.";
  return new WindrowError("session-archived", message, { id, ...(mark && { mark }) });
}

/** Whether an error is about the records of one session, as damaged or archived ones are: all others can be read. */
export function isAboutRecords(error: unknown): error is WindrowError {
  return isWindrowError(error, "store-corrupt") || isWindrowError(error, "session-archived");
}

/** The session's records went into an archive, or came back, while they were read. */
export function movedMeanwhile(id: string): WindrowError {
  const message = `The records of session ${id} moved into an archive, or out of it, while they were read. Read them again.`;
  return new WindrowError("session-archived", message, { id });
}

/** The session is finished, or was. */
export function finished(id: string): WindrowError {
  return new WindrowError("read-only", `Session ${id} is finished and can only be read.`, { id });
}

/** The lock was released. */
export function released(id: string): WindrowError {
  return new WindrowError("closed", `The lock of session ${id} was released; lock it again to write.`, { id });
}

/** The store was closed. */
export function storeClosed(): WindrowError {
  return new WindrowError("closed", "The store was closed; open it again.");
}

/** The lock was not given by this store, or the store no longer knows it. */
export function foreignLock(id: string): WindrowError {
  return new WindrowError("bad-option", `The lock of session ${id} is not one that this store gave.`, { id });
}
