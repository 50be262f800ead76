/**
 * A provider on 127.0.0.1 that follows a script, and checks what it is sent: pairs of calls and results, marks of the
 * cache, tools and system that stay, thinking that belongs to what stands before it. It speaks Anthropic Messages, OpenAI
 * Responses and Chat, Gemini and Ollama.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { costOf, promptCache } from "./cache.ts";
import type { Usage } from "./cache.ts";
import { conversations } from "./conversations.ts";
import type { Fault } from "./checks.ts";
import { edited } from "./edits.ts";
import { gemini, ollama } from "./gemini.ts";
import { hash, object, text, tokensOf } from "./json.ts";
import type { Json } from "./json.ts";
import { read } from "./reading.ts";
import type { Api, Reading } from "./reading.ts";
import { responses } from "./responses.ts";
import { replyTo, scenarioOf } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { besides } from "./besides.ts";
import type { Answering, Shape } from "./answer.ts";

export interface FakeOptions {
  /** See {@link Scenario}. Default `plain`. A request's header `x-fake-scenario` goes before it. */
  readonly scenario?: string;
  /** Whether models think where the request lets them. Default true. */
  readonly thinks?: boolean;
  /** Whether models think between calls, too, where the client gives the budget of thinking. Default true. */
  readonly interleaves?: boolean;
  /** A longer request, in the fake's tokens, is a fault. */
  readonly budget?: number;
  /**
   * Whether reasoning at the end of a request is taken: Codex asks again with that of an answer that broke off. Default
   * false.
   */
  readonly takesLoneReasoning?: boolean;
  /** Whether the field `context_management` is refused, as servers do that are not Anthropic's. Default false. */
  readonly refusesEdits?: boolean;
  /** Milliseconds between the frames of a stream. Default 0: they come at once. */
  readonly pauseMs?: number;
  /** Whether bodies are kept for {@link Seen.body}. Default true. */
  readonly keepsBodies?: boolean;
}

/** One request, as it came and as it was answered. */
export interface Seen {
  readonly n: number;
  /** Milliseconds since the fake began. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, in the client's own writing. */
  readonly rawHeaders: readonly string[];
  readonly bytes: number;
  readonly body?: Buffer;
  /** The rest is absent for a request that carries no conversation. */
  readonly api?: Api;
  readonly conversation?: string;
  /** Whether it is a title, a route or the like: no tools, or a schema. */
  readonly isSide?: boolean;
  /** Behind the provider's own edits. */
  readonly tokens?: number;
  /** The edits that were made to it. */
  readonly applied?: readonly Json[];
  /** How many blocks its messages have. */
  readonly blocks?: number;
  /** Whether it begins with all that the conversation's request before it held. */
  readonly extends?: boolean;
  readonly usage?: Usage;
  /** In fresh input tokens; 0 where it was refused. */
  readonly cost?: number;
  status: number;
  outcome: "open" | "whole" | "fault" | "refused" | "aborted";
}

export interface Fake {
  readonly url: string;
  readonly port: number;
  scenario: string;
  readonly requests: readonly Seen[];
  readonly faults: readonly Fault[];
  /** The requests of conversations: no side requests, no lists of models. */
  turns(): readonly Seen[];
  /** What all requests cost. */
  cost(): { readonly cost: number } & Usage;
  /** Waits until a condition holds; it is asked again at every request and at every end of an answer. */
  until(condition: () => boolean): Promise<void>;
  /** Forgets requests, faults, conversations and the cache. */
  reset(): void;
  close(): Promise<void>;
}

const shapes: Readonly<Record<Api, Shape>> = { anthropic, responses, chat, gemini, ollama };

function apiOf(path: string): Api | undefined {
  if (path.endsWith("/messages")) return "anthropic";
  if (path.endsWith("/responses") || path.endsWith("/responses/compact")) return "responses";
  if (path.endsWith("/chat/completions")) return "chat";
  if (/:(?:stream)?generateContent$/i.test(path)) return "gemini";
  return path.endsWith("/api/chat") ? "ollama" : undefined;
}

/** Starts a fake. */
export async function startFake(options: FakeOptions = {}): Promise<Fake> {
  const { thinks = true, keepsBodies = true, pauseMs = 0, takesLoneReasoning = false } = options;
  const count = (body: string): number => tokensOf(Buffer.byteLength(body));
  const requests: Seen[] = [];
  const faults: Fault[] = [];
  const waiting = new Set<() => void>();
  const told = (): void => waiting.forEach((ask) => ask());
  const began = Date.now();
  let kept = conversations(takesLoneReasoning);
  let cache = promptCache();
  let scenario = options.scenario ?? "plain";

  const server = createServer((request, response) => {
    void body(request).then((bytes) => answer(request, response, bytes));
  });
  server.keepAliveTimeout = 60_000;
  server.on("upgrade", (_request, socket) => {
    socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });

  async function answer(request: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    const path = url.split("?")[0]!;
    const api = method === "POST" ? apiOf(path) : undefined;
    const json = parsed(bytes, headers["content-encoding"]);
    const first = { n: requests.length + 1, at: Date.now() - began, method, path: url, rawHeaders: request.rawHeaders };
    const sized = { ...first, bytes: bytes.length, ...(keepsBodies && { body: bytes }) };
    const reply = (status: number, value: Json, more: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { "content-type": "application/json", "request-id": `req_fake${first.n}`, ...more });
      response.end(method === "HEAD" ? undefined : JSON.stringify(value));
    };
    if (api === undefined || json === undefined) {
      const { status, value } = besides(method, path, json);
      requests.push({ ...sized, status, outcome: "whole" });
      if (api !== undefined) found({ request: first.n, conversation: "", kind: "not-json", detail: path });
      reply(status, value);
      return told();
    }
    const reading = read(api, json);
    if (path.endsWith("/compact")) Object.assign(reading, { compaction: "item", isStream: false });
    if (/:streamGenerateContent$/i.test(path)) Object.assign(reading, { isStream: true });
    const script = scenarioOf(text(headers["x-fake-scenario"]) || scenario);
    const isSide = !reading.hasTools || reading.schema !== undefined;
    const turn = kept.take(reading, headers, isSide);
    const edits = api === "anthropic" ? edited(json, headers, count, options.refusesEdits === true) : undefined;
    const { applied = [] } = edits ?? {};
    const isEdited = edits !== undefined && applied.length > 0;
    const tokens = count(isEdited ? JSON.stringify(edits.body) : bytes.toString("utf8"));
    for (const finding of turn.findings) found({ request: first.n, conversation: turn.conversation, ...finding });
    if (!isSide && options.budget !== undefined && tokens > options.budget) {
      const detail = `${tokens} tokens`;
      found({ request: first.n, conversation: turn.conversation, kind: "over-budget", detail });
    }
    const refusal = refusalOf(
      edits?.refusal ?? turn.findings.find((finding) => finding.refusal)?.refusal,
      reading,
      tokens,
      isSide,
      script,
    );
    const taken =
      refusal === undefined
        ? cache.take(isEdited ? read(api, edits.body) : reading)
        : { fresh: 0, read: 0, written: 0 };
    const spoken = replyTo(reading, script);
    const output = refusal ? 0 : tokensOf(spoken.text.length + JSON.stringify(spoken.calls).length) + 8;
    const usage = { ...taken, output };
    const seen: Seen = {
      ...sized,
      api,
      conversation: turn.conversation,
      isSide,
      tokens,
      applied,
      blocks: reading.blocks.length,
      extends: turn.extends,
      usage,
      cost: costOf(usage),
      status: refusal?.status ?? 200,
      outcome: refusal === undefined ? "open" : "refused",
    };
    requests.push(seen);
    response.once("close", () => {
      if (seen.outcome === "open") seen.outcome = "aborted";
      told();
    });
    told();
    if (refusal !== undefined) {
      return reply(refusal.status, shapes[api].error(refusal.status, refusal.type, refusal.message, refusal.code), {
        ...(refusal.status !== 400 && { "retry-after": "1" }),
      });
    }
    const thinksAgain = options.interleaves !== false || reading.blocks.at(-1)?.kind !== "result";
    const signs = thinks && thinksAgain && !isSide && mayThink(reading) && reading.compaction === undefined;
    const nonce = randomBytes(4).toString("hex");
    const big = { fresh: 190_000, read: 0, written: 0, output };
    const answering: Answering = {
      reply: spoken,
      usage: script.kind === "big-usage" && !isSide ? big : usage,
      model: reading.model,
      nonce,
      applied,
      ...(signs && { signature: hash(`${turn.prefix}${nonce}`) }),
      tellsUsage: object(reading.body["stream_options"])["include_usage"] === true,
    };
    kept.minted(turn, answering, shapes[api].whole(answering));
    if (!reading.isStream) {
      seen.outcome = "whole";
      return reply(200, shapes[api].whole(answering), { "x-request-id": `req_fake${first.n}` });
    }
    const isFaulty = !isSide && ["sse-error", "drop"].includes(script.kind) && turn.hit(script.kind) <= script.count;
    await streamed(response, seen, answering, isSide ? "plain" : script.kind, isFaulty, script.count);
    told();
  }

  function found(fault: Fault): void {
    faults.push(fault);
  }

  function refusalOf(
    told: string | undefined,
    reading: Reading,
    tokens: number,
    isSide: boolean,
    { kind, count: times }: Scenario,
  ): { readonly status: number; readonly type: string; readonly message: string; readonly code?: string } | undefined {
    const { api } = reading;
    const invalid = api === "gemini" ? "INVALID_ARGUMENT" : "invalid_request_error";
    if (told !== undefined) return { status: 400, type: invalid, message: told };
    const hits = isSide || !["overflow", "529", "429"].includes(kind) ? Infinity : kept.hit(reading, kind);
    if (kind === "overflow" && hits <= times) {
      const message = {
        anthropic: `prompt is too long: ${Math.max(tokens, 214_315)} tokens > 200000 maximum`,
        gemini: "The input token count exceeds the maximum number of tokens allowed (200000).",
        responses: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        chat: "This model's maximum context length is 200000 tokens. Please reduce the length of the messages.",
        ollama: "the prompt is longer than the context",
      }[api];
      return { status: 400, type: invalid, message, code: "context_length_exceeded" };
    }
    if (hits === Infinity || hits > times) return undefined;
    if (kind === "429") {
      return { status: 429, type: "rate_limit_error", message: "Slow down", code: "rate_limit_exceeded" };
    }
    return { status: api === "anthropic" ? 529 : 503, type: "overloaded_error", message: "Overloaded" };
  }

  async function streamed(
    response: ServerResponse,
    seen: Seen,
    answering: Answering,
    kind: string,
    isFaulty: boolean,
    times: number,
  ): Promise<void> {
    const { contentType, frames, cut, error, ping } = shapes[seen.api!].stream(answering);
    const headers = { "request-id": `req_fake${seen.n}`, "x-request-id": `req_fake${seen.n}` };
    response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache", ...headers });
    const isGone = (): boolean => response.destroyed;
    const say = async (some: readonly string[]): Promise<void> => {
      for (const frame of some) {
        if (isGone()) return;
        response.write(frame);
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    await say(frames.slice(0, cut));
    for (let pings = 0; kind === "slow" && pings < times && !isGone(); pings++) {
      response.write(ping || "\n");
      await Promise.race([new Promise((resolve) => setTimeout(resolve, 250)), once(response, "close")]);
    }
    if (isFaulty) {
      seen.outcome = "fault";
      if (kind === "drop") {
        const torn = frames[cut] ?? "";
        return void response.write(torn.slice(0, torn.length / 2), () => response.destroy());
      }
      await say(error);
      return void response.end();
    }
    await say(frames.slice(cut));
    if (isGone()) return;
    seen.outcome = "whole";
    response.end();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const fake: Fake = {
    url: `http://127.0.0.1:${port}`,
    port,
    get scenario() {
      return scenario;
    },
    set scenario(script) {
      scenario = script;
      kept.forgetHits();
    },
    requests,
    faults,
    turns: () => requests.filter(({ isSide }) => isSide === false),
    cost() {
      const used = requests.flatMap(({ usage }) => usage ?? []);
      const total = (name: keyof Usage): number => used.reduce((sum, usage) => sum + usage[name], 0);
      const usage = { fresh: total("fresh"), read: total("read"), written: total("written"), output: total("output") };
      return { cost: costOf(usage), ...usage };
    },
    until: (condition) =>
      new Promise((resolve) => {
        const ask = (): void => {
          if (!condition()) return;
          waiting.delete(ask);
          resolve();
        };
        waiting.add(ask);
        ask();
      }),
    reset() {
      requests.length = 0;
      faults.length = 0;
      kept = conversations(takesLoneReasoning);
      cache = promptCache();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return fake;
}

function mayThink({ api, body }: Reading): boolean {
  if (api === "anthropic") return ["adaptive", "enabled"].includes(text(object(body["thinking"])["type"]));
  const { include } = body;
  return api === "responses" && Array.isArray(include) && include.includes("reasoning.encrypted_content");
}

async function body(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // A client that is killed while it writes leaves a part, which is then no JSON.
  }
  return Buffer.concat(chunks);
}

function parsed(bytes: Buffer, encoding: string | undefined): Json | undefined {
  const decode = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync }[encoding ?? ""];
  try {
    return object(JSON.parse((decode?.(bytes) ?? bytes).toString("utf8")));
  } catch {
    return undefined;
  }
}
