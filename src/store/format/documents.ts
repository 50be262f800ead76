/** metadata.json and state.json: their fields, encoded and decoded (docs/format.md). */
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { sessionStatuses } from "../statuses.ts";
import type { ArchiveMark, SessionMetadata, SessionState } from "../store.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { systemCode } from "../../disk/safe-write.ts";
import { optional } from "./fields.ts";
import { encodeSeal, sealField, sealIn } from "./seal.ts";
import type { Seal } from "./seal.ts";
import { isObject } from "../../message/json.ts";

/** metadata.json as text. */
export function encodeMetadata(metadata: SessionMetadata): string {
  return page({
    uuid: metadata.uuid,
    task_key: metadata.taskKey,
    created_at: metadata.createdAt,
    process_id: metadata.processId,
    hostname: metadata.hostname,
    config: metadata.config,
    ...optional("user", metadata.user),
    ...optional("tenant", metadata.tenant),
    ...(metadata.forkedFrom ? { forked_from: { uuid: metadata.forkedFrom.uuid, at: metadata.forkedFrom.at } } : {}),
    format: metadata.format,
  });
}

/** The fields of metadata.json as metadata; undefined where one that is needed is missing or of the wrong type. */
export function decodeMetadata(fields: JsonObject | undefined, id: string): SessionMetadata | undefined {
  const { task_key: taskKey, created_at: createdAt, config, user, tenant, format = 1 } = fields ?? {};
  if (!isObject(taskKey) || typeof createdAt !== "string" || !isObject(config) || typeof format !== "number") {
    return undefined;
  }
  return {
    uuid: id,
    taskKey,
    createdAt,
    processId: number(fields?.["process_id"]),
    hostname: string(fields?.["hostname"], ""),
    config,
    ...(typeof user === "string" ? { user } : {}),
    ...(typeof tenant === "string" ? { tenant } : {}),
    ...originOf(fields?.["forked_from"]),
    format,
  };
}

function originOf(value: JsonValue | undefined): Pick<SessionMetadata, "forkedFrom"> {
  if (!isObject(value) || typeof value["uuid"] !== "string" || typeof value["at"] !== "number") return {};
  return { forkedFrom: { uuid: value["uuid"], at: value["at"] } };
}

/**
 * state.json as text.
 *
 * @param foreign - fields of another writer, kept behind Windrow's own
 * @param seal - what the logs hold, where that is known
 */
export function encodeState(state: SessionState, foreign: JsonObject = {}, seal?: Seal): string {
  return page({ ...stateFields(state), ...(seal && { [sealField]: encodeSeal(seal) }), ...foreign });
}

/** The counts of the logs in state.json; undefined where it has none. */
export function readSeal(folder: string, disk: Disk = systemDisk): Seal | undefined {
  return sealIn(readObject(join(folder, stateFile), disk));
}

function stateFields(state: SessionState): JsonObject {
  return {
    status: state.status,
    started_at: state.startedAt,
    updated_at: state.updatedAt,
    completed_at: state.completedAt,
    llm_call_count: state.llmCallCount,
    tool_call_count: state.toolCallCount,
    total_tokens_used: state.totalTokensUsed,
    current_context_tokens: state.currentContextTokens,
    compression_count: state.compressionCount,
    last_activity: state.lastActivity,
    error: state.error,
    epoch_count: state.epochCount,
    ...(state.archived && { [archivedField]: encodeArchiveMark(state.archived) }),
  };
}

/** The field of `state.json` that says where an archive holds the records. */
export const archivedField = "archived";

/** An archive's mark as fields. */
export function encodeArchiveMark(mark: ArchiveMark): JsonObject {
  return {
    key: mark.key,
    hash: mark.hash,
    lines: mark.lines,
    bytes: mark.bytes,
    object_bytes: mark.objectBytes,
    archived_at: mark.archivedAt,
    last_record_at: mark.lastRecordAt,
  };
}

/** Fields as an archive's mark; undefined where they are none. */
export function decodeMark(fields: JsonValue | undefined): ArchiveMark | undefined {
  if (!isObject(fields)) return undefined;
  const { key, hash } = fields;
  if (typeof key !== "string" || typeof hash !== "string") return undefined;
  return {
    key,
    hash,
    lines: number(fields["lines"]),
    bytes: number(fields["bytes"]),
    objectBytes: number(fields["object_bytes"]),
    archivedAt: string(fields["archived_at"], ""),
    lastRecordAt: string(fields["last_record_at"], ""),
  };
}

/** The fields of state.json as a state; undefined where there is no status that is known. */
export function decodeState(fields: JsonObject | undefined): SessionState | undefined {
  const status = sessionStatuses.find((known) => known === fields?.["status"]);
  if (fields === undefined || status === undefined) return undefined;
  const startedAt = string(fields["started_at"], "");
  const archived = decodeMark(fields[archivedField]);
  return {
    status,
    startedAt,
    updatedAt: string(fields["updated_at"], startedAt),
    completedAt: typeof fields["completed_at"] === "string" ? fields["completed_at"] : null,
    llmCallCount: number(fields["llm_call_count"]),
    toolCallCount: number(fields["tool_call_count"]),
    totalTokensUsed: number(fields["total_tokens_used"]),
    currentContextTokens: number(fields["current_context_tokens"]),
    compressionCount: number(fields["compression_count"]),
    lastActivity: string(fields["last_activity"], ""),
    error: typeof fields["error"] === "string" ? fields["error"] : null,
    epochCount: number(fields["epoch_count"]),
    ...(archived && { archived }),
  };
}

/** The fields of state.json that this version does not know: a rewrite keeps them. */
export function foreignState(folder: string, disk: Disk = systemDisk): JsonObject {
  const known: JsonObject = { ...stateFields(initialState("")), [sealField]: {}, [archivedField]: {} };
  const fields = readObject(join(folder, stateFile), disk) ?? {};
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in known)));
}

/** Errors of a system that has nothing left to read with: they say nothing of the file. */
const exhausted: readonly (string | undefined)[] = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"];

/**
 * The object a file holds; undefined when the file is missing, or holds none.
 *
 * @throws WindrowError `store-unavailable` where the system has no file descriptor or memory left
 */
export function readObject(path: string, disk: Disk = systemDisk): JsonObject | undefined {
  try {
    return parseDocument(disk.readFile(path).toString("utf8"));
  } catch (error) {
    const reason = systemCode(error);
    if (!exhausted.includes(reason)) return undefined;
    const message = `${path} cannot be read now: ${reason}. Let the process open more files (ulimit -n), or close sessions.`;
    throw new WindrowError("store-unavailable", message, { path, reason }, { cause: error });
  }
}

/** The object a text holds; undefined when it holds none. */
export function parseDocument(content: string): JsonObject | undefined {
  try {
    const value = JSON.parse(content) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Fields as the text of metadata.json or state.json. */
export function page(fields: JsonObject): string {
  return `${JSON.stringify(fields, null, 2)}\n`;
}

function number(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function string(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** The files of a session that are no logs. */
export const metadataFile = "metadata.json";

/** How the session is doing. */
export const stateFile = "state.json";

/** The state a session begins with. */
export function initialState(now: string): SessionState {
  return {
    status: "initializing",
    startedAt: now,
    updatedAt: now,
    completedAt: null,
    llmCallCount: 0,
    toolCallCount: 0,
    totalTokensUsed: 0,
    currentContextTokens: 0,
    compressionCount: 0,
    lastActivity: "created",
    error: null,
    epochCount: 0,
  };
}
