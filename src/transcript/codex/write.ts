/** Sessions of Codex: rollout lines, each an item of the Responses API. */
import type {
  JsonObject,
  JsonValue,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
  Usage,
} from "../../message/message.ts";
import { splitResults, urlOf } from "../encoder.ts";
import type { TranscriptEncoder, TranscriptHead } from "../encoder.ts";
import { asName, asObject, defined } from "../../message/json.ts";

const format = "codex";

/** Call types that Codex writes differently from function calls, with the type of their output item. */
const outputs: Readonly<Record<string, string>> = {
  custom_tool_call: "custom_tool_call_output",
  local_shell_call: "function_call_output",
  tool_search_call: "tool_search_output",
};

/** Writes rollouts. Adjacent answers without usage between them are read back as one. */
export const codexEncoder: TranscriptEncoder = {
  format,
  cannotHold: ["file", "media", "opaque-part", "opaque", "id", "timestamp", "model", "usage", "status", "extra"],
  encode: (head, messages) => new Rollout(head).write(messages),
};

/** The counts that Codex has: none by the lifetime of what is written to a cache. */
type CodexCount = Exclude<keyof Usage, "cacheWriteHour">;

class Rollout {
  readonly #head: TranscriptHead;
  readonly #lines: JsonObject[] = [];
  readonly #callTypes = new Map<string, string>();
  readonly #total: Record<CodexCount, number> = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  #model: string | undefined;
  #time: string;

  constructor(head: TranscriptHead) {
    this.#head = head;
    this.#time = head.createdAt;
  }

  write(messages: readonly Message[]): readonly JsonObject[] {
    const { id, createdAt, cwd = "/" } = this.#head;
    const about = { id, timestamp: createdAt, cwd, originator: "windrow", cli_version: "0.0.0", instructions: null };
    this.#add("session_meta", about);
    for (const message of messages) this.#message(message);
    return this.#lines;
  }

  #message(message: Message): void {
    const { results, spoken } = splitResults(message);
    this.#time = message.timestamp ?? this.#time;
    for (const result of results) this.#add("response_item", this.#output(result));
    if (message.role === "assistant") this.#assistant(message, spoken);
    else if (spoken.length > 0 || results.length === 0) {
      const developer = message.role === "system" && message.extra?.["role"] === "developer";
      const role = developer ? "developer" : message.role === "system" ? "system" : "user";
      this.#add("response_item", { type: "message", role, content: spoken.flatMap((part) => blockOf(part, "input")) });
    }
  }

  #assistant(message: Message, parts: readonly Part[]): void {
    const model = message.model ?? this.#head.model;
    if (model !== undefined && model !== this.#model) {
      const { cwd = "/" } = this.#head;
      const policies = { approval_policy: "on-request", sandbox_policy: { type: "read-only" }, summary: "auto" };
      this.#add("turn_context", { cwd, model, ...policies });
      this.#model = model;
    }
    let text: JsonValue[] = [];
    const say = (): void => {
      if (text.length > 0) this.#add("response_item", { type: "message", role: "assistant", content: text });
      text = [];
    };
    for (const part of parts) {
      const item = this.#item(part);
      if (item) {
        say();
        this.#add("response_item", item);
      } else text.push(...blockOf(part, "output"));
    }
    say();
    if (message.usage) this.#usage(message.usage);
    if (message.status === "interrupted") this.#add("event_msg", { type: "turn_aborted", reason: "interrupted" });
  }

  /** A part as an item of its own. */
  #item(part: Part): JsonObject | undefined {
    if (part.type === "tool-call") return this.#call(part);
    if (part.type === "opaque" && part.kind.startsWith(`${format}/`) && !isBlock(part.data)) {
      return asObject(part.data);
    }
    if (part.type !== "reasoning") return undefined;
    const { summary, content } = asObject(part.opaque) ?? {};
    return defined({
      type: "reasoning",
      summary: summary ?? (part.text === "" ? [] : [{ type: "summary_text", text: part.text }]),
      content,
      encrypted_content: part.signature ?? null,
    }) as JsonObject;
  }

  #call({ callId, name, args, argsText, opaque }: ToolCallPart): JsonObject {
    const type = asName(asObject(opaque)?.["type"]) ?? "function_call";
    this.#callTypes.set(callId, type);
    const input = asObject(args)?.["input"];
    if (type === "custom_tool_call") return { type, call_id: callId, name, input: input ?? JSON.stringify(args) };
    if (type === "local_shell_call") return { type, call_id: callId, status: "completed", action: args };
    if (type === "tool_search_call") return { type, call_id: callId, status: "completed", arguments: args };
    return { type: "function_call", name, arguments: argsText ?? JSON.stringify(args), call_id: callId };
  }

  #output({ callId, content, isError }: ToolResultPart): JsonObject {
    const output = typeof content === "string" ? content : content.flatMap((part) => blockOf(part, "input"));
    const type = outputs[this.#callTypes.get(callId) ?? ""] ?? "function_call_output";
    return { type, call_id: callId, output, ...(isError === true && { status: "failed" }) };
  }

  #usage(usage: Usage): void {
    for (const name of Object.keys(this.#total) as CodexCount[]) this.#total[name] += usage[name] ?? 0;
    const info = { total_token_usage: counts(this.#total), last_token_usage: counts(usage) };
    this.#add("event_msg", { type: "token_count", info });
  }

  #add(type: string, payload: JsonObject): void {
    this.#lines.push({ timestamp: this.#time, type, payload });
  }
}

function counts({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): JsonObject {
  return {
    input_tokens: input,
    cached_input_tokens: cacheRead,
    ...(cacheWrite > 0 && { cache_write_input_tokens: cacheWrite }),
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  };
}

function isBlock(data: JsonValue): boolean {
  return /^(input|output)_/.test(asName(asObject(data)?.["type"]) ?? "");
}

function blockOf(part: Part, side: "input" | "output"): readonly JsonValue[] {
  switch (part.type) {
    case "text":
      return [{ type: `${side}_text`, text: part.text }];
    case "image": {
      const url = urlOf(part);
      return url === undefined ? [] : [{ type: "input_image", image_url: url }];
    }
    case "file": {
      const data = part.data === undefined ? undefined : urlOf(part);
      return data === undefined ? [] : [{ type: "input_file", filename: part.name ?? "file", file_data: data }];
    }
    case "opaque":
      return part.kind.startsWith(`${format}/`) && isBlock(part.data) ? [part.data] : [];
    default:
      return [];
  }
}
