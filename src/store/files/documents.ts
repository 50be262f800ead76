/** metadata.json and state.json, with the field names of seed 001 §3.1 and §3.2. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { SessionMetadata, SessionState, SessionStatus } from "../store.ts";
import { isObject, optional } from "./fields.ts";
import { metadataFile, stateFile } from "./layout.ts";

const statuses: readonly SessionStatus[] = [
  "initializing",
  "processing",
  "compressing",
  "completing",
  "completed",
  "failed",
  "timeout",
];

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
    format: metadata.format,
  });
}

/**
 * Reads a session's metadata.json. Without `format` (a folder of seed 001's own writer) it is version 1.
 *
 * @throws WindrowError `store-corrupt` when it is missing or unreadable
 */
export function readMetadata(folder: string, id: string): SessionMetadata {
  const path = join(folder, metadataFile);
  const fields = readObject(path);
  const { task_key: taskKey, created_at: createdAt, config, user, tenant, format = 1 } = fields ?? {};
  if (!isObject(taskKey) || typeof createdAt !== "string" || !isObject(config) || typeof format !== "number") {
    throw new WindrowError(
      "store-corrupt",
      `${path} is missing or unreadable, so the session cannot be opened. Its messages.jsonl can still be read as text.`,
      { path, id },
    );
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
    format,
  };
}

/** state.json as text. */
export function encodeState(state: SessionState): string {
  return page({
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
  });
}

/** Reads a session's state.json; undefined when it is missing or unreadable, as a power cut can leave it. */
export function readState(folder: string): SessionState | undefined {
  const fields = readObject(join(folder, stateFile));
  const status = statuses.find((known) => known === fields?.["status"]);
  if (fields === undefined || status === undefined) return undefined;
  const startedAt = string(fields["started_at"], "");
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
  };
}

function readObject(path: string): JsonObject | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function page(fields: JsonObject): string {
  return `${JSON.stringify(fields, null, 2)}\n`;
}

function number(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function string(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
