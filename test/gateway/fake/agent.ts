/**
 * A scripted agent on any of the five APIs: it sends its whole history on every call, does what it is told with results of
 * a given size, and asks again where a connection breaks. It moves its mark of the cache as coding agents do.
 */
import { list, object, text } from "./json.ts";
import type { Json } from "./json.ts";
import type { Api } from "./reading.ts";

export interface AgentOptions {
  /** Where the provider, or what stands before it, listens. */
  readonly url: string;
  readonly api: Api;
  /** Its own session's id, which it sends as Claude Code and Codex do. Absent: nobody is told. */
  readonly session?: string;
  /** Bytes of each result. Default 200. */
  readonly resultBytes?: number;
  /** Default true. */
  readonly isStream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly model?: string;
  /** Members of every request beside its own. */
  readonly settings?: Json;
  /** How often one call is asked again before the run fails. Default 0. */
  readonly retries?: number;
  /** Waited for before a call is asked again. */
  readonly pause?: () => Promise<unknown>;
  /** What it says to a call of `windrow_recall`, which it lacks. */
  readonly lacking?: (name: string) => string;
  /** The history to go on with. */
  readonly history?: readonly Json[];
}

export interface AgentRun {
  /** The whole conversation, as the agent keeps it. */
  readonly messages: readonly Json[];
  readonly text: string;
  readonly calls: number;
  readonly retried: number;
}

/** A call that was refused: its status and body. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, body: string) {
    super(`${status}: ${body}`);
    this.status = status;
  }
}

/** Runs one task to its end. */
export async function runAgent(task: string, options: AgentOptions): Promise<AgentRun> {
  const dialect = dialects[options.api];
  const { lacking = (name: string) => `Error: No such tool available: ${name}` } = options;
  const messages = [...(options.history ?? []), dialect.task(task)];
  let calls = 0;
  let retried = 0;
  for (;;) {
    const { items, answer, done } = await asked();
    messages.push(...items);
    if (done.length === 0) return { messages, text: answer, calls, retried };
    const answered = done.map((call, index) => {
      const isMissing = call.name === "windrow_recall";
      const result = isMissing ? lacking(call.name) : resultOf(calls, index);
      return { ...call, result, ...(isMissing && { isMissing }) };
    });
    messages.push(...dialect.results(answered));
  }

  function resultOf(step: number, index: number): string {
    const line = (at: number): string =>
      `step ${step}.${index} line ${at}: ${Math.imul(step * 97 + at, 2_654_435_761) >>> 0}\n`;
    let found = "";
    for (let at = 0; found.length < (options.resultBytes ?? 200); at++) found += line(at);
    return found.slice(0, options.resultBytes ?? 200);
  }

  async function asked(): Promise<Answered> {
    for (let attempt = 0; ; attempt++) {
      try {
        calls++;
        return await ask();
      } catch (error) {
        calls--;
        const isFinal = error instanceof Refused && error.status < 500 && error.status !== 429;
        if (isFinal || attempt >= (options.retries ?? 0)) throw error;
        retried++;
        await options.pause?.();
      }
    }
  }

  async function ask(): Promise<Answered> {
    const isStream = options.isStream ?? true;
    const model = options.model ?? "claude-opus-5-5";
    const response = await fetch(`${options.url}${dialect.path(model, isStream)}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "authorization": "Bearer sk-fake-0000",
        ...(options.session !== undefined && dialect.claims(options.session)),
        ...options.headers,
      },
      body: JSON.stringify({ ...dialect.body(messages, model, isStream), ...options.settings }),
    });
    const body = await response.text();
    if (!response.ok) throw new Refused(response.status, body);
    return isStream ? dialect.streamed(body) : dialect.whole(JSON.parse(body) as Json);
  }
}

interface Done {
  readonly id: string;
  readonly name: string;
}

interface Answered {
  /** What goes into the history. */
  readonly items: readonly Json[];
  readonly answer: string;
  readonly done: readonly Done[];
}

interface Dialect {
  path(model: string, isStream: boolean): string;
  claims(session: string): Readonly<Record<string, string>>;
  task(words: string): Json;
  body(messages: readonly Json[], model: string, isStream: boolean): Json;
  whole(answer: Json): Answered;
  streamed(body: string): Answered;
  results(done: readonly (Done & { readonly result: string; readonly isMissing?: boolean })[]): readonly Json[];
}

const parameters = { type: "object", properties: { path: { type: "string" } } };
const told = "You read files until you are told to stop. ".repeat(40);

/** The JSON of every event of a stream. Throws where its last event is not the one that ends it. */
function events(body: string, isEnd: (last: Json, raw: string) => boolean): readonly Json[] {
  const data = body.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []));
  const found = data.flatMap((line) => (line.startsWith("{") ? [object(JSON.parse(line))] : []));
  for (const { type, error, response } of found) {
    const failure = object(error)["message"] ?? object(object(response)["error"])["message"];
    if (type === "error" || failure !== undefined) throw new Error(`an error in the stream: ${text(failure)}`);
  }
  if (!isEnd(found.at(-1) ?? {}, data.at(-1) ?? "")) throw new Error("the stream broke off");
  return found;
}

const anthropic: Dialect = {
  path: () => "/v1/messages?beta=true",
  claims: (session) => ({ "x-claude-code-session-id": session, "user-agent": "claude-cli/2.1.330" }),
  // A text alone is a string, until it carries the mark.
  task: (words) => ({ role: "user", content: words }),
  body(messages, model, isStream) {
    const cache_control = { type: "ephemeral" };
    const last = messages.at(-1)!;
    const blocks =
      typeof last["content"] === "string" ? [{ type: "text", text: last["content"] }] : list(last["content"]);
    const marked = blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, cache_control } : block));
    return {
      model,
      max_tokens: 32_000,
      stream: isStream,
      thinking: { type: "adaptive" },
      system: [{ type: "text", text: told, cache_control }],
      tools: [{ name: "read_file", description: "Reads a file.", input_schema: parameters }],
      messages: [...messages.slice(0, -1), { ...last, content: marked }],
    };
  },
  whole: (answer) => anthropic.streamed(`data: ${JSON.stringify(answer)}\n\ndata: {"type":"message_stop"}`),
  streamed(body) {
    const content: Record<string, unknown>[] = [];
    for (const { type, index, content_block, delta, content: all } of events(
      body,
      ({ type: last }) => last === "message_stop",
    )) {
      if (type === "message") content.push(...list(all).map((block) => ({ ...block })));
      if (type === "content_block_start") content[index as number] = { ...object(content_block), json: "" };
      if (type !== "content_block_delta") continue;
      const block = content[index as number]!;
      const { text: words, thinking, signature, partial_json } = object(delta);
      if (words !== undefined) block["text"] = text(block["text"]) + text(words);
      if (thinking !== undefined) block["thinking"] = text(block["thinking"]) + text(thinking);
      if (signature !== undefined) block["signature"] = signature;
      if (partial_json !== undefined) block["json"] = text(block["json"]) + text(partial_json);
    }
    const blocks = content.map(({ json, ...block }) =>
      block["type"] === "tool_use" && text(json) !== "" ? { ...block, input: JSON.parse(text(json)) as Json } : block,
    ) as readonly Json[];
    return {
      items: [{ role: "assistant", content: blocks }],
      answer: blocks.map((block) => text(block["text"])).join(""),
      done: blocks
        .filter((block) => block["type"] === "tool_use")
        .map(({ id, name }) => ({ id: text(id), name: text(name) })),
    };
  },
  results: (done) => [
    {
      role: "user",
      content: done.map(({ id, result, isMissing }) => ({
        ...{ type: "tool_result", tool_use_id: id, content: result },
        ...(isMissing && { is_error: true }),
      })),
    },
  ],
};

const responses: Dialect = {
  path: () => "/v1/responses",
  claims: (session) => ({ "session-id": session, "thread-id": session, "user-agent": "codex_exec/0.169.0" }),
  task: (words) => ({ type: "message", role: "user", content: [{ type: "input_text", text: words }] }),
  body: (messages, model, isStream) => ({
    model,
    stream: isStream,
    store: false,
    include: ["reasoning.encrypted_content"],
    instructions: told,
    tools: [{ type: "function", name: "read_file", description: "Reads a file.", strict: false, parameters }],
    input: messages,
  }),
  whole(answer) {
    const items = list(answer["output"]);
    return {
      items,
      answer: items.flatMap(({ content }) => list(content).map((part) => text(part["text"]))).join(""),
      done: items
        .filter(({ type }) => type === "function_call")
        .map(({ call_id, name }) => ({ id: text(call_id), name: text(name) })),
    };
  },
  streamed(body) {
    const all = events(body, ({ type }) => type === "response.completed");
    return responses.whole(object(all.at(-1)!["response"]));
  },
  results: (done) => done.map(({ id, result }) => ({ type: "function_call_output", call_id: id, output: result })),
};

const chat: Dialect = {
  path: () => "/v1/chat/completions",
  claims: (session) => ({ "x-session-affinity": session, "x-session-id": session, "user-agent": "opencode/1.18.33" }),
  task: (words) => ({ role: "user", content: words }),
  body: (messages, model, isStream) => ({
    model,
    stream: isStream,
    ...(isStream && { stream_options: { include_usage: true } }),
    tools: [{ type: "function", function: { name: "read_file", description: "Reads a file.", parameters } }],
    messages: [{ role: "system", content: told }, ...messages],
  }),
  whole(answer) {
    const { message } = list(answer["choices"])[0]!;
    const done = list(object(message)["tool_calls"]);
    return {
      items: [object(message)],
      answer: text(object(message)["content"]),
      done: done.map((call) => ({ id: text(call["id"]), name: text(object(call["function"])["name"]) })),
    };
  },
  streamed(body) {
    let content = "";
    const calls: { id: string; name: string; arguments: string }[] = [];
    for (const { choices } of events(body, (_last, raw) => raw === "[DONE]")) {
      const delta = object(list(choices)[0]?.["delta"]);
      content += text(delta["content"]);
      for (const call of list(delta["tool_calls"])) {
        const place = (calls[call["index"] as number] ??= { id: "", name: "", arguments: "" });
        place.id ||= text(call["id"]);
        place.name ||= text(object(call["function"])["name"]);
        place.arguments += text(object(call["function"])["arguments"]);
      }
    }
    const tool_calls = calls.map(({ id, ...made }) => ({ id, type: "function", function: made }));
    const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls }) };
    return chat.whole({ choices: [{ message }] });
  },
  results: (done) => done.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result })),
};

const gemini: Dialect = {
  path: (model, isStream) =>
    `/v1beta/models/${model}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  claims: () => ({}),
  task: (words) => ({ role: "user", parts: [{ text: words }] }),
  body: (messages) => ({
    systemInstruction: { parts: [{ text: told }] },
    tools: [{ functionDeclarations: [{ name: "read_file", description: "Reads a file.", parameters }] }],
    contents: messages,
  }),
  whole(answer) {
    const parts = list(object(list(answer["candidates"])[0]?.["content"])["parts"]);
    return {
      items: [{ role: "model", parts }],
      answer: parts.map((part) => text(part["text"])).join(""),
      done: parts
        .map((part) => object(part["functionCall"]))
        .filter(({ name }) => name !== undefined)
        .map(({ id, name }) => ({ id: text(id), name: text(name) })),
    };
  },
  streamed(body) {
    const all = events(body, ({ candidates }) => list(candidates)[0]?.["finishReason"] === "STOP");
    const parts = all.flatMap(({ candidates }) => list(object(list(candidates)[0]?.["content"])["parts"]));
    return gemini.whole({ candidates: [{ content: { parts } }] });
  },
  results: (done) => [
    {
      role: "user",
      parts: done.map(({ id, name, result, isMissing }) => {
        const response = isMissing ? { error: result } : { output: result };
        return { functionResponse: { ...(id !== "" && { id }), name, response } };
      }),
    },
  ],
};

const ollama: Dialect = {
  path: () => "/api/chat",
  claims: () => ({}),
  task: (words) => ({ role: "user", content: words }),
  body: (messages, model, isStream) => ({
    model,
    stream: isStream,
    tools: [{ type: "function", function: { name: "read_file", description: "Reads a file.", parameters } }],
    messages: [{ role: "system", content: told }, ...messages],
  }),
  whole: (answer) => ollama.streamed(JSON.stringify(answer)),
  streamed(body) {
    const lines = body.split("\n").filter((line) => line !== "");
    const all = lines.map((line) => object(JSON.parse(line)));
    if (all.at(-1)?.["done"] !== true) throw new Error("the stream broke off");
    const said = all.map((line) => object(line["message"]));
    const content = said.map((message) => text(message["content"])).join("");
    const tool_calls = said.flatMap((message) => list(message["tool_calls"]));
    return {
      items: [{ role: "assistant", content, ...(tool_calls.length > 0 && { tool_calls }) }],
      answer: content,
      done: tool_calls.map((call) => ({ id: "", name: text(object(call["function"])["name"]) })),
    };
  },
  results: (done) => done.map(({ name, result }) => ({ role: "tool", tool_name: name, content: result })),
};

const dialects: Readonly<Record<Api, Dialect>> = { anthropic, responses, chat, gemini, ollama };
