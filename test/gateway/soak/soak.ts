/** Many streams through one gateway for as long as is asked, and clients that leave in the middle of theirs. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { eventsHeader, soakUpstream } from "./upstream.ts";
import type { SoakUpstream } from "./upstream.ts";

export interface SoakOptions {
  /** Folder of the compiled modules. */
  readonly dist: string;
  readonly store: string;
  readonly seconds: number;
  readonly streams: number;
  /** Events of an answer, four of which come in a second; some answers have half as many again, others half. */
  readonly events: number;
  /** Clients that leave in the middle of an answer, spread over the time. */
  readonly aborts: number;
  readonly flags?: readonly string[];
  /** Hears of every sample. */
  readonly on?: (sample: SoakSample) => void;
}

/** The memory of the gateway, in MB. */
export interface SoakSample {
  readonly second: number;
  readonly rss: number;
  readonly heap: number;
  /** The heap behind a collection. Absent where none was made. */
  readonly collected?: number;
}

export interface Soaked {
  readonly samples: readonly SoakSample[];
  readonly turns: number;
  readonly conversations: number;
  /** Answers that were whole and those that were left, as the upstream saw them. */
  readonly counts: SoakUpstream["counts"];
  /** Requests that the gateway says are under way, when all clients are gone. */
  readonly inFlight: number;
  /** Everything that a client saw and that was no whole answer. */
  readonly faults: readonly string[];
  readonly errors: string;
}

/** Turns of a conversation, behind which another one begins. */
const mostTurns = 16;

/** Samples of a run. */
const sampleCount = 60;

/** In the gateway's process: answers questions for its memory. */
const probe = `
const megabytes = (bytes) => Math.round(bytes / 1e5) / 10;
process.on("message", (question) => {
  const { rss, heapUsed } = process.memoryUsage();
  if (question === "collected") globalThis.gc();
  const collected = question === "collected" && { collected: megabytes(process.memoryUsage().heapUsed) };
  process.send({ rss: megabytes(rss), heap: megabytes(heapUsed), ...collected });
});
process.channel.unref();`;

export async function soak(options: SoakOptions): Promise<Soaked> {
  const { dist, store, seconds, streams, events, aborts, flags = [], on } = options;
  const upstream = await soakUpstream();
  const words = ["--expose-gc", "--import", `data:text/javascript,${encodeURIComponent(probe)}`];
  const command = ["gateway", "--tied", "--port", "0", "--store", store, "--upstream", `anthropic=${upstream.url}`];
  const child = spawn(process.execPath, [...words, join(dist, "cli/main.js"), ...command, ...flags], {
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [said] = (await once(child.stdout!, "data")) as [Buffer];
  const url = /http:\/\/[\d.:]+/.exec(String(said))![0];
  const pool = new Pool(url, { connections: streams + 8, headersTimeout: 0, bodyTimeout: 0 });
  const began = performance.now();
  const isOver = (): boolean => performance.now() - began >= seconds * 1_000;
  const told = { turns: 0, conversations: 0, faults: [] as string[] };
  const samples: SoakSample[] = [];

  const sample = async (question: string): Promise<void> => {
    const figures = await asked<Omit<SoakSample, "second">>(child, question);
    const one = { second: Math.round((performance.now() - began) / 1_000), ...figures };
    samples.push(one);
    on?.(one);
  };
  const sampling = async (): Promise<void> => {
    for (let n = 1; n <= sampleCount; n++) {
      await sleep(Math.max(0, (n * seconds * 1_000) / sampleCount - (performance.now() - began)));
      // A collection now and then: memory in between is as it is without one.
      await sample(n % 10 === 0 ? "collected" : "usage");
    }
  };
  const leaving = async (): Promise<void> => {
    for (let n = 0; n < aborts; n++) {
      await sleep(Math.max(0, (n * seconds * 1_000) / aborts - (performance.now() - began)));
      await leave(pool, n);
    }
  };
  const agents = Array.from({ length: streams }, (_, index) => agent(pool, { index, events }, isOver, told));
  await Promise.all([...agents, sampling(), leaving()]);
  await pool.destroy();
  await upstream.quiet();
  const metrics = await (await fetch(`${url}/-/metrics`)).text();
  // The question itself is one of them.
  const inFlight = Number(/^windrow_gateway_in_flight (\d+)/m.exec(metrics)?.[1] ?? Number.NaN) - 1;
  const closed = once(child, "close");
  child.stdin!.end();
  await closed;
  await upstream.close();
  return { samples, ...told, counts: upstream.counts, inFlight, errors };
}

async function asked<Answer>(child: ChildProcess, question: string): Promise<Answer> {
  const answer = once(child, "message");
  child.send(question);
  const [value] = (await answer) as [Answer];
  return value;
}

/** Begins one conversation after the other, each of which grows from turn to turn. */
async function agent(
  pool: Pool,
  { index, events }: { readonly index: number; readonly events: number },
  isOver: () => boolean,
  told: { turns: number; conversations: number; readonly faults: string[] },
): Promise<void> {
  // Agents that begin together would end their turns together too.
  let at = index % 11;
  for (let n = 0; !isOver(); n++) {
    const messages: object[] = [];
    const turns = mostTurns / 2 + ((index * 7 + n * 13) % mostTurns);
    told.conversations++;
    for (let turn = 0; turn < turns && !isOver(); turn++) {
      const line = `agent ${index}, conversation ${n}, turn ${turn}: a line unlike all others\n`;
      messages.push({ role: "user", content: line.repeat(30) });
      const body = bodyOf(messages);
      try {
        const answer = await pool.request(requestOf(body, `soak-${index}-${n}`, Math.ceil((events * (5 + at)) / 10)));
        const said = await answer.body.text();
        const texts = [...said.matchAll(/"type":"text_delta","text":("(?:[^"\\]|\\.)*")/g)];
        if (!said.endsWith('data: {"type":"message_stop"}\n\n')) told.faults.push(`${answer.statusCode} ${said}`);
        messages.push({ role: "assistant", content: texts.map(([, text]) => JSON.parse(text!) as string).join("") });
      } catch (error) {
        told.faults.push(String(error));
      }
      told.turns++;
      at = (at + 4) % 11;
    }
  }
}

/** Asks, and leaves: before the answer, or behind its first bytes. */
async function leave(pool: Pool, n: number): Promise<void> {
  const body = bodyOf([{ role: "user", content: `I leave soon, for the ${n}th time.` }]);
  const controller = new AbortController();
  const request = { ...requestOf(body, `leaving-${n % 20}`, 10_000), signal: controller.signal };
  try {
    const asking = pool.request(request);
    if (n % 4 === 0) setImmediate(() => controller.abort());
    const answer = await asking;
    for await (const _ of answer.body) controller.abort();
  } catch {
    // It left.
  }
}

function requestOf(body: string, session: string, events: number): Parameters<Pool["request"]>[0] & { path: string } {
  const headers = { "content-type": "application/json", "x-windrow-session": session, [eventsHeader]: String(events) };
  return { path: "/v1/messages", method: "POST", headers, body };
}

function bodyOf(messages: readonly object[]): string {
  const tools = [{ name: "read_file", input_schema: { type: "object" } }];
  return JSON.stringify({ model: "soak", max_tokens: 1_000, stream: true, system: "You soak.", tools, messages });
}
