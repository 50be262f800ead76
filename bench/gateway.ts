/**
 * The cost of the gateway: time to the first byte, delays of chunks under many streams, memory, and what composing adds;
 * beside no gateway at all, a plain proxy, and a gateway of another maker. Upstream and gateways are processes of their
 * own. Needs a build.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import type { BenchReport, BenchRow } from "./bench.ts";
import { goalText } from "./bench.ts";
import { loadNote } from "./kit.ts";
import { peers } from "./gateway/peer.ts";
import type { Served } from "./gateway/peer.ts";

const self = fileURLToPath(import.meta.url);
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const calls = Number(process.env["WINDROW_BENCH_CALLS"] ?? 400);
const streams = 200;
const eventsPerSecond = 40;
const seconds = Number(process.env["WINDROW_BENCH_SECONDS"] ?? 5);
/** Calls of a conversation of a megabyte. */
const composed = Number(process.env["WINDROW_BENCH_COMPOSED"] ?? 200);
const observing = "windrow gateway, observing";

/** The figures of a way to the upstream. */
interface Figures {
  readonly firstByte: readonly number[];
  readonly delays: readonly number[];
  /** Bytes. */
  readonly idle: number;
  readonly most: number;
}

/** One row a way to the upstream. */
export async function benchGateway(): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), "windrow-bench-gateway-"));
  const started: ChildProcess[] = [];
  const start = async (words: readonly string[]): Promise<Served> => {
    const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
    started.push(child);
    const closed = once(child, "close");
    for (let said = ""; ;) {
      const [piece] = (await Promise.race([once(child.stdout, "data"), closed])) as [Buffer | number];
      if (!Buffer.isBuffer(piece)) throw new Error(`${words[0]} ended with ${piece}.`);
      said += String(piece);
      const [url] = /http:\/\/\d[\d.]*:\d+/.exec(said) ?? [];
      if (url !== undefined) return { url, child };
    }
  };
  const notes: string[] = [];
  try {
    const upstream = await start([self, "upstream"]);
    const gateway = (name: string, ...flags: readonly string[]): Promise<Served> => {
      const words = ["gateway", "--port", "0", "--tied", "--store", join(folder, name), ...flags];
      return start([cli, ...words, "--upstream", `anthropic=${upstream.url}`]);
    };
    const ways: [string, Served][] = [["direct", { url: upstream.url }]];
    if (existsSync(cli)) ways.push([observing, await gateway("observing")]);
    else notes.push("windrow gateway is left out: npm run build makes it.");
    for (const [name, begin] of peers) {
      try {
        ways.push([name, await begin(start, upstream.url)]);
      } catch {
        notes.push(`${name} is left out: it cannot be installed, or does not run here.`);
      }
    }
    const taken = new Map<string, Figures>();
    for (const [name, served] of ways) taken.set(name, await figuresOf(served));
    const rows: BenchRow[] = [...taken].map(([name, figures]) => rowOf(name, figures, name !== "direct"));
    const composing = existsSync(cli)
      ? await composingAdds(await gateway("composing", "--budget", "60000"), upstream.url)
      : [];
    if (composing.length > 0) rows.push(...composingRows(composing));
    rows.push(...addedRows(taken, composing));
    notes.push(
      `100 kB requests, ${calls} one after the other; ${streams} streams of ${eventsPerSecond} events/s for ${seconds} s.`,
      loadNote(),
    );
    return { name: "gateway", rows, note: notes.join(" ") };
  } finally {
    for (const child of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function figuresOf({ url, child, headers }: Served): Promise<Figures> {
  const pool = new Pool(url, { connections: streams, headersTimeout: 0, bodyTimeout: 0 });
  const body = requestOf(100_000, "bench");
  for (let warm = 0; warm < 20; warm++) await timed(pool, body, { headers });
  const firstByte: number[] = [];
  for (let call = 0; call < calls; call++) firstByte.push((await timed(pool, body, { headers })).firstByte);
  const idle = memoryOf(child);
  const watched = { most: 0 };
  const watch = setInterval(() => (watched.most = Math.max(watched.most, memoryOf(child))), 200);
  const all = Array.from({ length: streams }, (_, index) => stream(pool, index, headers));
  const delays = (await Promise.all(all)).flat();
  clearInterval(watch);
  await pool.destroy();
  return { firstByte, delays, idle, most: watched.most };
}

function rowOf(name: string, { firstByte, delays, idle, most }: Figures, isThrough: boolean): BenchRow {
  return {
    "way": name,
    "first byte p50, ms": rounded(quantile(firstByte, 0.5)),
    "p99, ms": rounded(quantile(firstByte, 0.99)),
    "chunk delay p50, ms": rounded(quantile(delays, 0.5)),
    "p99, ms ": rounded(quantile(delays, 0.99)),
    "RSS idle, MB": isThrough ? Math.round(idle / 1e6) : "",
    "kB a stream": isThrough ? kilobytes({ idle, most }) : "",
  };
}

const kilobytes = ({ idle, most }: Pick<Figures, "idle" | "most">): number =>
  Math.round(Math.max(0, most - idle) / streams / 1e3);

/** A call of a long conversation: the milliseconds that composing added, and whether it opened an epoch. */
interface Added {
  readonly ms: number;
  readonly isEpoch: boolean;
}

/** A conversation that grows to a megabyte under a budget: the time that composing adds to the calls at its end. */
async function composingAdds(served: Served, direct: string): Promise<readonly Added[]> {
  const added: Added[] = [];
  const pools = [new Pool(served.url), new Pool(direct)] as const;
  const messages: object[] = [{ role: "user", content: "Read the files." }];
  let epoch: string | undefined;
  for (let bytes = 0, step = 0; bytes < 1_000_000 || added.length < composed; step++) {
    const result = `line of file ${step}, which is like no other\n`.repeat(bytes < 1_000_000 ? 400 : 40);
    const id = `toolu_${step}`;
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id, name: "read_file", input: { path: `file${step}` } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
    );
    const body = JSON.stringify({ ...settings, messages });
    const through = await timed(pools[0], body, { session: "composing" });
    const before = epoch;
    epoch = /epoch=\d+/.exec(through.note)?.[0];
    if (bytes >= 1_000_000) {
      const { firstByte } = await timed(pools[1], body);
      added.push({ ms: through.firstByte - firstByte, isEpoch: epoch !== before });
    }
    bytes = body.length;
  }
  await Promise.all(pools.map((pool) => pool.destroy()));
  return added;
}

function composingRows(added: readonly Added[]): readonly BenchRow[] {
  const row = (way: string, some: readonly Added[]): BenchRow => ({
    "way": `windrow gateway, composing 1 MB: added, ${way} (${some.length})`,
    "first byte p50, ms": rounded(quantile(times(some), 0.5)),
    "p99, ms": rounded(quantile(times(some), 0.99)),
  });
  return [
    row("all calls", added),
    row(
      "between epochs",
      added.filter(({ isEpoch }) => !isEpoch),
    ),
    row(
      "opening an epoch",
      added.filter(({ isEpoch }) => isEpoch),
    ),
  ];
}

const times = (added: readonly Added[]): readonly number[] => added.map(({ ms }) => ms);

/** What each way adds to none, and the goals of the gateway. */
function addedRows(taken: ReadonlyMap<string, Figures>, composing: readonly Added[]): readonly BenchRow[] {
  const direct = taken.get("direct");
  const mine = taken.get(observing);
  const more = (name: string, share: number): number =>
    quantile(taken.get(name)?.firstByte ?? [], share) - quantile(direct?.firstByte ?? [], share);
  const rows: BenchRow[] = [...taken.keys()]
    .filter((name) => name !== "direct")
    .map((name) => ({
      "way": `${name}: added`,
      "first byte p50, ms": rounded(more(name, 0.5)),
      "p99, ms": rounded(more(name, 0.99)),
    }));
  if (!mine) return rows;
  const goals: readonly (readonly [string, number, number])[] = [
    ["first byte p50 of 100 kB adds, ms", more(observing, 0.5), 1],
    ["first byte p99 of 100 kB adds, ms", more(observing, 0.99), 5],
    [`chunk delay p99 of ${streams} streams, ms`, quantile(mine.delays, 0.99), 5],
    ["kB a stream", kilobytes(mine), 150],
    [
      "composing 1 MB adds p99 between epochs, ms",
      quantile(times(composing.filter(({ isEpoch }) => !isEpoch)), 0.99),
      10,
    ],
    ["composing 1 MB adds p99 of all calls, ms", quantile(times(composing), 0.99), 10],
  ];
  return [
    ...rows,
    ...goals.map(([subject, figure, atMost]) => ({
      "way": `goal: ${subject}`,
      "first byte p50, ms": rounded(figure),
      "p99, ms": goalText(figure, { atMost }),
    })),
  ];
}

const settings = {
  model: "claude-opus-5-5",
  max_tokens: 1_000,
  stream: true,
  system: "You read files.",
  tools: [{ name: "read_file", input_schema: { type: "object" } }],
};

function requestOf(bytes: number, word: string): string {
  const messages = [{ role: "user", content: `${word} `.repeat(bytes / (word.length + 1)) }];
  return JSON.stringify({ ...settings, messages });
}

const headersOf = (session: string): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "x-windrow-session": session,
});

/** A call: milliseconds to its first byte, and the gateway's note. */
async function timed(
  pool: Pool,
  body: string,
  { session = "bench", headers: more = {} }: { readonly session?: string; readonly headers?: Served["headers"] } = {},
): Promise<{ readonly firstByte: number; readonly note: string }> {
  const begun = performance.now();
  const headers = { ...headersOf(session), ...more };
  const answer = await pool.request({ path: "/v1/messages", method: "POST", headers, body });
  let first: number | undefined;
  for await (const _ of answer.body) first ??= performance.now() - begun;
  return { firstByte: first ?? Number.NaN, note: String(answer.headers["x-windrow"] ?? "") };
}

/** The delays of a stream's chunks: each carries the time at which it was written. */
async function stream(pool: Pool, index: number, more: Served["headers"] = {}): Promise<readonly number[]> {
  const headers = { ...headersOf(`stream-${index}`), "x-events": String(eventsPerSecond * seconds), ...more };
  const body = requestOf(1_000, `stream${index}`);
  const answer = await pool.request({ path: "/v1/messages", method: "POST", headers, body });
  const delays: number[] = [];
  for await (const chunk of answer.body) {
    const now = performance.timeOrigin + performance.now();
    for (const [, sent] of String(chunk).matchAll(/"sent":([\d.]+)/g)) delays.push(now - Number(sent));
  }
  return delays;
}

function memoryOf(child: ChildProcess | undefined): number {
  if (child === undefined || !existsSync(`/proc/${child.pid}/statm`)) return 0;
  return Number(readFileSync(`/proc/${child.pid}/statm`, "utf8").split(" ")[1]) * 4_096;
}

function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const rounded = (figure: number): number => Number(figure.toFixed(2));

/** The upstream: an answer at once, or as many events as are asked for, each with its time. */
async function serveUpstream(): Promise<void> {
  const frame = (data: object): string => `event: ping\ndata: ${JSON.stringify({ type: "ping", ...data })}\n\n`;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      let left = Number(request.headers["x-events"] ?? 0);
      response.write(frame({}));
      if (left === 0) return void response.end(frame({}));
      const timer = setInterval(() => {
        response.write(frame({ sent: performance.timeOrigin + performance.now() }));
        if (--left > 0) return;
        clearInterval(timer);
        response.end();
      }, 1_000 / eventsPerSecond);
      response.once("close", () => clearInterval(timer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

if (process.argv[1] === self && process.argv[2] === "upstream") await serveUpstream();
