/**
 * Usage in sessions of Gemini CLI: JSON lines since 0.40, one document before. A record that changes is written again
 * with its id. What was rewound was paid for, so it counts.
 */
import type { JsonObject } from "../../message/message.ts";
import { asCount, asName, asObject, objectsOf } from "../../message/json.ts";
import { CallList, timeOf } from "./usage.ts";
import type { CallUsage, UsageReader } from "./usage.ts";

/** A reader of one session of Gemini CLI, as lines or as a document. */
export class GeminiCliUsage implements UsageReader {
  readonly needles = [['"tokens"']];
  readonly #calls = new CallList();
  readonly #project: string;

  /** @param project - the folder that the session began in, which its file does not name */
  constructor(project: string) {
    this.#project = project;
  }

  add(row: JsonObject): void {
    const list = objectsOf(row["messages"] ?? asObject(row["$set"])?.["messages"]);
    for (const record of list.length > 0 ? list : [row]) this.#record(record);
  }

  end(): readonly CallUsage[] {
    return this.#calls.end(this.#project);
  }

  #record(record: JsonObject): void {
    const tokens = asObject(record["tokens"]);
    if (record["type"] !== "gemini" || !tokens) return;
    const [input, cached] = [asCount(tokens["input"]) ?? 0, asCount(tokens["cached"]) ?? 0];
    this.#calls.add(`${asName(record["id"]) ?? ""} ${timeOf(record["timestamp"])}`, {
      time: timeOf(record["timestamp"]),
      model: asName(record["model"]) ?? "",
      project: "",
      input,
      // Thoughts are counted beside the answer.
      output: (asCount(tokens["output"]) ?? 0) + (asCount(tokens["thoughts"]) ?? 0),
      cacheRead: Math.min(input, cached),
      cacheWrite: 0,
      chain: "main",
    });
  }
}
