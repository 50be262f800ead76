/** Sessions of Codex: rollout JSONL of response items, and the flat lines that earlier versions wrote. */
import type { JsonObject, JsonValue, NewMessage, Part } from "../../message/message.ts";
import { responsesUsage } from "../../shape/responses/usage.ts";
import { codexCall, codexContent, codexOutput, codexReasoning } from "./items.ts";
import { head, TranscriptBuilder } from "../builder.ts";
import { opaquePart } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined, isoTime, restOf } from "../../message/json.ts";
import type { Transcript, TranscriptDecoder, TranscriptSource } from "../transcript.ts";

const format = "codex";

const wrappers: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);

/** Item types of the flat format, named as in the Responses API. */
const flatTypes: ReadonlySet<unknown> = new Set([
  "function_call",
  "function_call_output",
  "function_result",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
]);

const messageFields: ReadonlySet<string> = new Set([
  "type",
  "id",
  "role",
  "content",
  "message",
  "model",
  "created_at",
  "timestamp",
]);

/** Beginnings of texts that Codex sends under the user's role. They are no turn of the user. */
const contextMarks = ["<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions"];

/**
 * Reads Codex sessions. The model's output between two inputs is one assistant message. `event_msg` lines repeat the
 * items; only usage, aborts and roll-backs are read from them. Compactions are in `meta.compactions`; messages of
 * rolled-back turns are counted in `meta.abandoned`.
 */
export const codex: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const rows = head(source.entries).map((entry) => asObject(entry.value) ?? {});
    if (rows.some((row) => wrappers.has(row["type"]) && asObject(row["payload"]))) return 0.95;
    if (rows.some((row) => flatTypes.has(row["type"]) || "record_type" in row)) return 0.75;
    return rows.some((row) => row["type"] === "message" && hasResponsesText(row)) ? 0.75 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const reading = new Reading();
    for (const { line, value } of source.entries) {
      const row = asObject(value);
      if (row) reading.add(row, line);
      else reading.builder.problem(line, "no Codex line: it is no object");
    }
    return [reading.end(source.name)];
  },
};

function hasResponsesText(row: JsonObject): boolean {
  return (asArray(row["content"]) ?? []).some((block) => {
    const type = asObject(block)?.["type"];
    return type === "input_text" || type === "output_text";
  });
}

class Reading {
  readonly builder = new TranscriptBuilder();
  #header: JsonObject | undefined;
  #model: string | undefined;
  /** The index of the assistant message in progress. */
  #open: number | undefined;
  #lastUsage: JsonValue | undefined;
  readonly #compactions: JsonValue[] = [];
  #abandoned = 0;

  add(row: JsonObject, line: number): void {
    const time = isoTime(row["timestamp"]) ?? isoTime(row["created_at"]);
    const payload = asObject(row["payload"]);
    switch (payload ? row["type"] : undefined) {
      case "session_meta":
        this.#header ??= payload;
        return;
      case "turn_context":
        this.#model = asName(payload?.["model"]) ?? this.#model;
        return;
      case "event_msg":
        return this.#event(payload ?? {}, time);
      case "compacted":
        this.#compactions.push({ after: this.builder.messages.length, summary: payload?.["message"] ?? "" });
        this.#open = undefined;
        return;
      case "response_item":
        return this.#item(payload ?? {}, time, line);
      default:
        if (!payload) this.#flat(row, time, line);
    }
  }

  end(name: string): Transcript {
    const meta = defined({
      cwd: this.#header?.["cwd"],
      version: this.#header?.["cli_version"],
      compactions: this.#compactions.length === 0 ? undefined : this.#compactions,
      abandoned: this.#abandoned === 0 ? undefined : this.#abandoned,
    }) as JsonObject;
    return this.builder.build(asName(this.#header?.["id"]) ?? name, format, { model: this.#model, meta });
  }

  #flat(row: JsonObject, time: string | undefined, line: number): void {
    const isHeader =
      this.#header === undefined && !("type" in row) && !("role" in row) && asName(row["id"]) !== undefined;
    if (isHeader) this.#header = row;
    else if (!("record_type" in row)) this.#item(row, time, line);
  }

  #item(item: JsonObject, time: string | undefined, line: number): void {
    const calls = this.builder.calls;
    const type = item["type"] ?? (asName(item["role"]) === undefined ? undefined : "message");
    switch (type) {
      case "message":
      case "agent_message":
        return this.#message(item, time, line);
      case "reasoning":
        return this.#speak([codexReasoning(item)], time);
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
      case "tool_search_call":
      case "tool_call":
        return this.#speak([codexCall(item, calls)], time);
      case "function_call_output":
      case "custom_tool_call_output":
      case "tool_search_output":
      case "tool_result":
      case "function_result":
        this.#open = undefined;
        this.builder.add(
          defined({
            role: "tool" as const,
            parts: [codexOutput(item, calls)],
            timestamp: time,
            id: asName(item["id"]),
          }),
        );
        return;
      case "ghost_snapshot":
        return;
      case undefined:
        return this.builder.problem(line, "no Codex item: it has no type");
      default:
        return this.#speak([opaquePart(item, format)], time);
    }
  }

  #message(item: JsonObject, time: string | undefined, line: number): void {
    const role = item["type"] === "agent_message" ? "user" : item["role"];
    const parts = codexContent(item["content"] ?? item["message"]);
    const extra = restOf(item, messageFields);
    const id = asName(item["id"]);
    if (role === "assistant") return this.#speak(parts, time, defined({ id, extra, model: asName(item["model"]) }));
    this.#open = undefined;
    if (role !== "user" && role !== "system" && role !== "developer")
      return this.builder.problem(line, "a message without a known role");
    const message: NewMessage = defined({
      id,
      role: role === "user" ? ("user" as const) : ("system" as const),
      parts,
      timestamp: time,
      extra: role === "developer" ? { ...extra, role } : extra,
    });
    this.builder.add(message);
  }

  /** Adds to the assistant message in progress, or begins one. */
  #speak(
    parts: readonly Part[],
    time: string | undefined,
    about: Omit<Partial<NewMessage>, "parts" | "role"> = {},
  ): void {
    const { messages } = this.builder;
    const open = this.#open === undefined ? undefined : messages[this.#open];
    if (this.#open !== undefined && open) {
      const { extra } = about;
      messages[this.#open] = {
        ...open,
        parts: [...open.parts, ...parts],
        ...(extra && { extra: { ...open.extra, ...extra } }),
      };
      return;
    }
    this.#open = this.builder.add(
      defined({ role: "assistant" as const, parts, timestamp: time, model: this.#model, ...about }),
    );
  }

  #event(event: JsonObject, time: string | undefined): void {
    if (event["type"] === "token_count") this.#usage(asObject(event["info"]), time);
    else if (event["type"] === "turn_aborted") this.#interrupt();
    else if (event["type"] === "thread_rolled_back") this.#rollBack(Number(event["num_turns"] ?? 0));
  }

  /** Reads usage. Codex reports it after the call, sometimes twice; it belongs to the newest assistant message. */
  #usage(info: JsonObject | undefined, timestamp: string | undefined): void {
    const total = info?.["total_token_usage"] && JSON.stringify(info["total_token_usage"]);
    const usage = responsesUsage(info?.["last_token_usage"]);
    const { messages } = this.builder;
    const index = messages.findLastIndex((message) => message.role === "assistant");
    const message = messages[index];
    if (usage === undefined || (total && total === this.#lastUsage)) return;
    this.#lastUsage = total;
    if (!message || message.usage) {
      this.builder.leaveOut([{ usage, ...defined({ model: this.#model, timestamp }) }]);
      return;
    }
    messages[index] = { ...message, usage };
    this.#open = undefined;
  }

  #interrupt(): void {
    const { messages } = this.builder;
    const last = messages.at(-1);
    if (last?.role === "assistant") messages[messages.length - 1] = { ...last, status: "interrupted" };
    this.#open = undefined;
  }

  #rollBack(turns: number): void {
    const { messages } = this.builder;
    this.#open = undefined;
    for (let left = turns; left > 0; left--) {
      const start = messages.findLastIndex((message) => message.role === "user" && !isContext(message.parts));
      if (start < 0) return;
      this.#abandoned += messages.length - start;
      this.builder.leaveOut(messages.slice(start));
      messages.length = start;
    }
  }
}

function isContext(parts: readonly Part[]): boolean {
  const [first] = parts;
  const text = first?.type === "text" ? (asString(first.text)?.trimStart() ?? "") : "";
  return contextMarks.some((mark) => text.startsWith(mark));
}
