/** A stage for lines: requests are written as clients write them, and answered without a network. */
import { rm, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IncomingHttpHeaders } from "node:http";
import { expect, onTestFinished } from "vitest";
import type { Message, Store } from "windrow";
import { openLines } from "windrow/gateway";
import type { Lines, LinesEvent, LinesOptions, Sending, SentAnswer, WireRequest } from "windrow/gateway";
import { openStore } from "windrow/store";
import type { SessionInfo } from "windrow/store";
import { anthropicMessages, wireApiOf } from "../../kit/inside/gateway.ts";
import type { EditRecord, JsonObject } from "../../kit/inside/message.ts";
import { ramStore } from "../../kit/inside/store.ts";
import { listed } from "../../kit/sessions.ts";

export const secret = Buffer.alloc(32, 7);

/** No test depends on how fast the machine is. */
const patient = { whole: 60_000, append: 60_000 };

export interface Stage extends Asked {
  readonly store: Store;
  readonly folder: string;
  readonly events: LinesEvent[];
  /** Closes the lines and opens new ones over the same store, as after a restart. */
  restart(options?: Partial<LinesOptions>): Promise<void>;
  sessions(): Promise<readonly SessionInfo[]>;
  messages(id: string): Promise<readonly Message[]>;
  records(id: string, type?: string): Promise<readonly EditRecord[]>;
  /** The id of the only session; fails where there are others. */
  only(): Promise<string>;
  /** The messages of each session. */
  logs(): Promise<readonly (readonly Message[])[]>;
  /** How many messages each session has. */
  lengths(): Promise<readonly number[]>;
}

/** Lines, and an agent's requests to them. */
export interface Asked {
  lines: Lines;
  /** Sends a history as the body of an agent, in the session of that name. */
  send(history: readonly unknown[], more?: Sent): Promise<Sending & Raw>;
  /** Sends a history, and keeps its answer: a text stands for one that came whole. */
  exchange(history: readonly unknown[], answer: SentAnswer | string, more?: Sent): Promise<Sending & Raw>;
}

export interface Raw {
  /** The body as the client sent it. */
  readonly raw: Buffer;
}

export interface Sent {
  /** Default {@link session}. */
  readonly headers?: IncomingHttpHeaders;
  /** Members of the body beside its own. */
  readonly body?: object;
  readonly tenant?: string;
}

export const session = { "x-claude-code-session-id": "session-1" };

/** Headers of a session that has another name. */
export const named = (name: string): IncomingHttpHeaders => ({ "x-claude-code-session-id": name });

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-lines-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function openStage(options: Partial<LinesOptions> = {}): Promise<Stage> {
  const folder = await temporaryFolder();
  let store = options.store ?? (await openStore(folder));
  const events: LinesEvent[] = [];
  const open = (given: Partial<LinesOptions>): Promise<Lines> =>
    openLines({ secret, mostWait: patient, on: (event) => events.push(event), ...given, store: given.store ?? store });
  const stage: Stage = {
    store,
    folder,
    events,
    ...asked(await open(options)),
    async restart(given = options) {
      await stage.lines.close();
      if (!options.store) {
        await store.close();
        store = await openStore(folder);
        Object.assign(stage, { store });
      }
      stage.lines = await open(given);
    },
    sessions: async () => (await listed(store.list({}))).reverse(),
    messages: async (id) => (await listed(store.read({}, id, { kind: "message" }))).map(({ message }) => message),
    records: async (id, wanted = "request") =>
      (await listed(store.read({}, id, { kind: "edit" }))).filter(({ type }) => type === wanted),
    async only() {
      const found = await stage.sessions();
      expect(found).toHaveLength(1);
      return found[0]!.metadata.uuid;
    },
    logs: async () => Promise.all((await stage.sessions()).map(({ metadata }) => stage.messages(metadata.uuid))),
    lengths: async () => (await stage.logs()).map(({ length }) => length),
  };
  onTestFinished(async () => {
    await stage.lines.close();
    await store.close();
  });
  return stage;
}

/** Asks lines, which may be opened anew meanwhile. */
function asked(lines: Lines): Asked {
  return {
    lines,
    async send(history, { headers = session, body, tenant = "tenant-a" } = {}) {
      const request = requestOf(bodyOf(history, body), headers);
      return Object.assign(await this.lines.send(request, tenant), { raw: request.call.body });
    },
    async exchange(history, answer, more) {
      const sending = await this.send(history, more);
      await sending.keep(typeof answer === "string" ? answered(answer) : answer);
      return sending;
    },
  };
}

/** Another gateway over the folder of a stage. */
export async function another({ folder }: Stage, options: Partial<LinesOptions> = {}): Promise<Asked> {
  const store = await openStore(folder);
  const lines = await openLines({ secret, mostWait: patient, ...options, store });
  onTestFinished(async () => {
    await lines.close();
    await store.close();
  });
  return asked(lines);
}

/** A store in memory with some methods of a test's own. */
export function storeWith(changed: (inner: Store, name: string) => unknown): Store {
  return new Proxy(ramStore(), {
    get(inner, name) {
      const value: unknown = changed(inner, String(name)) ?? Reflect.get(inner, name);
      return typeof value === "function" ? (value.bind(inner) as unknown) : value;
    },
  });
}

/** A request of the Messages API. */
export function requestOf(body: object, headers: IncomingHttpHeaders = {}, path = "/v1/messages"): WireRequest {
  const api = wireApiOf("POST", path) ?? anthropicMessages;
  const bytes = Buffer.from(JSON.stringify(body));
  const request = api.read({ method: "POST", path, headers, body: bytes });
  if (!request) throw new Error("The body is no request.");
  return request;
}

/** An answer that came whole. */
export function answered(content: unknown, more: Partial<SentAnswer["answer"]> = {}): SentAnswer {
  const message = { role: "assistant", content } as JsonObject;
  return {
    status: 200,
    answer: {
      message,
      isComplete: true,
      usage: { input: 100, output: 10 },
      model: "claude-opus-5-5",
      stop: "end_turn",
      ...more,
    },
    isAborted: false,
    firstByteMs: 5,
    totalMs: 9,
    requestId: "req_1",
  };
}

/** An answer that refuses the other body of a refused request as well. */
export const refusedAgain = (status: number): SentAnswer => ({
  ...answered(""),
  status,
  isRefusedAgain: true,
  answer: { isComplete: false, error: { type: "x", message: "no" } },
});

/** An answer that broke off, or an error. */
export function broken(text: string, more: Partial<SentAnswer> = {}): SentAnswer {
  const whole = answered([{ type: "text", text }], { isComplete: false });
  return { ...whole, isAborted: true, ...more };
}

export const tools = [
  {
    name: "read",
    description: "Reads a file.",
    input_schema: { type: "object", properties: { path: { type: "string" } } },
  },
];

/** A body as coding agents send it. */
export function bodyOf(messages: readonly unknown[], more: object = {}): object {
  return {
    model: "claude-opus-5-5",
    max_tokens: 1_000,
    system: [{ type: "text", text: "You are a coding agent." }],
    tools,
    messages,
    stream: true,
    ...more,
  };
}

export const user = (content: unknown): JsonObject => ({ role: "user", content }) as JsonObject;

export const assistant = (content: unknown): JsonObject => ({ role: "assistant", content }) as JsonObject;

/** A call of a tool, and its result. */
export const used = (id: string, content: unknown, name = "read"): readonly [JsonObject, JsonObject] => [
  assistant([{ type: "tool_use", id, name, input: {} }]),
  user([{ type: "tool_result", tool_use_id: id, content }]),
];

/** The epoch that a note tells. */
export const epochOf = (note: string): number => Number(/epoch=(\d+)/.exec(note)?.[1]);

/** Sends a request and keeps its answer. */
export async function exchange(
  lines: Lines,
  request: WireRequest,
  answer: SentAnswer,
  tenant = "tenant-a",
): Promise<Sending> {
  const sending = await lines.send(request, tenant);
  await sending.keep(answer);
  return sending;
}
