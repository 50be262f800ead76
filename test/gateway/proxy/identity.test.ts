/** Bytes in both directions are the sender's own: bodies, header lists, status lines, in whatever pieces they come. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { listenAt } from "../../kit/inside/gateway.ts";
import {
  answerOf,
  ask,
  chunked,
  chunkOf,
  headerOf,
  nameOf,
  rawUpstream,
  requestOf,
  sendRaw,
  sized,
  staged,
} from "./stage.ts";
import type { RawAnswer, Wire } from "./stage.ts";
import { talked } from "./talk.ts";

const claude: readonly string[] = [
  "Accept: application/json",
  "Content-Type: application/json",
  "User-Agent: claude-cli/2.1.330 (external, cli)",
  "X-Api-Key: sk-ant-canary",
  "anthropic-beta: claude-code-20250219",
  "anthropic-beta: interleaved-thinking-2025-05-14",
  "anthropic-version: 2023-06-01",
  "x-Stainless-Lang: js",
  "x-name: caf\u00e9",
  "accept-encoding: gzip, deflate, br, zstd",
];

/** Headers of a message without those that end at a connection, and without its length. */
function lasting({ headers }: Wire): readonly string[] {
  const ends = ["host", "connection", "keep-alive", "transfer-encoding", "content-length", "x-windrow"];
  return headers.filter((line) => !ends.includes(nameOf(line)));
}

/** A gateway that reads nothing, before an upstream that answers every request alike. */
async function passing(answer: RawAnswer | Buffer = sized("200 OK", "ok")) {
  const upstream = await rawUpstream(answer);
  const { port } = await staged(upstream.url);
  return { upstream, port, requests: upstream.requests };
}

const asking = requestOf("/v1/messages", claude, "{}");

it("sends a client's bytes and its header list, in order and letters", async () => {
  const { upstream, requests, port } = await passing();
  const body = Buffer.from(`{ "big": 12345678901234567890, "one": 1.0,\r\n "text": "caf\u00e9 \\u00e9 \ud83d\ude00" }`);
  const hop = ["Connection: keep-alive, X-Private", "X-Private: for this connection", "TE: trailers"];
  await ask(port, requestOf("/v1/messages?beta=true", [...claude, ...hop, "x-windrow-session: mine"], body));
  const [request] = requests;
  expect(request?.line).toBe("POST /v1/messages?beta=true HTTP/1.1");
  expect(request?.body.equals(body)).toBe(true);
  expect(request && lasting(request)).toEqual(claude);
  expect(headerOf(request, "content-length")).toBe(String(body.length));
  expect(headerOf(request, "host")).toBe(`127.0.0.1:${upstream.port}`);
});

it("keeps an answer's status line and headers, and adds only its own", async () => {
  const headers = [
    "Date: Tue, 24 Nov 2026 09:00:00 GMT",
    "Content-Type: application/json",
    "request-id: req_011",
    "Set-Cookie: a=1",
    "set-cookie: b=2",
    "Retry-After: 7",
    "anthropic-ratelimit-requests-remaining: 9",
    "X-Name: caf\u00e9",
  ];
  const body = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
  const hop = ["Connection: X-Hop", "X-Hop: 1", "x-windrow: forged"];
  const { port } = await passing(sized("529 Site Overloaded", body, [...headers, ...hop]));
  const answer = await ask(port, asking);
  expect(answer.line).toBe("HTTP/1.1 529 Site Overloaded");
  expect(lasting(answer)).toEqual(headers);
  expect(headerOf(answer, "x-windrow")).toBe("passed");
  expect(answer.body.toString()).toBe(body);
});

it.each([
  ["200 in another language", 200, Buffer.from("\u8acb\u6c42 caf\u00e9").toString("latin1"), true],
  ["400 in another language", 400, Buffer.from("\u8acb\u6c42 caf\u00e9").toString("latin1"), true],
  ["400 in no known coding", 400, "caf\u00e9", false],
])("passes a reason with %s, and goes on", async (_what, status, reason, isKnown) => {
  const { port } = await talked(sized(`${status} ${reason}`, "END", [`X-Reason: ${reason}`]));
  for (let round = 0; round < 2; round++) {
    const answer = await ask(port, asking);
    expect(answer.body.toString()).toBe("END");
    expect(answer.line).toMatch(isKnown ? `HTTP/1.1 ${status} ${reason}` : /^HTTP\/1\.1 400 caf/);
    expect(headerOf(answer, "x-reason")).toBe(reason);
  }
});

it("passes paths and queries that are the upstream's to judge", async () => {
  const { requests, port } = await passing();
  const long = `/v1/models?after=${"a".repeat(20_000)}`;
  const targets = [long, "/v1/models?share=100%&also=http://other.example/", "/v1/models//one"];
  for (const target of [...targets, "/u/openai//v1/models"])
    expect((await ask(port, requestOf(target, [], "", "GET"))).line).toBe("HTTP/1.1 200 OK");
  expect(requests.map(({ line }) => line)).toEqual(
    [...targets, "//v1/models"].map((target) => `GET ${target} HTTP/1.1`),
  );
});

const stream = Buffer.from(
  [
    'event: message_start\r\ndata: {"type":"message_start"}\r\n\r\n',
    ": a comment\n\nevent: ping\ndata: {}\n\n",
    'data: {"text":"caf\u00e9 \ud83d\ude00 \u65e5\u672c"}\n\n',
    "data: [DONE]\n\n",
  ].join(""),
);

it.each([1, 2, 3, 7, 64, 1_000, 65_536])(
  "arrives byte-equal in pieces of %i bytes, request and answer",
  async (size) => {
    const long = Buffer.concat([stream, randomBytes(size > 1_000 ? 300_000 : 500), stream]);
    const pieces: Buffer[] = [];
    for (let place = 0; place < long.length; place += size) pieces.push(chunkOf(long.subarray(place, place + size)));
    const { requests, port } = await passing(async (socket) => {
      socket.write(answerOf("200 OK", [chunked, "Content-Type: text/event-stream"]));
      for (const [index, piece] of pieces.entries()) {
        await new Promise((resolve) => socket.write(piece, resolve));
        if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write(chunkOf(""));
    });
    const head = requestOf("/v1/files", [chunked, "Content-Type: application/octet-stream"]);
    const answer = await ask(port, Buffer.concat([head, ...pieces, chunkOf("")]));
    expect(requests[0]?.body.equals(long)).toBe(true);
    expect(answer.body.equals(long)).toBe(true);
  },
);

it.each([
  ["gzip", gzipSync(stream)],
  ["br", brotliCompressSync(stream)],
  ["deflate", deflateSync(stream)],
  ["zstd", randomBytes(300)],
  ["none-that-is-known", randomBytes(300)],
  ["constructor", randomBytes(300)],
])("passes bodies in %s as they are, in both directions", async (coding, body) => {
  const { requests, port } = await passing(sized("200 OK", body, [`Content-Encoding: ${coding}`]));
  const answer = await ask(port, requestOf("/v1/messages", [...claude, `Content-Encoding: ${coding}`], body));
  for (const wire of [requests[0], answer]) {
    expect(wire?.body.equals(body)).toBe(true);
    expect(headerOf(wire, "content-encoding")).toBe(coding);
  }
});

it.each([
  ["204 No Content", "DELETE", []],
  ["304 Not Modified", "GET", ['ETag: "a"', "Content-Length: 77"]],
  ["200 OK", "HEAD", ["Content-Length: 1234", "Content-Type: application/json"]],
] as const)("passes %s to %s without a body", async (status, method, headers) => {
  const { port } = await passing(answerOf(status, headers));
  const answer = await ask(port, requestOf("/v1/models", ["anthropic-version: 2023-06-01"], "", method), method);
  expect(answer.line).toBe(`HTTP/1.1 ${status}`);
  expect(lasting(answer)).toEqual(headers.filter((line) => !line.startsWith("Content-Length")));
  expect(answer.headers).toEqual(expect.arrayContaining([...headers]));
  expect(headerOf(answer, "transfer-encoding")).toBeUndefined();
});

it("passes over early hints, and passes trailers", async () => {
  const { port } = await passing((socket) => {
    socket.write(answerOf("103 Early Hints", ["Link: </x>"]));
    socket.write(answerOf("200 OK", [chunked, "Trailer: X-Sum"]));
    socket.write(Buffer.concat([chunkOf("abc"), Buffer.from("0\r\nX-Sum: 9\r\n\r\n")]));
  });
  const { line, body, headers } = await ask(port, asking);
  expect([line, body.toString()]).toEqual(["HTTP/1.1 200 OK", "abc"]);
  expect(headers).toContain("Trailer: X-Sum");
});

it("passes a form with files", async () => {
  const { requests, port } = await passing();
  const part = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
  const form = Buffer.concat([Buffer.from(part), randomBytes(200_000), Buffer.from("\r\n--B--\r\n")]);
  await ask(port, requestOf("/v1/audio/transcriptions", ["Content-Type: multipart/form-data; boundary=B"], form));
  expect(requests[0]?.body.equals(form)).toBe(true);
});

it("keeps a connection for the next request", async () => {
  const { port } = await passing();
  const last = requestOf("/v1/messages", [...claude, "Connection: close"], "{}");
  const received = await sendRaw(port, Buffer.concat([asking, last]));
  expect(received.toString("latin1").match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

it("keeps an idle connection for longer than it says", async () => {
  const sockets: Socket[] = [];
  const listening = await listenAt("127.0.0.1", 0, (request, response) => {
    sockets.push(request.socket);
    response.end("ok");
  });
  onTestFinished(() => listening.close());
  const answer = await ask(listening.port, requestOf("/", [], "", "GET"));
  const told = Number(/timeout=(\d+)/.exec(headerOf(answer, "keep-alive") ?? "")?.[1]);
  expect(told).toBeGreaterThan(0);
  expect(sockets[0]?.timeout).toBeGreaterThan(2 * told * 1_000);
});
