/** Conversations: they are read, sent with the body that lines say, and kept; whatever breaks, the client's bytes go on. */
import { once } from "node:events";
import { connect } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { answerOf, ask, chunkOf, closed, headerOf, rawUpstream, requestOf, sendRaw, staged } from "./stage.ts";
import type { RawAnswer } from "./stage.ts";
import { talkApi, talkLines } from "./talk.ts";

const json = ["Content-Type", "application/json"] as const;
const key = ["x-api-key", "sk-ant-canary"] as const;
const chunked = [
  ["Transfer-Encoding", "chunked"],
  ["Content-Type", "text/event-stream"],
  ["request-id", "req_1"],
] as const;
const body = '{ "messages": [ 1.0 ] }';

/** Answers with chunks, the last of which ends the conversation's answer. */
const answering: RawAnswer = (socket) => {
  socket.write(
    Buffer.concat([answerOf("200 OK", chunked), chunkOf("begin "), chunkOf("END"), Buffer.from("0\r\n\r\n")]),
  );
};

describe("a conversation", () => {
  it("goes on as it came, and its answer is kept", async () => {
    const upstream = await rawUpstream(answering);
    const { api, calls } = talkApi();
    const { lines, kept, tenants } = talkLines();
    const { port } = await staged(upstream.url, { apis: [api], lines });
    const answer = await ask(port, requestOf("/s/mine/v1/messages?beta=true", [json, key], body));
    expect(upstream.requests[0]?.body.toString()).toBe(body);
    expect(calls[0]).toMatchObject({ method: "POST", path: "/v1/messages?beta=true" });
    expect(calls[0]?.headers["x-windrow-session"]).toBe("mine");
    expect(answer.body.toString()).toBe("begin END");
    expect(headerOf(answer, "x-windrow")).toBe("observed; session=ab12; line=main");
    expect(kept).toMatchObject([
      {
        status: 200,
        isAborted: false,
        requestId: "req_1",
        answer: { isComplete: true, message: { text: "begin END" } },
      },
    ]);
    expect(tenants).toEqual([expect.stringMatching(/^[\da-f]{16}$/)]);
  });

  it("has a tenant of its own where the host's names are none, which is reported once", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const upstream = await rawUpstream(answering);
    const { lines, tenants } = talkLines();
    const named = async (): Promise<string> => await Promise.resolve("acme");
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines, tenants: named as never });
    for (const name of ["x-api-key", "authorization"])
      await ask(port, requestOf("/s/mine/v1/messages", [json, [name, `sk-${name}`]], body));
    expect(new Set(tenants).size).toBe(2);
    expect(warn.mock.calls).toEqual([[expect.stringContaining("`tenants` answered a promise"), expect.anything()]]);
    warn.mockRestore();
  });

  it("has one tenant for a key, in whatever header", async () => {
    const upstream = await rawUpstream(answering);
    const { lines, tenants } = talkLines();
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    for (const [name, value] of [
      ["x-api-key", "k1"],
      ["Authorization", "Bearer k1"],
      ["x-api-key", "k2"],
    ] as const) {
      await ask(port, requestOf("/v1/messages", [json, [name, value]], body));
    }
    expect(tenants[0]).toBe(tenants[1]);
    expect(tenants[2]).not.toBe(tenants[0]);
  });

  it("is sent with another body and beside headers where lines say so", async () => {
    const upstream = await rawUpstream(answering);
    const other = Buffer.from('{"messages":[]}');
    const { lines } = talkLines(() => ({ body: other, headers: { "anthropic-beta": "edits-1", "x-new": "1" } }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const headers = [json, ["Content-Encoding", "gzip"], ["Anthropic-Beta", "mine-1"]] as const;
    await ask(port, requestOf("/v1/messages", headers, gzipSync(body)));
    const [request] = upstream.requests;
    expect(request?.body.toString()).toBe(other.toString());
    expect(request && headerOf(request, "content-length")).toBe(String(other.length));
    expect(request && headerOf(request, "content-encoding")).toBeUndefined();
    expect(request?.headers).toContainEqual(["Anthropic-Beta", "mine-1,edits-1"]);
    expect(request?.headers).toContainEqual(["x-new", "1"]);
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("is read where it is in %s, and passes compressed", async (coding, compress) => {
    const packed = compress("begin END");
    const upstream = await rawUpstream(async (socket) => {
      socket.write(answerOf("200 OK", [...chunked, ["Content-Encoding", coding]]));
      for (const byte of packed) socket.write(chunkOf(Buffer.of(byte)));
      socket.write("0\r\n\r\n");
    });
    const { api, calls } = talkApi();
    const { lines, kept } = talkLines();
    const { port } = await staged(upstream.url, { apis: [api], lines });
    const sent = compress(body);
    const answer = await ask(port, requestOf("/v1/messages", [json, ["Content-Encoding", coding]], sent));
    expect(upstream.requests[0]?.body.equals(sent)).toBe(true);
    expect(calls[0]?.body.toString()).toBe(body);
    expect(answer.body.equals(packed)).toBe(true);
    expect(kept).toMatchObject([{ answer: { isComplete: true, message: { text: "begin END" } } }]);
  });
});

describe("the last bytes of an answer", () => {
  it.each([
    ["a stream", true],
    ["an answer as a whole", false],
  ])("wait until it is kept, for %s", async (_what, isStream) => {
    const upstream = await rawUpstream(answering);
    let release: () => void = () => undefined;
    const { lines, keeping } = talkLines(() => ({ keep: () => new Promise<void>((resolve) => (release = resolve)) }));
    const { port } = await staged(upstream.url, { apis: [talkApi(isStream).api], lines, limits: { keepMs: 60_000 } });
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.write(requestOf("/v1/messages", [json], body));
    await keeping(1);
    while (isStream && !received.includes("begin")) await once(socket, "data");
    expect(received).not.toContain("END");
    release();
    while (!received.includes("0\r\n\r\n")) await once(socket, "data");
    expect(received).toContain("END");
    socket.destroy();
  });

  it("wait no longer than the limit", async () => {
    const upstream = await rawUpstream(answering);
    const { lines } = talkLines(() => ({ keep: () => new Promise<void>(() => undefined) }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines, limits: { keepMs: 20 } });
    expect((await ask(port, requestOf("/v1/messages", [json], body))).body.toString()).toBe("begin END");
  });
});

describe("an error before any content", () => {
  const first = '{"type":"error","error":{"message":"bound to a different conversation"}}';
  const refusing = (second: (count: number) => Buffer): RawAnswer => {
    const bytes = answerOf(
      "400 Bad Request",
      [
        ["Content-Length", String(first.length)],
        ["request-id", "req_1"],
      ],
      first,
    );
    return (socket, _request, count) => void socket.write(count === 1 ? bytes : second(count));
  };

  it("has one more body tried where lines give one", async () => {
    const asked: unknown[] = [];
    const upstream = await rawUpstream(refusing(() => answerOf("200 OK", [["Content-Length", "3"]], "END")));
    const again = async (status: number, text: string): Promise<Buffer> => (
      asked.push(status, text),
      Buffer.from("{}")
    );
    const { lines, kept } = talkLines(() => ({ again }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const answer = await ask(port, requestOf("/v1/messages", [json], body));
    expect([answer.line, answer.body.toString()]).toEqual(["HTTP/1.1 200 OK", "END"]);
    expect(asked).toEqual([400, first]);
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body, "{}"]);
    expect(kept).toMatchObject([{ status: 200, answer: { isComplete: true } }]);
  });

  it.each([
    ["no other body", async () => undefined, 1],
    ["lines that break", () => Promise.reject(new Error("broke")), 1],
    ["another body that is refused too", async () => Buffer.from("{}"), 2],
  ])("passes byte-equal with %s", async (_what, again, attempts) => {
    const upstream = await rawUpstream(refusing(() => answerOf("400 Bad Request", [["Content-Length", "5"]], "other")));
    const { lines, kept } = talkLines(() => ({ again }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const answer = await ask(port, requestOf("/v1/messages", [json], body));
    expect([answer.line, answer.body.toString()]).toEqual(["HTTP/1.1 400 Bad Request", first]);
    expect(headerOf(answer, "request-id")).toBe("req_1");
    expect(upstream.requests).toHaveLength(attempts);
    expect(kept).toMatchObject([{ status: 400 }]);
  });

  it.each([
    ["400 Bad Request", "400 Bad Request", true],
    ["500 Oh", "500 Oh", true],
    ["400 Bad Request", "401 Unauthorized", false],
    ["400 Bad Request", "500 Oh", false],
    ["500 Oh", "529 Overloaded", false],
  ])("says that another body was refused too: %s, then %s: %s", async (one, two, isRefusedAgain) => {
    const lineOf = (count: number): string => (count === 1 ? one : two);
    const upstream = await rawUpstream((socket, _request, count) => {
      socket.write(answerOf(lineOf(count), [["Content-Length", "5"]], "error"));
    });
    const { lines, kept } = talkLines(() => ({ again: async () => Buffer.from("{}") }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const { line } = await ask(port, requestOf("/v1/messages", [json], body));
    expect(line).toBe(`HTTP/1.1 ${two.startsWith("5") && !isRefusedAgain ? two : one}`);
    expect(kept).toMatchObject([{ isRefusedAgain }]);
  });

  it.each([
    ["that no other body helps against", "429 Too Many Requests", {}],
    ["that is slow to come", "400 Bad Request", { errorMs: 20 }],
  ])("passes before its end with one %s", async (_what, line, limits) => {
    const upstream = await rawUpstream((socket) => {
      socket.write(
        answerOf(
          line,
          [
            ["Content-Length", "9"],
            ["Retry-After", "7"],
          ],
          "begin",
        ),
      );
    });
    const { lines } = talkLines(() => ({ again: async () => Buffer.from("{}") }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines, limits });
    const received = await sendRaw(port, requestOf("/v1/messages", [json], body), (so) => so.includes("begin"));
    expect(received.toString("latin1")).toMatch(new RegExp(`^HTTP/1\\.1 ${line}\r\n[^]*retry-after: 7`, "i"));
    expect(upstream.requests).toHaveLength(1);
  });

  it("passes where it is too long to be read", async () => {
    const long = "x".repeat(5_000);
    const upstream = await rawUpstream((socket) => {
      socket.write(answerOf("500 Oh", [["Content-Length", String(long.length)]], long));
    });
    const { lines } = talkLines(() => ({ again: async () => Buffer.from("{}") }));
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines, limits: { errorBytes: 1_000 } });
    expect((await ask(port, requestOf("/v1/messages", [json], body))).body.toString()).toBe(long);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("whatever breaks", () => {
  it.each([
    ["an API that cannot read", talkApi(true, { read: true }), talkLines(), "bypassed; reason=unread"],
    ["an API whose reader throws", talkApi(true, { reader: true }), talkLines(), "observed; session=ab12; line=main"],
    ["lines that reject", talkApi(), talkLines(() => Promise.reject(new Error("broke"))), "bypassed; reason=error"],
    [
      "a keep that rejects",
      talkApi(),
      talkLines(() => ({ keep: () => Promise.reject(new Error("broke")) })),
      "observed; session=ab12; line=main",
    ],
    ["a note that is no header", talkApi(), talkLines(() => ({ note: "a\r\nb: \u00e9" })), "a??b: ?"],
  ])("the bytes go on, with %s", async (_what, { api }, { lines }, note) => {
    const upstream = await rawUpstream(answering);
    const { port } = await staged(upstream.url, { apis: [api], lines });
    const answer = await ask(port, requestOf("/v1/messages", [json], body));
    expect(upstream.requests[0]?.body.toString()).toBe(body);
    expect([answer.body.toString(), headerOf(answer, "x-windrow")]).toEqual(["begin END", note]);
  });

  it.each([
    ["a body that is too large", [json], 10, "bypassed; reason=size"],
    ["a coding that cannot be read", [json, ["Content-Encoding", "made-up"]], 1_000, "bypassed; reason=encoding"],
    ["a form", [["Content-Type", "multipart/form-data; boundary=B"]], 1_000, "passed"],
    ["x-windrow: off", [json, ["x-windrow", "off"]], 1_000, "passed"],
  ] as const)("passes a request unread: %s", async (_what, headers, bodyBytes, note) => {
    const upstream = await rawUpstream(answering);
    const { api, calls } = talkApi();
    const { port } = await staged(upstream.url, { apis: [api], lines: talkLines().lines, limits: { bodyBytes } });
    const whole = await ask(port, requestOf("/v1/messages", headers, body));
    const pieces = [
      requestOf("/v1/messages", [...headers, ["Transfer-Encoding", "chunked"]]),
      chunkOf(body.slice(0, 8)),
      chunkOf(body.slice(8)),
    ];
    await ask(port, Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]));
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body, body]);
    expect(headerOf(whole, "x-windrow")).toBe(note);
    expect(calls).toEqual([]);
  });

  it("lines that take too long are passed by, and told so when they come", async () => {
    const upstream = await rawUpstream(answering);
    let come: () => void = () => undefined;
    const { lines, keeping } = talkLines(async () => {
      await new Promise<void>((resolve) => (come = resolve));
      return { body: Buffer.from("late") };
    });
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines, limits: { linesMs: 20 } });
    const answer = await ask(port, requestOf("/v1/messages", [json], body));
    expect([answer.body.toString(), headerOf(answer, "x-windrow")]).toEqual(["begin END", "bypassed; reason=error"]);
    come();
    expect(await keeping(1)).toMatchObject({ status: 0, isAborted: true });
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body]);
  });

  it("an answer in a coding that cannot be read passes, and is kept without its message", async () => {
    const upstream = await rawUpstream((socket) => {
      const headers = [
        ["Content-Length", "9"],
        ["Content-Encoding", "constructor"],
      ] as const;
      socket.write(answerOf("200 OK", headers, "begin END"));
    });
    const { lines, kept } = talkLines();
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    expect((await ask(port, requestOf("/v1/messages", [json], body))).body.toString()).toBe("begin END");
    expect(kept).toMatchObject([{ status: 200, answer: { isComplete: false } }]);
  });

  it("an upstream that dies is told to lines, and to the client in the API's own shape", async () => {
    const upstream = await rawUpstream((socket) => void socket.destroy());
    const { lines, keeping } = talkLines();
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const answer = await ask(port, requestOf("/v1/messages", [json], body));
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      status: 502,
      message: expect.stringContaining("broke the connection"),
    });
    expect(await keeping(1)).toMatchObject({ status: 0, isAborted: false, answer: { isComplete: false } });
  });

  it("an answer that breaks off reaches the client as far as it came, and is kept so", async () => {
    const upstream = await rawUpstream((socket) => {
      socket.write(Buffer.concat([answerOf("200 OK", chunked), chunkOf("half")]), () => socket.destroy());
    });
    const { lines, keeping } = talkLines();
    const { port } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.write(requestOf("/v1/messages", [json], body));
    await closed(socket);
    expect(received).toContain("half");
    expect(received).not.toContain("0\r\n\r\n");
    expect(await keeping(1)).toMatchObject({ status: 200, isAborted: false, answer: { message: { text: "half" } } });
  });

  it("a client that leaves while lines think is never sent on, and they are told", async () => {
    const upstream = await rawUpstream(answering);
    let think: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    const { lines, keeping } = talkLines(async () => {
      begun();
      await new Promise<void>((resolve) => (think = resolve));
      return {};
    });
    const { port, event } = await staged(upstream.url, { apis: [talkApi().api], lines });
    const socket = connect(port, "127.0.0.1");
    socket.write(requestOf("/v1/messages", [json], body));
    await beginning;
    socket.destroy();
    expect(await event(1)).toMatchObject({ outcome: "aborted" });
    think();
    expect(await keeping(1)).toMatchObject({ status: 0, isAborted: true });
    expect(upstream.connections).toHaveLength(0);
  });
});
