/** The flow of bytes: never more of them in the gateway than a little, and nothing goes on when a client has left. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import {
  answerOf,
  ask,
  chunked,
  chunkOf,
  chunksOf,
  closed,
  rawClient,
  rawUpstream,
  requestOf,
  sized,
  staged,
} from "./stage.ts";
import type { RawUpstream } from "./stage.ts";
import { json, talked } from "./talk.ts";

const events = answerOf("200 OK", [chunked, "Content-Type: text/event-stream"]);
const begun = Buffer.concat([events, chunkOf("begin")]);
const request = requestOf("/v1/messages", [json], "{}");
const upload = requestOf("/v1/files", [chunked]);
const metrics = requestOf("/-/metrics", [], "", "GET");
const silent = (): void => undefined;
const mebibyte = 1_024 * 1_024;
const total = 100 * mebibyte;
/** What the sockets' own buffers take, with a few pieces. */
const little = 24 * mebibyte;

/** Writes as fast as the other side takes it, and counts what is out of the process's own hands. */
async function pour(socket: Socket, most: number, counts = { written: 0 }): Promise<void> {
  const piece = Buffer.alloc(64 * 1_024, "x");
  while (counts.written < most && !socket.destroyed) {
    counts.written += piece.length;
    if (socket.write(chunkOf(piece))) continue;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        socket.off("drain", settle).off("close", settle);
        resolve();
      };
      socket.on("drain", settle).on("close", settle);
    });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What was written when that stands still over many turns of the event loop. */
async function held(counts: { readonly written: number }): Promise<number> {
  for (let still = 0, before = -1; still < 200; before = counts.written) {
    await turn();
    still = counts.written === before ? still + 1 : 0;
  }
  expect(counts.written).toBeGreaterThan(0);
  return counts.written;
}

/** The n-th connection of an upstream, counted from 1. */
async function connection({ connections }: RawUpstream, n = 1): Promise<Socket> {
  while (connections.length < n) await turn();
  return connections[n - 1]!.socket;
}

it("holds an upstream back while a client reads nothing, and goes on when it reads", { timeout: 60_000 }, async () => {
  const counts = { written: 0 };
  const upstream = await rawUpstream(async (socket) => {
    socket.write(events);
    await pour(socket, total, counts);
    socket.write(chunkOf(""));
  });
  const { port } = await staged(upstream.url);
  const { socket } = rawClient(port, requestOf("/v1/messages", ["Connection: close"], "{}"));
  socket.removeAllListeners("data").pause();
  expect(await held(counts)).toBeLessThan(little);
  let received = 0;
  socket.on("data", (chunk) => (received += chunk.length)).resume();
  await closed(socket);
  expect(received).toBeGreaterThan(total);
});

it("holds a client back while an upstream reads nothing", { timeout: 60_000 }, async () => {
  const upstream = await rawUpstream(silent);
  const { port } = await staged(upstream.url);
  const { socket } = rawClient(port, requestOf("/v1/files", ["Content-Type: audio/wav", chunked]));
  (await connection(upstream)).pause();
  const counts = { written: 0 };
  void pour(socket, total, counts);
  expect(await held(counts)).toBeLessThan(little);
});

it("ends the upstream's connection when a client leaves that read nothing", async () => {
  const counts = { written: 0 };
  const { port, upstream, event, keeping } = await talked(async (socket) => {
    socket.write(events);
    await pour(socket, total, counts);
  });
  const { socket } = rawClient(port, request);
  socket.pause();
  expect(await held(counts)).toBeLessThan(little);
  const gone = closed(upstream.connections[0]?.socket);
  socket.destroy();
  await gone;
  expect(await event(1)).toMatchObject({ outcome: "aborted" });
  expect(await keeping(1)).toMatchObject({ isAborted: true });
});

it("ends the upstream's connection when a client leaves in mid-stream", async () => {
  const { port, upstream, event, keeping } = await talked(begun);
  const { socket, until } = rawClient(port, request);
  await until("begin");
  const gone = closed(upstream.connections[0]?.socket);
  socket.destroy();
  await gone;
  expect(await event(1)).toMatchObject({ outcome: "aborted", status: 200 });
  expect(await keeping(1)).toMatchObject({ status: 200, isAborted: true, answer: { message: { text: "begin" } } });
});

it.each([
  ["before the answer", request, { status: 0 }],
  ["while it sends", Buffer.concat([upload, chunkOf("begin")]), {}],
])("ends the upstream's connection when a client leaves %s", { tags: ["slow"] }, async (when, bytes, told) => {
  const upstream = await rawUpstream(silent);
  const { port, event } = await staged(upstream.url);
  const { socket } = rawClient(port, bytes);
  const there = await connection(upstream);
  while (when === "before the answer" && upstream.requests.length === 0) await turn();
  const gone = closed(there);
  socket.destroy();
  await gone;
  expect(await event(1)).toMatchObject({ outcome: "aborted", ...told });
});

it("leaves no connection behind a thousand clients that left", { tags: ["slow"], timeout: 120_000 }, async () => {
  const upstream = await rawUpstream(begun);
  const { port, event } = await staged(upstream.url);
  const leave = async (n: number): Promise<void> => {
    const { socket } = rawClient(port, request);
    // Some leave before a byte came back, the others behind the first.
    await once(socket, n % 3 === 0 ? "connect" : "data");
    socket.destroy();
    await closed(socket);
  };
  for (let n = 0; n < 1_000; n += 20) await Promise.all(Array.from({ length: 20 }, (_, more) => leave(n + more)));
  await event(600);
  const open = (): Socket | undefined => upstream.connections.find(({ socket }) => !socket.destroyed)?.socket;
  // One that has no request on it any more is closed after a few seconds of rest.
  while (open()) await closed(open());
  expect((await ask(port, metrics)).body.toString()).toContain("windrow_gateway_in_flight 1\n");
});

it("refuses more requests at once than the limit, and takes them again", async () => {
  const upstream = await rawUpstream(events);
  const { port, event } = await staged(upstream.url, { limits: { streams: 2 } });
  const clients = [rawClient(port, request), rawClient(port, request)];
  for (const { until } of clients) await until("200 OK");
  expect((await ask(port, request)).line).toBe("HTTP/1.1 503 Service Unavailable");
  for (const { socket } of clients) socket.destroy();
  await event(3);
  await rawClient(port, request).until("200 OK");
});

it.each([
  ["a conversation", "/v1/messages", json],
  ["a body that passes", "/v1/files", "Content-Type: audio/wav"],
])("gives a body up that does not come: %s", async (_what, path, type) => {
  const { port } = await talked(silent, { limits: { silenceMs: 60 } });
  const late = Buffer.concat([requestOf(path, [type, "Content-Length: 100"]), Buffer.from("{")]);
  expect((await ask(port, late)).line).toBe("HTTP/1.1 408 Request Timeout");
});

it.each([
  ["with a length", [`Content-Length: ${8 * mebibyte}`], (body: Buffer) => body],
  ["in chunks", [chunked], (body: Buffer) => chunksOf(body)],
])("reads a body on behind an early answer, and then the next request: %s", async (_what, framing, framed) => {
  const upstream = await rawUpstream(
    (socket, { line }) => void (line.startsWith("GET") && socket.write(sized("200 OK", ""))),
  );
  const { port, events: told } = await staged(upstream.url);
  const body = framed(Buffer.alloc(8 * mebibyte, "x"));
  const { socket, until } = rawClient(port, Buffer.concat([requestOf("/v1/files", framing), body.subarray(0, 1_000)]));
  (await connection(upstream)).write(sized("401 Unauthorized", "key"));
  await until("key");
  socket.write(body.subarray(1_000));
  socket.write(requestOf("/v1/models", [], "", "GET"));
  await until("200 OK");
  expect(told.map(({ status }) => status)).toEqual([401, 200]);
});

it.each([
  ["is silent", silent],
  ["sends without end", (socket: Socket) => pour(socket, Number.POSITIVE_INFINITY)],
])("passes an answer that comes before the body's end, and ends a client that %s then", async (_what, act) => {
  const upstream = await rawUpstream(silent);
  const { port } = await staged(upstream.url, { limits: { silenceMs: 60 } });
  const { socket, until } = rawClient(port, Buffer.concat([upload, chunkOf("begin")]));
  (await connection(upstream)).write(sized("413 Content Too Large", "large"));
  expect(await until("large")).toContain("HTTP/1.1 413 Content Too Large");
  const gone = closed(socket);
  await act(socket);
  await gone;
});

it("asks for the body that a client waits to send", async () => {
  const upstream = await rawUpstream(sized("200 OK", ""));
  const { port } = await staged(upstream.url);
  const { socket, until } = rawClient(port, requestOf("/v1/files", ["Expect: 100-continue", "Content-Length: 4"]));
  expect(await until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("data");
  await until("HTTP/1.1 200 OK");
  expect(upstream.requests[0]?.body.toString()).toBe("data");
});

it.each([
  ["no upstream is there", "/v1/files", "502 Bad Gateway"],
  ["no upstream has its path", "/nowhere", "404 Not Found"],
])("tells a client that sends its whole body first that %s", async (_what, path, status) => {
  const { port } = await staged("http://127.0.0.1:1");
  const { socket, until } = rawClient(port);
  const whole = requestOf(path, [], Buffer.alloc(8 * mebibyte, "x"));
  await new Promise<void>((resolve) => void socket.write(whole, () => resolve()));
  expect(socket.destroyed).toBe(false);
  await until(`HTTP/1.1 ${status}`);
});

it.each([
  ["one body", sized("200 OK", "END")],
  ["a stream", Buffer.concat([events, chunksOf("END")])],
])("tells of an answer that passed to its last byte: %s", async (_what, answer) => {
  const { port, say, event } = await talked(answer);
  await say();
  await say([json, "x-windrow: off"]);
  for (const n of [1, 2]) expect(await event(n)).toMatchObject({ outcome: "answered", status: 200 });
  const told = (await ask(port, metrics)).body.toString();
  expect(told).toContain('{upstream="anthropic",outcome="answered",status="200"} 2');
});
