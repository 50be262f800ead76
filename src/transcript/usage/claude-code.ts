/**
 * Usage in sessions of Claude Code (versions 1.0 to 2.1). Each block of an answer is a line that repeats the answer's
 * usage, the last one with the final count of output; sub-agents' calls are in files or side chains of their own.
 */
import type { JsonObject } from "../../message/message.ts";
import { asCount, asName, asObject } from "../../message/json.ts";
import { CallList, keyOf, timeOf } from "./usage.ts";
import type { CallUsage, UsageReader } from "./usage.ts";

/** A reader of one session of Claude Code, or of one of its sub-agents. */
export class ClaudeCodeUsage implements UsageReader {
  readonly needles = [['"usage"', '"assistant"']];
  readonly #calls = new CallList();
  #project = "";

  add(row: JsonObject): void {
    const message = asObject(row["message"]);
    const usage = asObject(message?.["usage"]);
    if (row["type"] !== "assistant" || !message || !usage) return;
    if (this.#project === "") this.#project = asName(row["cwd"]) ?? "";
    const [read, written] = [
      asCount(usage["cache_read_input_tokens"]) ?? 0,
      asCount(usage["cache_creation_input_tokens"]) ?? 0,
    ];
    const id = asName(message["id"]) ?? asName(row["uuid"]) ?? "";
    this.#calls.add(identity(id, asName(row["requestId"])), {
      time: timeOf(row["timestamp"]),
      model: asName(message["model"]) ?? "",
      project: "",
      input: (asCount(usage["input_tokens"]) ?? 0) + read + written,
      output: asCount(usage["output_tokens"]) ?? 0,
      cacheRead: read,
      cacheWrite: written,
      longWrite: Math.min(written, asCount(asObject(usage["cache_creation"])?.["ephemeral_1h_input_tokens"]) ?? 0),
      chain: row["isSidechain"] === true ? `side ${asName(row["agentId"]) ?? ""}` : "main",
    });
  }

  end(): readonly CallUsage[] {
    return this.#calls.end(this.#project);
  }
}

/** The keys that a call has in a session of Claude Code, by the provider's ids of its answer and its request. */
export function answerKeys(answerId: string, requestId: string | undefined): readonly number[] {
  // Without a request's id where the client was told none.
  return [identity(answerId, requestId), identity(answerId, undefined)].map(keyOf);
}

function identity(answerId: string, requestId: string | undefined): string {
  return `${answerId} ${requestId ?? ""}`;
}
