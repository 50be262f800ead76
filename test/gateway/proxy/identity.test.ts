/** Bytes in both directions are the sender's own: bodies, header lists, status lines, in whatever pieces they come. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { listenAt } from "../../kit/inside/gateway.ts";
import { answerOf, ask, chunkOf, headerOf, rawUpstream, requestOf, staged } from "./stage.ts";
import type { Wire } from "./stage.ts";
import { talkApi, talkLines } from "./talk.ts";

const claude: readonly (readonly [string, string])[] = [
  ["Accept", "application/json"],
  ["Content-Type", "application/json"],
  ["User-Agent", "claude-cli/2.1.330 (external, cli)"],
  ["X-Api-Key", "sk-ant-canary"],
  ["anthropic-beta", "claude-code-20250219"],
  ["anthropic-beta", "interleaved-thinking-2025-05-14"],
  ["anthropic-version", "2023-06-01"],
  ["x-Stainless-Lang", "js"],
  ["x-name", "caf\u00e9"],
  ["accept-encoding", "gzip, deflate, br, zstd"],
];

/** Headers of a message without those that end at a connection, and without its length. */
function lasting({ headers }: Wire): readonly (readonly [string, string])[] {
  const ends = ["host", "connection", "keep-alive", "transfer-encoding", "content-length", "x-windrow"];
  return headers.filter(([name]) => !ends.includes(name.toLowerCase()));
}

it("sends a client's bytes and its header list, in order and letters", async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(answerOf("200 OK", [["Content-Length", "2"]], "{}")),
  );
  const { port } = await staged(upstream.url);
  const body = Buffer.from(`{ "big": 12345678901234567890, "one": 1.0,\r\n "text": "caf\u00e9 \\u00e9 \ud83d\ude00" }`);
  const hop: readonly (readonly [string, string])[] = [
    ["Connection", "keep-alive, X-Private"],
    ["X-Private", "for this connection"],
    ["TE", "trailers"],
    ["x-windrow-session", "mine"],
  ];
  await ask(port, requestOf("/v1/messages?beta=true", [...claude, ...hop], body));
  const [request] = upstream.requests;
  expect(request?.line).toBe("POST /v1/messages?beta=true HTTP/1.1");
  expect(request?.body.equals(body)).toBe(true);
  expect(request && lasting(request)).toEqual(claude);
  expect(request && headerOf(request, "content-length")).toBe(String(body.length));
  expect(request && headerOf(request, "host")).toBe(`127.0.0.1:${upstream.port}`);
});

it("keeps an answer's status line and headers, and adds only its own", async () => {
  const headers: readonly (readonly [string, string])[] = [
    ["Date", "Tue, 24 Nov 2026 09:00:00 GMT"],
    ["Content-Type", "application/json"],
    ["request-id", "req_011"],
    ["Set-Cookie", "a=1"],
    ["set-cookie", "b=2"],
    ["Retry-After", "7"],
    ["anthropic-ratelimit-requests-remaining", "9"],
    ["X-Name", "caf\u00e9"],
  ];
  const body = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
  const hop = [
    ["Connection", "X-Hop"],
    ["X-Hop", "1"],
    ["x-windrow", "forged"],
  ] as const;
  const upstream = await rawUpstream(
    (socket) =>
      void socket.write(
        answerOf("529 Site Overloaded", [...headers, ...hop, ["Content-Length", String(body.length)]], body),
      ),
  );
  const { port } = await staged(upstream.url);
  const answer = await ask(port, requestOf("/v1/messages", claude, "{}"));
  expect(answer.line).toBe("HTTP/1.1 529 Site Overloaded");
  expect(lasting(answer)).toEqual(headers);
  expect(headerOf(answer, "x-windrow")).toBe("passed");
  expect(answer.body.toString()).toBe(body);
});

it.each([200, 400])("keeps a reason in another language, with %i, and goes on", async (status) => {
  const reason = Buffer.from("\u8acb\u6c42 caf\u00e9").toString("latin1");
  const upstream = await rawUpstream(
    (socket) =>
      void socket.write(
        Buffer.from(`HTTP/1.1 ${status} ${reason}\r\nX-Reason: ${reason}\r\nContent-Length: 3\r\n\r\nEND`, "latin1"),
      ),
  );
  const { port } = await staged(upstream.url, { apis: [talkApi().api], lines: talkLines().lines });
  for (let round = 0; round < 2; round++) {
    const answer = await ask(port, requestOf("/v1/messages", claude, "{}"));
    expect([answer.line, answer.body.toString()]).toEqual([`HTTP/1.1 ${status} ${reason}`, "END"]);
    expect(headerOf(answer, "x-reason")).toBe(reason);
  }
});

it("passes an answer whose reason is in no known coding", async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(Buffer.from("HTTP/1.1 400 caf\u00e9\r\nContent-Length: 3\r\n\r\nEND", "latin1")),
  );
  const { port } = await staged(upstream.url, { apis: [talkApi().api], lines: talkLines().lines });
  const answer = await ask(port, requestOf("/v1/messages", claude, "{}"));
  expect(answer.line).toMatch(/^HTTP\/1\.1 400 caf/);
  expect(answer.body.toString()).toBe("END");
});

it("passes paths and queries that are the upstream's to judge", async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(answerOf("200 OK", [["Content-Length", "2"]], "ok")),
  );
  const { port } = await staged(upstream.url);
  const targets = [
    `/v1/models?after=${"a".repeat(20_000)}`,
    "/v1/models?share=100%&also=http://other.example/",
    "/v1/models//one",
  ];
  for (const target of [...targets, "/u/openai//v1/models"]) {
    const answer = await ask(port, requestOf(target, [], "", "GET"));
    expect(answer.line).toBe("HTTP/1.1 200 OK");
  }
  const lines = upstream.requests.map(({ line }) => line);
  expect(lines).toEqual([...targets, "//v1/models"].map((target) => `GET ${target} HTTP/1.1`));
});

const stream = Buffer.from(
  [
    'event: message_start\r\ndata: {"type":"message_start"}\r\n\r\n',
    ": a comment\n\nevent: ping\ndata: {}\n\n",
    'data: {"text":"caf\u00e9 \ud83d\ude00 \u65e5\u672c"}\n\n',
    "data: [DONE]\n\n",
  ].join(""),
);

describe.each([1, 2, 3, 7, 64, 1_000, 65_536])("in pieces of %i bytes", (size) => {
  it("an answer arrives byte-equal", async () => {
    const long = Buffer.concat([stream, randomBytes(size > 1_000 ? 300_000 : 500), stream]);
    const upstream = await rawUpstream(async (socket) => {
      socket.write(
        answerOf("200 OK", [
          ["Transfer-Encoding", "chunked"],
          ["Content-Type", "text/event-stream"],
        ]),
      );
      for (let place = 0; place < long.length; place += size) {
        const piece = chunkOf(long.subarray(place, place + size));
        await new Promise((resolve) => socket.write(piece, resolve));
        if (place % (size * 16) === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write("0\r\n\r\n");
    });
    const { port } = await staged(upstream.url);
    const answer = await ask(port, requestOf("/v1/messages", claude, "{}"));
    expect(answer.body.equals(long)).toBe(true);
  });

  it("a request of unknown length arrives byte-equal", async () => {
    const upstream = await rawUpstream((socket) => void socket.write(answerOf("200 OK", [["Content-Length", "0"]])));
    const { port } = await staged(upstream.url);
    const long = randomBytes(size > 1_000 ? 300_000 : 500);
    const pieces: Buffer[] = [
      requestOf("/v1/files", [
        ["Transfer-Encoding", "chunked"],
        ["Content-Type", "application/octet-stream"],
      ]),
    ];
    for (let place = 0; place < long.length; place += size) pieces.push(chunkOf(long.subarray(place, place + size)));
    await ask(port, Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]));
    expect(upstream.requests[0]?.body.equals(long)).toBe(true);
  });
});

it.each([
  ["gzip", gzipSync(stream)],
  ["br", brotliCompressSync(stream)],
  ["deflate", deflateSync(stream)],
  ["zstd", randomBytes(300)],
  ["none-that-is-known", randomBytes(300)],
  ["constructor", randomBytes(300)],
])("passes bodies in %s as they are, in both directions", async (coding, body) => {
  const headers = [
    ["Content-Encoding", coding],
    ["Content-Length", String(body.length)],
  ] as const;
  const upstream = await rawUpstream((socket) => void socket.write(answerOf("200 OK", headers, body)));
  const { port } = await staged(upstream.url);
  const answer = await ask(port, requestOf("/v1/messages", [...claude, ["Content-Encoding", coding]], body));
  expect(upstream.requests[0]?.body.equals(body)).toBe(true);
  expect(upstream.requests[0] && headerOf(upstream.requests[0], "content-encoding")).toBe(coding);
  expect(answer.body.equals(body)).toBe(true);
  expect(headerOf(answer, "content-encoding")).toBe(coding);
});

it.each([
  ["204 No Content", "DELETE", []],
  [
    "304 Not Modified",
    "GET",
    [
      ["ETag", '"a"'],
      ["Content-Length", "77"],
    ],
  ],
  [
    "200 OK",
    "HEAD",
    [
      ["Content-Length", "1234"],
      ["Content-Type", "application/json"],
    ],
  ],
] as const)("passes %s to %s without a body", async (status, method, headers) => {
  const upstream = await rawUpstream((socket) => void socket.write(answerOf(status, headers)));
  const { port } = await staged(upstream.url);
  const two = await ask(port, requestOf("/v1/models", [["anthropic-version", "2023-06-01"]], "", method), method);
  expect(two.line).toBe(`HTTP/1.1 ${status}`);
  for (const [name, value] of headers) expect(headerOf(two, name.toLowerCase())).toBe(value);
  expect(headerOf(two, "transfer-encoding")).toBeUndefined();
});

it("passes over early hints, and passes trailers", async () => {
  const upstream = await rawUpstream((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    socket.write(
      answerOf("200 OK", [
        ["Transfer-Encoding", "chunked"],
        ["Trailer", "X-Sum"],
      ]),
    );
    socket.write(Buffer.concat([chunkOf("abc"), Buffer.from("0\r\nX-Sum: 9\r\n\r\n")]));
  });
  const { port } = await staged(upstream.url);
  const { line, body, headers } = await ask(port, requestOf("/v1/messages", claude, "{}"));
  expect([line, body.toString()]).toEqual(["HTTP/1.1 200 OK", "abc"]);
  expect(headers).toContainEqual(["Trailer", "X-Sum"]);
});

it("passes a form with files", async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(answerOf("200 OK", [["Content-Length", "2"]], "ok")),
  );
  const { port } = await staged(upstream.url);
  const file = randomBytes(200_000);
  const form = Buffer.concat([
    Buffer.from('--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
    file,
    Buffer.from("\r\n--B--\r\n"),
  ]);
  const type = ["Content-Type", "multipart/form-data; boundary=B"] as const;
  await ask(port, requestOf("/v1/audio/transcriptions", [type], form));
  expect(upstream.requests[0]?.body.equals(form)).toBe(true);
});

it("keeps a connection for the next request", async () => {
  const upstream = await rawUpstream(
    (socket, _request, count) => void socket.write(answerOf("200 OK", [["Content-Length", "1"]], String(count))),
  );
  const { port } = await staged(upstream.url);
  const first = requestOf("/v1/messages", claude, "{}");
  const second = requestOf("/v1/messages", [...claude, ["Connection", "close"]], "{}");
  const { sendRaw } = await import("./stage.ts");
  const received = await sendRaw(port, Buffer.concat([first, second]));
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
