/** The mask and the filled-in fields that every store applies to data before it is kept. */
import { hostname } from "node:os";
import { WindrowError } from "../../errors.ts";
import { maskJson, maskRecord } from "../../mask/mask.ts";
import { mayHoldSecret } from "../../mask/text.ts";
import type { Mask } from "../../mask/mask.ts";
import { jsonFault } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { NewRecord } from "../../message/record.ts";
import { sessionStatuses } from "../statuses.ts";
import { checkOwner, checkTime, formatVersion, sessionId } from "./rules.ts";
import type { NewSession, ReadQuery, Scope, SessionMetadata, SessionState } from "../store.ts";

/**
 * The record as a store keeps it: masked, a message with the record's timestamp where it has none of its own, a
 * duration in whole milliseconds. The input is not changed.
 *
 * @throws TypeError for what JSON cannot carry, or nests too deep; {@link cannotStore} says it to the caller
 */
export function prepareRecord(mask: Mask, record: NewRecord): NewRecord {
  const fault = jsonFault(record, { undefinedToo: true, whole: true });
  if (fault !== undefined) throw new TypeError(fault);
  // Of a message's record the message alone is masked; the name of its count would be taken for a keyword.
  const texts = record.kind === "message" ? record.message : record;
  const masked = mayHold(mask, texts as unknown as JsonValue) ? maskRecord(mask, record) : record;
  if (masked.kind === "tool") return { ...masked, durationMs: Math.round(masked.durationMs) };
  if (masked.kind !== "message") return masked;
  const timestamp = masked.message.timestamp ?? masked.timestamp;
  return { ...masked, timestamp, message: { ...masked.message, timestamp } };
}

/** Whether any keyword of the mask stands in a record: seldom, and looking costs a third of walking it. */
function mayHold(mask: Mask, value: JsonValue): boolean {
  if (typeof value === "string") return mayHoldSecret(mask, value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((item: JsonValue) => mayHold(mask, item));
  const fields = value as JsonObject;
  for (const name in fields) if (mayHoldSecret(mask, name) || mayHold(mask, fields[name]!)) return true;
  return false;
}

/** A record as a reader gets it: as it is kept, or, where the query asks for it and the mask has the key, as it came. */
export function readRecord<R extends NewRecord>(mask: Mask, { originals }: ReadQuery, record: R): R {
  return originals === true && mask.seal ? mask.seal.open(record) : record;
}

/**
 * The metadata of a new session, masked; a scope's names are its identity and stay as they are.
 *
 * @throws WindrowError `bad-message` for a task key or a configuration that JSON cannot carry; `bad-option` for names that no
 *   database holds, and what is no time; `session-id-invalid` for the origin of a fork
 */
export function prepareMetadata(mask: Mask, scope: Scope, session: NewSession): SessionMetadata {
  checkOwner(scope);
  checkTime("createdAt", session.createdAt);
  if (session.forkedFrom) sessionId(session.forkedFrom.uuid);
  for (const [name, value] of [["task key", session.taskKey] as const, ["configuration", session.config] as const]) {
    const fault = jsonFault(value, { undefinedToo: true });
    if (fault !== undefined) throw cannotStore(name, new TypeError(fault));
  }
  return {
    uuid: session.uuid,
    taskKey: maskJson(mask, session.taskKey),
    createdAt: session.createdAt,
    processId: process.pid,
    hostname: hostname(),
    config: maskJson(mask, session.config),
    ...(scope.user === undefined ? {} : { user: scope.user }),
    ...(scope.tenant === undefined ? {} : { tenant: scope.tenant }),
    ...(session.forkedFrom === undefined ? {} : { forkedFrom: session.forkedFrom }),
    format: formatVersion,
  };
}

/**
 * The state, masked: errors and activities quote what happened.
 *
 * @throws WindrowError `bad-message` for what JSON cannot carry, and for a status that no reader knows
 */
export function prepareState(mask: Mask, state: SessionState): SessionState {
  const isKnown = sessionStatuses.includes(state.status);
  const fault = isKnown
    ? jsonFault(state, { undefinedToo: true, whole: true })
    : `its status is "${String(state.status)}"`;
  if (fault !== undefined) throw cannotStore("state", new TypeError(fault));
  // Where the records lie is the store's own word.
  const { archived: _archived, ...own } = state;
  return maskJson(mask, own as unknown as JsonObject) as unknown as SessionState;
}

/** Why a record was refused before anything was written: a value JSON cannot carry, or a field of the wrong type. */
export function cannotStore(kind: string, error: unknown): WindrowError {
  const reason = error instanceof Error ? error.message : String(error);
  return new WindrowError("bad-message", `This ${kind} cannot be stored: ${reason}.`, { kind }, { cause: error });
}
