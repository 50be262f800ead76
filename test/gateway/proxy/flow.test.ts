/** The flow of bytes: never more of them in the gateway than a little, and nothing goes on when a client has left. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { answerOf, ask, chunkOf, closed, rawUpstream, requestOf, staged } from "./stage.ts";
import { talkApi, talkLines } from "./talk.ts";

const chunked = [
  ["Transfer-Encoding", "chunked"],
  ["Content-Type", "text/event-stream"],
] as const;
const json = ["Content-Type", "application/json"] as const;
const mebibyte = 1_024 * 1_024;

/** Writes as fast as the other side takes it, and counts what is out of the process's own hands. */
async function pour(socket: Socket, total: number, counts: { written: number }): Promise<void> {
  const piece = Buffer.alloc(64 * 1_024, "x");
  while (counts.written < total && !socket.destroyed) {
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

/** Waits until a count stands still over many turns of the event loop. */
async function settled(count: () => number): Promise<number> {
  for (let still = 0, before = -1; still < 200;) {
    await new Promise((resolve) => setImmediate(resolve));
    still = count() === before ? still + 1 : 0;
    before = count();
  }
  return count();
}

it(
  "holds an upstream back while a client reads nothing, and goes on when it reads",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
    const counts = { written: 0 };
    const total = 100 * mebibyte;
    const upstream = await rawUpstream(async (socket) => {
      socket.write(answerOf("200 OK", chunked));
      await pour(socket, total, counts);
      socket.write("0\r\n\r\n");
    });
    const { port } = await staged(upstream.url);
    const client = connect(port, "127.0.0.1");
    client.pause();
    client.write(requestOf("/v1/messages", [["Connection", "close"]], "{}"));
    const held = await settled(() => counts.written);
    // The sockets' own buffers on both ways take a few MiB; the gateway adds no more than its pieces.
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(24 * mebibyte);
    let received = 0;
    client.on("data", (chunk) => (received += chunk.length));
    client.resume();
    await closed(client);
    expect(received).toBeGreaterThan(total);
  },
);

it("ends the upstream's connection when a client leaves that read nothing", async () => {
  const counts = { written: 0 };
  const upstream = await rawUpstream(async (socket) => {
    socket.write(answerOf("200 OK", chunked));
    await pour(socket, 100 * mebibyte, counts);
  });
  const { lines, keeping } = talkLines();
  const { port, event } = await staged(upstream.url, { apis: [talkApi().api], lines });
  const client = connect(port, "127.0.0.1");
  client.pause();
  client.write(requestOf("/v1/messages", [json], "{}"));
  await settled(() => counts.written);
  const socket = upstream.connections[0]?.socket;
  const gone = closed(socket);
  client.destroy();
  await gone;
  expect(await event(1)).toMatchObject({ outcome: "aborted" });
  expect(await keeping(1)).toMatchObject({ isAborted: true });
});

it("holds a client back while an upstream reads nothing", { timeout: 60_000 }, async () => {
  const upstream = await rawUpstream(() => undefined);
  const { port } = await staged(upstream.url);
  const client = connect(port, "127.0.0.1");
  client.on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  client.write(
    requestOf("/v1/files", [
      ["Content-Type", "audio/wav"],
      ["Transfer-Encoding", "chunked"],
    ]),
  );
  while (upstream.connections.length === 0) await new Promise((resolve) => setImmediate(resolve));
  upstream.connections[0]?.socket.pause();
  const counts = { written: 0 };
  void pour(client, 100 * mebibyte, counts);
  const held = await settled(() => counts.written);
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(24 * mebibyte);
});

it("ends the upstream's connection when a client leaves in mid-stream", async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(Buffer.concat([answerOf("200 OK", chunked), chunkOf("begin")])),
  );
  const { lines, keeping } = talkLines();
  const { port, event } = await staged(upstream.url, { apis: [talkApi().api], lines });
  const client = connect(port, "127.0.0.1");
  client.write(requestOf("/v1/messages", [json], "{}"));
  let received = "";
  while (!received.includes("begin")) received += String((await once(client, "data"))[0]);
  const socket = upstream.connections[0]?.socket;
  const gone = closed(socket);
  client.destroy();
  await gone;
  expect(await event(1)).toMatchObject({ outcome: "aborted", status: 200 });
  expect(await keeping(1)).toMatchObject({ status: 200, isAborted: true, answer: { message: { text: "begin" } } });
});

it(
  "ends the upstream's connection when a client leaves before the answer, and while it sends",
  { tags: ["slow"] },
  async () => {
    const upstream = await rawUpstream(() => undefined);
    const { port, event } = await staged(upstream.url);
    const waits = connect(port, "127.0.0.1");
    waits.write(requestOf("/v1/messages", [json], "{}"));
    while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [first] = upstream.connections;
    const gone = closed(first?.socket);
    waits.destroy();
    await gone;
    expect(await event(1)).toMatchObject({ outcome: "aborted", status: 0 });
    const sends = connect(port, "127.0.0.1");
    sends.write(Buffer.concat([requestOf("/v1/files", [["Transfer-Encoding", "chunked"]]), chunkOf("begin")]));
    while (upstream.connections.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const second = upstream.connections[1]?.socket;
    const ended = closed(second);
    sends.destroy();
    await ended;
    expect(await event(2)).toMatchObject({ outcome: "aborted" });
  },
);

it("leaves no connection behind a thousand clients that left", { tags: ["slow"], timeout: 120_000 }, async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(Buffer.concat([answerOf("200 OK", chunked), chunkOf("begin")])),
  );
  const { port, event } = await staged(upstream.url);
  const leave = async (turn: number): Promise<void> => {
    const client = connect(port, "127.0.0.1");
    client.on("error", () => undefined);
    client.write(requestOf("/v1/messages", [json], "{}"));
    // Some leave before a byte came back, the others behind the first.
    await once(client, turn % 3 === 0 ? "connect" : "data");
    client.destroy();
    await closed(client);
  };
  for (let turn = 0; turn < 1_000; turn += 20)
    await Promise.all(Array.from({ length: 20 }, (_, more) => leave(turn + more)));
  const open = (): number => upstream.connections.filter(({ socket }) => !socket.destroyed).length;
  await event(600);
  // One that has no request on it any more is closed after a few seconds of rest.
  while (open() > 0) await closed(upstream.connections.find(({ socket }) => !socket.destroyed)!.socket);
  const { body } = await ask(port, requestOf("/-/metrics", [], "", "GET"));
  expect(body.toString()).toContain("windrow_gateway_in_flight 1\n");
});

it("refuses more requests at once than the limit, and takes them again", async () => {
  const upstream = await rawUpstream((socket) => void socket.write(answerOf("200 OK", chunked)));
  const { port, event } = await staged(upstream.url, { limits: { streams: 2 } });
  const clients = [0, 1].map(() => connect(port, "127.0.0.1"));
  for (const client of clients) {
    client.write(requestOf("/v1/messages", [json], "{}"));
    await once(client, "data");
  }
  const { line } = await ask(port, requestOf("/v1/messages", [json], "{}"));
  expect(line).toBe("HTTP/1.1 503 Service Unavailable");
  for (const client of clients) client.destroy();
  await event(3);
  const last = connect(port, "127.0.0.1");
  last.write(requestOf("/v1/messages", [json], "{}"));
  expect(String((await once(last, "data"))[0])).toContain("200 OK");
  last.destroy();
});

it.each([
  ["a conversation", "/v1/messages", [json]],
  ["a body that passes", "/v1/files", [["Content-Type", "audio/wav"]]],
] as const)("gives a body up that does not come: %s", async (_what, path, headers) => {
  const upstream = await rawUpstream(() => undefined);
  const limits = { silenceMs: 60 };
  const { port } = await staged(upstream.url, { apis: [talkApi().api], lines: talkLines().lines, limits });
  const late = requestOf(path, [...headers, ["Content-Length", "100"]]);
  expect((await ask(port, Buffer.concat([late, Buffer.from("{")]))).line).toBe("HTTP/1.1 408 Request Timeout");
});

it("passes an answer that comes before the body's end, and ends a client that goes on sending", async () => {
  const upstream = await rawUpstream(() => undefined);
  const { port } = await staged(upstream.url, { limits: { silenceMs: 60 } });
  const client = connect(port, "127.0.0.1");
  client.on("error", () => undefined);
  client.write(Buffer.concat([requestOf("/v1/files", [["Transfer-Encoding", "chunked"]]), chunkOf("begin")]));
  while (upstream.connections.length === 0) await new Promise((resolve) => setImmediate(resolve));
  upstream.connections[0]?.socket.write(answerOf("413 Content Too Large", [["Content-Length", "5"]], "large"));
  let received = "";
  while (!received.includes("large")) received += String((await once(client, "data"))[0]);
  expect(received).toContain("HTTP/1.1 413 Content Too Large");
  await closed(client);
});

it("asks for the body that a client waits to send", async () => {
  const upstream = await rawUpstream((socket) => void socket.write(answerOf("200 OK", [["Content-Length", "0"]])));
  const { port } = await staged(upstream.url);
  const client = connect(port, "127.0.0.1");
  client.write(
    requestOf("/v1/files", [
      ["Expect", "100-continue"],
      ["Content-Length", "4"],
    ]),
  );
  expect(String((await once(client, "data"))[0])).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  client.write("data");
  expect(String((await once(client, "data"))[0])).toContain("HTTP/1.1 200 OK");
  expect(upstream.requests[0]?.body.toString()).toBe("data");
  client.destroy();
});

it.each([
  ["with a length", [["Content-Length", String(8 * mebibyte)]], (body: Buffer) => body],
  ["in chunks", [["Transfer-Encoding", "chunked"]], (body: Buffer) => Buffer.concat([chunkOf(body), chunkOf("")])],
] as const)("reads a body on behind an early answer, and then the next request: %s", async (_what, framing, framed) => {
  const upstream = await rawUpstream(
    (socket, { line }) => void (line.startsWith("GET") && socket.write(answerOf("200 OK", [["Content-Length", "0"]]))),
  );
  const { port, events } = await staged(upstream.url);
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  const body = framed(Buffer.alloc(8 * mebibyte, "x"));
  client.write(Buffer.concat([requestOf("/v1/files", framing), body.subarray(0, 1_000)]));
  while (upstream.connections.length === 0) await new Promise((resolve) => setImmediate(resolve));
  upstream.connections[0]?.socket.write(answerOf("401 Unauthorized", [["Content-Length", "3"]], "key"));
  let received = "";
  while (!received.includes("key")) received += String((await once(client, "data"))[0]);
  client.write(body.subarray(1_000));
  client.write(requestOf("/v1/models", [], "", "GET"));
  while (!received.includes("200 OK")) received += String((await once(client, "data"))[0]);
  expect(events.map(({ status }) => status)).toEqual([401, 200]);
});

it("ends a client that sends without end behind its answer", async () => {
  const upstream = await rawUpstream(() => undefined);
  const { port } = await staged(upstream.url, { limits: { silenceMs: 30 } });
  const client = connect(port, "127.0.0.1");
  client.on("error", () => undefined);
  client.write(Buffer.concat([requestOf("/v1/files", [["Transfer-Encoding", "chunked"]]), chunkOf("begin")]));
  while (upstream.connections.length === 0) await new Promise((resolve) => setImmediate(resolve));
  upstream.connections[0]?.socket.write(answerOf("401 Unauthorized", [["Content-Length", "3"]], "key"));
  await once(client, "data");
  const gone = closed(client);
  await pour(client, Number.POSITIVE_INFINITY, { written: 0 });
  await gone;
  expect(client.destroyed).toBe(true);
});

it.each([
  ["no upstream is there", "/v1/files", "502 Bad Gateway"],
  ["no upstream has its path", "/nowhere", "404 Not Found"],
])("tells a client that sends its whole body first that %s", async (_what, path, status) => {
  const { port } = await staged("http://127.0.0.1:1");
  const client = connect(port, "127.0.0.1");
  client.on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  const whole = requestOf(path, [], Buffer.alloc(8 * mebibyte, "x"));
  await new Promise<void>((resolve) => void client.write(whole, () => resolve()));
  expect(client.destroyed).toBe(false);
  expect(String((await once(client, "data"))[0])).toContain(`HTTP/1.1 ${status}`);
});

it.each([
  ["one body", [["Content-Length", "3"]], "END"],
  ["a stream", chunked, Buffer.concat([chunkOf("END"), chunkOf("")])],
] as const)("tells of an answer that passed to its last byte: %s", async (_what, headers, body) => {
  const upstream = await rawUpstream((socket) => void socket.write(answerOf("200 OK", headers, body)));
  const { port, event } = await staged(upstream.url, { apis: [talkApi().api], lines: talkLines().lines });
  await ask(port, requestOf("/v1/messages", [json], "{}"));
  await ask(port, requestOf("/v1/messages", [json, ["x-windrow", "off"]], "{}"));
  expect(await event(1)).toMatchObject({ outcome: "answered", status: 200 });
  expect(await event(2)).toMatchObject({ outcome: "answered", status: 200 });
  const metrics = await ask(port, requestOf("/-/metrics", [], "", "GET"));
  expect(metrics.body.toString()).toContain('{upstream="anthropic",outcome="answered",status="200"} 2');
});
