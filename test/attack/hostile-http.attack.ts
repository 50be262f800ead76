/** Malformed, foreign and half-sent requests over raw sockets, against the monitor's metrics and the MCP server. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

const local = "Host: 127.0.0.1";

/** Requests by the status that they must have; none is for bytes that may also end the connection without an answer. */
const requests: readonly (readonly [status: number | undefined, bytes: string])[] = [
  [400, `GET // HTTP/1.1\r\n${local}`],
  ...[
    "///",
    "//evil.example/metrics",
    "*",
    "http://127.0.0.1/metrics",
    "/%zz",
    "/%",
    "/%ff%fe",
    "/\\",
    "x",
    "/\u007f",
  ].map((target) => [400, `GET ${target} HTTP/1.1\r\n${local}`] as const),
  ...["http://[", "/%c0%ae%c0%ae", "//[", "/".repeat(9_000), "//%"].map(
    (target) => [400, `GET ${target} HTTP/1.1\r\n${local}`] as const,
  ),
  [400, `OPTIONS * HTTP/1.1\r\n${local}`],
  [405, `CONNECT evil.example:443 HTTP/1.1\r\n${local}`],
  ...["PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"].map(
    (method) => [405, `${method} / HTTP/1.1\r\n${local}`] as const,
  ),
  ...[
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "192.0.2.1",
    "evil.example:80",
    "[2001:db8::1]",
  ].map((host) => [403, `GET /metrics HTTP/1.1\r\nHost: ${host}`] as const),
  ...["", "a b", "a@b", "a/b", "[", "::1", "a,b", "%00"].map(
    (host) => [400, `GET / HTTP/1.1\r\nHost: ${host}`] as const,
  ),
  ...["https://evil.example", "null", "file://", "http://localhost.evil.example", "x"].map(
    (origin) => [403, `GET /metrics HTTP/1.1\r\n${local}\r\nOrigin: ${origin}`] as const,
  ),
  [400, "GET / HTTP/1.1"],
  [400, `GET / HTTP/1.1\r\n${local}\r\nHost: evil.example`],
  [400, `GET / HTTP/1.1\r\n${local}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked`],
  [400, `GET / HTTP/1.1\r\n${local}\r\nContent-Length: -1`],
  [400, `GET / HTTP/1.1\r\n${local}\r\nBad Header: 1`],
  [400, `GET / HTTP/1.1\r\n${local}\r\n no name`],
  [431, `GET / HTTP/1.1\r\n${local}\r\nX: ${"x".repeat(40_000)}`],
  [undefined, `GET /metrics HTTP/1.1\r\n${local}\r\nExpect: nonsense`],
  [undefined, `GET /metrics HTTP/1.1\r\n${local}\r\nConnection: Upgrade\r\nUpgrade: websocket`],
  [undefined, "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
  [undefined, "PRI * HTTP/2.0\r\n\r\nSM"],
  [undefined, "GET / HTTP/0.9"],
  [undefined, "\u0000".repeat(1_000)],
];

/** Bytes that are not random, so that a failure can be had again. */
function garbage(seed: number): string {
  let state = seed;
  return Array.from({ length: 200 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return String.fromCharCode(state % 256);
  }).join("");
}

/** The status that a server answers bytes with; undefined where it ends the connection without one. */
async function statusOf(port: number, bytes: string): Promise<number | undefined> {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    said += text;
    // Enough was said; a request that is none may be waited for.
    if (said.includes("\r\n")) socket.destroy();
  });
  socket.on("error", () => undefined);
  socket.end(bytes, "latin1");
  await once(socket, "close");
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(said) ?? [];
  return status === undefined ? undefined : Number(status);
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly said: () => string;
}

async function start(product: Product, argv: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, [product.command, ...argv], { stdio: ["ignore", "ignore", "pipe"], env: {} });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  for (;;) {
    const [, port] = /http:\/\/127\.0\.0\.1:(\d+)\//.exec(said) ?? [];
    if (port !== undefined) return { child, port: Number(port), said: () => said };
    if (child.exitCode !== null) throw new Error(`windrow ${argv.join(" ")} ended: ${said}`);
    await Promise.race([once(child.stderr, "data"), once(child, "exit")]);
  }
}

async function attackOne(
  name: string,
  { child, port, said }: Server,
  lives: () => Promise<boolean>,
  report: Report,
): Promise<void> {
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  for (const [expected, head] of requests) {
    const status = await statusOf(port, `${head}\r\n\r\n`);
    report.count("malformed or foreign requests");
    if (expected !== undefined && status !== expected) {
      report.failed(`${name}: ${status ?? "no answer"} instead of ${expected} to ${JSON.stringify(head.slice(0, 80))}`);
    }
    if (ended())
      return report.failed(`${name} ended after ${JSON.stringify(head.slice(0, 80))}: ${said().slice(-300)}`);
  }
  const valid = `GET /metrics HTTP/1.1\r\n${local}\r\n\r\n`;
  for (let seed = 1; seed <= 60; seed += 1) {
    await statusOf(port, seed % 2 === 0 ? garbage(seed) : valid + garbage(seed));
    report.count("malformed or foreign requests");
  }
  // Half a request on each of many connections: the server goes on to answer.
  const half = Array.from({ length: 40 }, (_, index) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(valid.slice(0, 4 + index));
    return socket;
  });
  report.count("connections left half open", half.length);
  if (!(await lives())) report.failed(`${name} does not answer beside half-open connections`);
  for (const socket of half) socket.destroy();
  if (ended()) report.failed(`${name} ended: ${said().slice(-300)}`);
  else if (!(await lives())) report.failed(`${name} does not answer any more`);
}

attack({
  name: "hostile HTTP",
  seeds: [
    {
      name: "a malformed target ends the server",
      changes: [
        {
          file: "http/http.ts",
          from: "const url = judge({ method, target, rawHeaders }, rules);",
          to: 'const url = new URL(target, "http://localhost") as ReturnType<typeof judge>;',
        },
        {
          file: "http/http.ts",
          from: "  } catch (error) {\n    onError(",
          to: "  } catch (error) {\n    if (method) throw error;\n    onError(",
        },
        {
          file: "http/http.ts",
          from: "  try {\n    const { method",
          to: '  const { method = "" } = request;\n  try {\n    const { method: _method',
        },
      ],
    },
    {
      name: "host names are not looked at",
      changes: [{ file: "http/guard.ts", from: "if (!isAllowed(name, rules)) {", to: "if (name === undefined) {" }],
    },
    {
      name: "methods are not looked at",
      changes: [
        { file: "http/guard.ts", from: "if (!rules.methods.includes(method))", to: "if (method === undefined)" },
      ],
    },
  ],
  async run(product, report) {
    const store = join(product.scratch, "store");
    const running: Server[] = [];
    try {
      const monitor = await start(product, ["monitor", "--store", store, "--metrics", "0"]);
      running.push(monitor);
      await attackOne(
        "the monitor",
        monitor,
        async () => (await fetch(`http://127.0.0.1:${monitor.port}/metrics`)).ok,
        report,
      );
      const mcp = await start(product, ["mcp", "--store", store, "--http", "0"]);
      running.push(mcp);
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "attack", version: "1" } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      const headers = { "content-type": "application/json", "accept": "application/json, text/event-stream" };
      const url = `http://127.0.0.1:${mcp.port}/mcp`;
      const large = await statusOf(mcp.port, `POST /mcp HTTP/1.1\r\n${local}\r\nContent-Length: 999999999\r\n\r\n`);
      if (large !== 413)
        report.failed(`the MCP server: ${large ?? "no answer"} instead of 413 to a body that is too large`);
      await attackOne(
        "the MCP server",
        mcp,
        async () => (await fetch(url, { method: "POST", headers, body })).ok,
        report,
      );
    } finally {
      for (const { child } of running) {
        const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
        child.kill("SIGKILL");
        await exited;
      }
    }
  },
});
