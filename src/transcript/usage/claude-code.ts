/**
 * Usage in sessions of Claude Code (versions 1.0 to 2.1). Each block of an answer is a line that repeats the answer's
 * usage, the last one with the final count of output; sub-agents' calls are in files or side chains of their own.
 */
import type { JsonObject } from "../../message/message.ts";
import { asName, asObject } from "../../message/json.ts";
import { anthropicUsage } from "../../shape/anthropic/usage.ts";
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
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 } = anthropicUsage(usage) ?? {};
    const id = asName(message["id"]) ?? asName(row["uuid"]) ?? "";
    this.#calls.add(identity(id, asName(row["requestId"])), {
      time: timeOf(row["timestamp"]),
      model: asName(message["model"]) ?? "",
      project: "",
      ...{ input, output, cacheRead, cacheWrite, cacheWriteHour },
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
