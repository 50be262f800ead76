/**
 * Usage in sessions of Codex (0.40 to 0.146). A `token_count` event follows each call, now and then twice; the model is
 * that of the last `turn_context`. Lines of earlier versions hold no usage.
 */
import type { JsonObject } from "../../message/message.ts";
import { asCount, asName, asObject } from "../../message/json.ts";
import { CallList, timeOf } from "./usage.ts";
import type { CallUsage, UsageReader } from "./usage.ts";

/** A reader of one rollout of Codex. */
export class CodexUsage implements UsageReader {
  readonly needles = [['"token_count"'], ['"turn_context"'], ['"session_meta"']];
  readonly #calls = new CallList();
  #project = "";
  #model = "";
  #total: JsonObject = {};
  #lastTotal = "";

  add(row: JsonObject): void {
    const payload = asObject(row["payload"]);
    if (!payload) return;
    if (row["type"] === "session_meta" || row["type"] === "turn_context") {
      this.#model = asName(payload["model"]) ?? this.#model;
      if (this.#project === "") this.#project = asName(payload["cwd"]) ?? "";
    } else if (row["type"] === "event_msg" && payload["type"] === "token_count") {
      this.#count(asObject(payload["info"]), row["timestamp"]);
    }
  }

  end(): readonly CallUsage[] {
    return this.#calls.end(this.#project);
  }

  #count(info: JsonObject | undefined, timestamp: unknown): void {
    const total = asObject(info?.["total_token_usage"]);
    const [key, before] = [JSON.stringify(total ?? null), this.#total];
    // The same totals again are the same call, told twice.
    if (!info || (total && key === this.#lastTotal)) return;
    [this.#lastTotal, this.#total] = [key, total ?? before];
    const last = asObject(info["last_token_usage"]);
    const of = (field: string): number =>
      last ? (asCount(last[field]) ?? 0) : Math.max(0, (asCount(total?.[field]) ?? 0) - (asCount(before[field]) ?? 0));
    this.#calls.add(`${String(timestamp)} ${key}`, {
      time: timeOf(timestamp),
      model: this.#model,
      project: "",
      input: of("input_tokens"),
      output: of("output_tokens"),
      cacheRead: of("cached_input_tokens"),
      cacheWrite: of("cache_write_input_tokens"),
      chain: "main",
    });
  }
}
