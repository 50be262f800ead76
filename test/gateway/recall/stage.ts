/** A stage for the recall loop: the checking fake, lines that keep nothing but what they saw, and a gateway between agent and fake. */
import { createServer, request as send } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Store } from "windrow";
import { wireApis } from "windrow/gateway";
import type { Lines, SentAnswer, WireRequest } from "windrow/gateway";
import type { RecallQuery } from "windrow/window";
import { recallingLines, TurnStore } from "../../kit/inside/gateway.ts";
import type { LoopClock, RecallingOptions } from "../../kit/inside/gateway.ts";
import { startFake } from "../fake/fake.ts";
import type { Fake } from "../fake/fake.ts";
import { bodyOf } from "../fake/conversations.ts";
import { list } from "../fake/json.ts";
import type { Json } from "../fake/json.ts";
import { staged } from "../proxy/stage.ts";
import type { StagedGateway } from "../proxy/stage.ts";

/** Lines that send what they get, and note it. */
export interface ToyLines extends Lines {
  readonly requests: WireRequest[];
  readonly kept: SentAnswer[];
  readonly recalled: RecallQuery[];
  /** Answers a recall; what it throws is the recall's failure. */
  recall: (query: RecallQuery) => string | Promise<string>;
  /** Another body for a refused request; default none. */
  again: (status: number) => Buffer | undefined;
}

export function toyLines(): ToyLines {
  const requests: WireRequest[] = [];
  const kept: SentAnswer[] = [];
  const recalled: RecallQuery[] = [];
  const toy: ToyLines = {
    requests,
    kept,
    recalled,
    recall: ({ id }) => `The text of ${id}.`,
    again: () => undefined,
    async send(request) {
      requests.push(request);
      return {
        body: request.call.body,
        note: "observed",
        again: async (status) => toy.again(status),
        keep: async (answer) => void kept.push(answer),
        async recall(query) {
          recalled.push(query);
          return { text: await toy.recall(query), tokens: 1, seqs: [1], more: false };
        },
      };
    },
    close: async () => undefined,
  };
  return toy;
}

/** A clock that a test moves. */
export interface HandClock extends LoopClock {
  /** Lets time pass: everything that is due runs in its order. */
  pass(milliseconds: number): Promise<void>;
}

export function handClock(): HandClock {
  let now = 0;
  const due: { readonly at: number; readonly run: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, run) {
      const entry = { at: now + milliseconds, run };
      due.push(entry);
      return () => {
        const place = due.indexOf(entry);
        if (place >= 0) due.splice(place, 1);
      };
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = due.filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at);
        if (!next) break;
        due.splice(due.indexOf(next), 1);
        now = next.at;
        next.run();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
    },
  };
}

export interface Stage extends StagedGateway {
  readonly fake: Fake;
  readonly toy: ToyLines;
  readonly url: string;
  readonly turns: TurnStore;
}

/** A gateway with the loop before the fake, or before `upstream`. */
export async function loopStage(
  options: Partial<RecallingOptions> & {
    readonly fake?: Fake;
    readonly store?: Store;
    readonly upstream?: string;
  } = {},
): Promise<Stage> {
  const { fake = await openFake(), store, upstream, ...recalling } = options;
  const toy = toyLines();
  const turns = new TurnStore(store, Buffer.alloc(32, 7));
  const lines = recallingLines(toy, { turns, begins: true, ...recalling });
  const gateway = await staged(upstream ?? fake.url, { lines, apis: wireApis, tenants: () => "tenant" });
  onTestFinished(() => lines.close());
  return { ...gateway, fake, toy, turns, url: gateway.gateway.url };
}

export async function openFake(): Promise<Fake> {
  const fake = await startFake();
  onTestFinished(() => fake.close());
  return fake;
}

/** A server before the fake that holds requests back. */
export interface Gate {
  readonly url: string;
  /** Resolves when the n-th request has come, counted from 1. */
  came(n: number): Promise<void>;
  /** Lets the held request pass. */
  open(): void;
  /** Resolves when a held request's connection is closed by the one who sent it. */
  readonly left: Promise<void>;
}

/** @param held - the number of the request that waits, counted from 1 */
export async function gateBefore(fake: Fake, held: number): Promise<Gate> {
  let count = 0;
  let open = (): void => undefined;
  let leave = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const left = new Promise<void>((resolve) => (leave = resolve));
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => void pass(request, response));
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    count++;
    for (const wake of waiting.splice(0)) wake();
    if (count === held) {
      response.once("close", leave);
      await opened;
    }
    const { method, url: path, headers } = request;
    const onward = send(`${fake.url}${path}`, { method, headers }, (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    onward.end(Buffer.concat(chunks));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    open();
    server.closeAllConnections();
    server.close();
  });
  const came = async (n: number): Promise<void> => {
    while (count < n) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came, open: () => open(), left };
}

/** The messages of the n-th request that the fake saw, counted from 1. */
export function seenMessages(fake: Fake, n: number): readonly Json[] {
  const body = bodyOf(fake.turns()[n - 1]?.body);
  return list(body["messages"] ?? body["input"]);
}

export const loopApis = ["anthropic", "chat", "responses"] as const;

export type LoopApi = (typeof loopApis)[number];

/** Asks once, with a tool of the client's own. */
export function post(
  url: string,
  api: LoopApi,
  isStream: boolean,
  init: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const schema = { type: "object", properties: {} };
  const tool = { name: "read_file", description: "Reads." };
  const messages = [{ role: "user", content: "Look it up." }];
  const called = { type: "function", ...tool, parameters: schema };
  const [path, fields] = {
    anthropic: ["messages", { max_tokens: 100, tools: [{ ...tool, input_schema: schema }], messages }] as const,
    chat: [
      "chat/completions",
      {
        ...(isStream && { stream_options: { include_usage: true } }),
        tools: [{ type: "function", function: { ...tool, parameters: schema } }],
        messages,
      },
    ] as const,
    responses: ["responses", { store: false, tools: [called], input: messages }] as const,
  }[api];
  const headers = { "content-type": "application/json", "authorization": "Bearer sk-fake", ...init.headers };
  const body = JSON.stringify({ model: "m", stream: isStream, ...fields });
  return fetch(`${url}/v1/${path}`, { method: "POST", ...init, headers, body });
}
