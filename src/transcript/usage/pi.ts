/** Usage in sessions of pi (versions 1 to 3 of its format), and of agents that write the same. Each answer is one line. */
import type { JsonObject } from "../../message/message.ts";
import { asCount, asName, asObject } from "../../message/json.ts";
import { CallList, timeOf } from "./usage.ts";
import type { CallUsage, UsageReader } from "./usage.ts";

/** A reader of one session of pi. */
export class PiUsage implements UsageReader {
  readonly needles = [
    ['"usage"', '"assistant"'],
    ['"session"', '"cwd"'],
  ];
  readonly #calls = new CallList();
  #project = "";

  add(row: JsonObject): void {
    if (row["type"] === "session" && this.#project === "") this.#project = asName(row["cwd"]) ?? "";
    const message = asObject(row["message"]);
    const usage = asObject(message?.["usage"]);
    if (row["type"] !== "message" || !message || message["role"] !== "assistant" || !usage) return;
    const [plain, read, written] = ["input", "cacheRead", "cacheWrite"].map((field) => asCount(usage[field]) ?? 0);
    const time = timeOf(row["timestamp"]) ?? timeOf(message["timestamp"]);
    this.#calls.add(
      `${asName(row["id"]) ?? ""} ${time} ${plain} ${read} ${written} ${JSON.stringify(usage["output"])}`,
      {
        time,
        model: asName(message["model"]) ?? "",
        project: "",
        input: (plain ?? 0) + (read ?? 0) + (written ?? 0),
        output: asCount(usage["output"]) ?? 0,
        cacheRead: read ?? 0,
        cacheWrite: written ?? 0,
        chain: "main",
      },
    );
  }

  end(): readonly CallUsage[] {
    return this.#calls.end(this.#project);
  }
}
