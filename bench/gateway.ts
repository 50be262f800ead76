/**
 * The cost of the gateway: time to the first byte, delays of chunks under many streams, memory, and what composing adds;
 * beside no gateway at all, and beside a plain proxy. Upstream and gateways are processes of their own. Needs a build.
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
import { installedPeer } from "./peer.ts";

const self = fileURLToPath(import.meta.url);
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const calls = Number(process.env["WINDROW_BENCH_CALLS"] ?? 400);
const streams = 200;
const eventsPerSecond = 40;
const seconds = Number(process.env["WINDROW_BENCH_SECONDS"] ?? 5);

/** A server in a process of its own. */
interface Served {
  readonly url: string;
  readonly child?: ChildProcess;
}

/** One row a way to the upstream. */
export async function benchGateway(): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), "windrow-bench-gateway-"));
  const started: ChildProcess[] = [];
  const start = async (words: readonly string[]): Promise<Served> => {
    const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
    started.push(child);
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    return { url: /http:\/\/[\d.:]+/.exec(String(said))![0], child };
  };
  const notes: string[] = [];
  try {
    const upstream = await start([self, "upstream"]);
    const gateway = (name: string, ...flags: readonly string[]): Promise<Served> => {
      const words = ["gateway", "--port", "0", "--tied", "--store", join(folder, name), ...flags];
      return start([cli, ...words, "--upstream", `anthropic=${upstream.url}`]);
    };
    const ways: [string, Served][] = [["direct", { url: upstream.url }]];
    if (existsSync(cli)) ways.push(["windrow gateway, observing", await gateway("observing")]);
    else notes.push("windrow gateway is left out: npm run build makes it.");
    try {
      ways.push(["http-proxy 1.18.1", await start([proxyScript(), upstream.url])]);
    } catch {
      notes.push("http-proxy is left out: npm cannot install it.");
    }
    const rows: BenchRow[] = [];
    for (const [name, served] of ways) rows.push(await rowOf(name, served));
    if (existsSync(cli)) rows.push(await composingRow(await gateway("composing", "--budget", "60000"), upstream.url));
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

async function rowOf(name: string, { url, child }: Served): Promise<BenchRow> {
  const pool = new Pool(url, { connections: streams, headersTimeout: 0, bodyTimeout: 0 });
  const body = requestOf(100_000, "bench");
  for (let warm = 0; warm < 20; warm++) await firstByte(pool, body);
  const times: number[] = [];
  for (let call = 0; call < calls; call++) times.push(await firstByte(pool, body));
  const idle = memoryOf(child);
  const watched = { most: 0 };
  const watch = setInterval(() => (watched.most = Math.max(watched.most, memoryOf(child))), 200);
  const delays = (await Promise.all(Array.from({ length: streams }, (_, index) => stream(pool, index)))).flat();
  clearInterval(watch);
  await pool.destroy();
  return {
    "way": name,
    "first byte p50, ms": rounded(quantile(times, 0.5)),
    "p99, ms": rounded(quantile(times, 0.99)),
    "chunk delay p50, ms": rounded(quantile(delays, 0.5)),
    "p99, ms ": rounded(quantile(delays, 0.99)),
    "RSS idle, MB": child ? Math.round(idle / 1e6) : "",
    "kB a stream": child ? Math.round(Math.max(0, watched.most - idle) / streams / 1e3) : "",
  };
}

/** A conversation that grows to a megabyte under a budget: the time that composing adds to a call at its end. */
async function composingRow(served: Served, direct: string): Promise<BenchRow> {
  const added: number[] = [];
  const pools = [new Pool(served.url), new Pool(direct)] as const;
  const messages: object[] = [{ role: "user", content: "Read the files." }];
  for (let bytes = 0, step = 0; bytes < 1_000_000 || added.length < 40; step++) {
    const result = `line of file ${step}, which is like no other\n`.repeat(bytes < 1_000_000 ? 400 : 4);
    const id = `toolu_${step}`;
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id, name: "read_file", input: { path: `file${step}` } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
    );
    const body = JSON.stringify({ ...settings, messages });
    const through = await firstByte(pools[0], body, "composing");
    if (bytes >= 1_000_000) added.push(through - (await firstByte(pools[1], body)));
    bytes = body.length;
  }
  await Promise.all(pools.map((pool) => pool.destroy()));
  const p99 = quantile(added, 0.99);
  return {
    "way": "windrow gateway, composing 1 MB: added",
    "first byte p50, ms": rounded(quantile(added, 0.5)),
    "p99, ms": `${rounded(p99)} (${goalText(p99, { atMost: 10 })})`,
  };
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

async function firstByte(pool: Pool, body: string, session = "bench"): Promise<number> {
  const begun = performance.now();
  const headers = headersOf(session);
  const answer = await pool.request({ path: "/v1/messages", method: "POST", headers, body });
  let first: number | undefined;
  for await (const _ of answer.body) first ??= performance.now() - begun;
  return first ?? Number.NaN;
}

/** The delays of a stream's chunks: each carries the time at which it was written. */
async function stream(pool: Pool, index: number): Promise<readonly number[]> {
  const headers = { ...headersOf(`stream-${index}`), "x-events": String(eventsPerSecond * seconds) };
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

function proxyScript(): string {
  const code =
    'import proxy from "http-proxy";\n' +
    "const server = proxy.createProxyServer({ target: process.argv[2] }).listen(0, '127.0.0.1');\n" +
    "server._server.once('listening', () => console.log('http://127.0.0.1:' + server._server.address().port));\n";
  return fileURLToPath(installedPeer(["http-proxy@1.18.1"], code));
}

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
