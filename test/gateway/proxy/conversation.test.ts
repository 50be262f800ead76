/** Conversations: they are read, sent with the body that lines say, and kept; whatever breaks, the client's bytes go on. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { answerOf, ask, chunked, chunkOf, chunksOf, closed, headerOf, rawClient, requestOf, sized } from "./stage.ts";
import type { RawAnswer } from "./stage.ts";
import { json, talkApi, talked, talkLines } from "./talk.ts";

const events = [chunked, "Content-Type: text/event-stream", "request-id: req_1"];
const body = '{ "messages": [ 1.0 ] }';
const other = Buffer.from("{}");

/** Chunks, the last of which ends the conversation's answer. */
const answering = Buffer.concat([answerOf("200 OK", events), chunksOf("begin ", "END")]);

describe("a conversation", () => {
  it("goes on as it came, and its answer is kept", async () => {
    const { port, upstream, calls, kept, tenants } = await talked(answering);
    const answer = await ask(
      port,
      requestOf("/s/mine/v1/messages?beta=true", [json, "x-api-key: sk-ant-canary"], body),
    );
    expect(upstream.requests[0]?.body.toString()).toBe(body);
    expect(calls[0]).toMatchObject({ method: "POST", path: "/v1/messages?beta=true" });
    expect(calls[0]?.headers["x-windrow-session"]).toBe("mine");
    expect(answer.body.toString()).toBe("begin END");
    expect(headerOf(answer, "x-windrow")).toBe("observed; session=ab12; line=main");
    const whole = { isComplete: true, message: { text: "begin END" } };
    expect(kept).toMatchObject([{ status: 200, isAborted: false, requestId: "req_1", answer: whole }]);
    expect(tenants).toEqual([expect.stringMatching(/^[\da-f]{16}$/)]);
  });

  it("has a tenant of its own where the host's names are none, which is reported once", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const named = async (): Promise<string> => await Promise.resolve("acme");
    const { say, tenants } = await talked(answering, { tenants: named as never });
    for (const name of ["x-api-key", "authorization"]) await say([json, `${name}: sk-${name}`]);
    expect(new Set(tenants).size).toBe(2);
    expect(warn.mock.calls).toEqual([[expect.stringContaining("`tenants` answered a promise"), expect.anything()]]);
    warn.mockRestore();
  });

  it("is sent with another body and beside headers where lines say so", async () => {
    const headers = { "anthropic-beta": "edits-1", "x-new": "1" };
    const { say, upstream } = await talked(answering, { talk: talkLines(() => ({ body: other, headers })) });
    await say([json, "Content-Encoding: gzip", "Anthropic-Beta: mine-1"], gzipSync(body));
    const [request] = upstream.requests;
    expect(request?.body.toString()).toBe(other.toString());
    expect(headerOf(request, "content-length")).toBe(String(other.length));
    expect(headerOf(request, "content-encoding")).toBeUndefined();
    expect(request?.headers).toContain("Anthropic-Beta: mine-1,edits-1");
    expect(headerOf(request, "x-new")).toBe("1");
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("is read where it is in %s, and passes compressed", async (coding, compress) => {
    const packed = compress("begin END");
    const { say, upstream, calls, kept } = await talked(async (socket) => {
      socket.write(answerOf("200 OK", [...events, `Content-Encoding: ${coding}`]));
      for (const byte of packed) socket.write(chunkOf(Buffer.of(byte)));
      socket.write(chunkOf(""));
    });
    const sent = compress(body);
    const answer = await say([json, `Content-Encoding: ${coding}`], sent);
    expect(upstream.requests[0]?.body.equals(sent)).toBe(true);
    expect(calls[0]?.body.toString()).toBe(body);
    expect(answer.body.equals(packed)).toBe(true);
    expect(kept).toMatchObject([{ answer: { isComplete: true, message: { text: "begin END" } } }]);
  });
});

describe("the last bytes of an answer", () => {
  it("wait until it is kept, and all others pass as they come", async () => {
    let release: () => void = () => undefined;
    const talk = talkLines(() => ({ keep: () => new Promise<void>((resolve) => (release = resolve)) }));
    const { port } = await talked(answering, { talk, limits: { keepMs: 60_000 } });
    const { until, received } = rawClient(port, requestOf("/v1/messages", [json], body));
    await talk.keeping(1);
    await until("begin");
    expect(received()).not.toContain("END");
    release();
    expect(await until("0\r\n\r\n")).toContain("END");
  });

  it("wait no longer than the limit", async () => {
    const talk = talkLines(() => ({ keep: () => new Promise<void>(() => undefined) }));
    const { say } = await talked(answering, { talk, limits: { keepMs: 20 } });
    expect((await say()).body.toString()).toBe("begin END");
  });
});

describe("an error before any content", () => {
  const first = '{"type":"error","error":{"message":"bound to a different conversation"}}';
  const refusing =
    (second: Buffer): RawAnswer =>
    (socket, _request, count) =>
      void socket.write(count === 1 ? sized("400 Bad Request", first, ["request-id: req_1"]) : second);
  const twice = (): ReturnType<typeof talkLines> => talkLines(() => ({ again: async () => other }));

  it("has one more body tried where lines give one", async () => {
    const asked: unknown[] = [];
    const again = async (...told: readonly unknown[]): Promise<Buffer> => (asked.push(...told), other);
    const { say, upstream, kept } = await talked(refusing(sized("200 OK", "END")), {
      talk: talkLines(() => ({ again })),
    });
    const answer = await say([json], body);
    expect([answer.line, answer.body.toString()]).toEqual(["HTTP/1.1 200 OK", "END"]);
    expect(asked.slice(0, 2)).toEqual([400, first]);
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body, "{}"]);
    expect(kept).toMatchObject([{ status: 200, answer: { isComplete: true } }]);
  });

  it.each([
    ["no other body", async () => undefined, 1],
    ["lines that break", () => Promise.reject(new Error("broke")), 1],
    ["another body that is refused too", async () => other, 2],
  ])("passes byte-equal with %s", async (_what, again, attempts) => {
    const talk = talkLines(() => ({ again }));
    const { say, upstream, kept } = await talked(refusing(sized("400 Bad Request", "other")), { talk });
    const answer = await say();
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
    const answer: RawAnswer = (socket, _request, count) => void socket.write(sized(count === 1 ? one : two, "error"));
    const { say, kept } = await talked(answer, { talk: twice() });
    expect((await say()).line).toBe(`HTTP/1.1 ${two.startsWith("5") && !isRefusedAgain ? two : one}`);
    expect(kept).toMatchObject([{ isRefusedAgain }]);
  });

  it.each([
    ["that no other body helps against", "429 Too Many Requests", {}],
    ["that is slow to come", "400 Bad Request", { errorMs: 20 }],
    ["that is too long to be read", "500 Oh", { errorBytes: 3 }],
  ])("passes before its end with one %s", async (_what, line, limits) => {
    const begun = answerOf(line, ["Content-Length: 9", "Retry-After: 7"], "begin");
    const { port, upstream } = await talked(begun, { talk: twice(), limits });
    const received = await rawClient(port, requestOf("/v1/messages", [json], body)).until("begin");
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${line}\r\n[^]*retry-after: 7`, "i"));
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("whatever breaks", () => {
  const broke = () => Promise.reject(new Error("broke"));
  const observed = "observed; session=ab12; line=main";

  it.each([
    ["an API that cannot read", talkApi({ read: true }), talkLines(), "bypassed; reason=unread"],
    ["an API whose reader throws", talkApi({ reader: true }), talkLines(), observed],
    ["lines that reject", talkApi(), talkLines(broke), "bypassed; reason=error"],
    ["a keep that rejects", talkApi(), talkLines(() => ({ keep: broke })), observed],
    ["a note that is no header", talkApi(), talkLines(() => ({ note: "a\r\nb: \u00e9" })), "a??b: ?"],
  ])("the bytes go on, with %s", async (_what, api, talk, note) => {
    const { say, upstream } = await talked(answering, { api, talk });
    const answer = await say([json], body);
    expect(upstream.requests[0]?.body.toString()).toBe(body);
    expect([answer.body.toString(), headerOf(answer, "x-windrow")]).toEqual(["begin END", note]);
  });

  it.each([
    ["a body that is too large", [json], 10, "bypassed; reason=size"],
    ["a coding that cannot be read", [json, "Content-Encoding: made-up"], 1_000, "bypassed; reason=encoding"],
    ["a form", ["Content-Type: multipart/form-data; boundary=B"], 1_000, "passed"],
    ["x-windrow: off", [json, "x-windrow: off"], 1_000, "passed"],
  ])("passes a request unread: %s", async (_what, headers, bodyBytes, note) => {
    const { port, say, upstream, calls } = await talked(answering, { limits: { bodyBytes } });
    const whole = await say(headers, body);
    const pieces = chunksOf(body.slice(0, 8), body.slice(8));
    await ask(port, Buffer.concat([requestOf("/v1/messages", [...headers, chunked]), pieces]));
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body, body]);
    expect(headerOf(whole, "x-windrow")).toBe(note);
    expect(calls).toEqual([]);
  });

  it("lines that take too long are passed by, and told so when they come", async () => {
    let come: () => void = () => undefined;
    const talk = talkLines(async () => {
      await new Promise<void>((resolve) => (come = resolve));
      return { body: Buffer.from("late") };
    });
    const { say, upstream } = await talked(answering, { talk, limits: { linesMs: 20 } });
    const answer = await say([json], body);
    expect([answer.body.toString(), headerOf(answer, "x-windrow")]).toEqual(["begin END", "bypassed; reason=error"]);
    come();
    expect(await talk.keeping(1)).toMatchObject({ status: 0, isAborted: true });
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body]);
  });

  it("an answer in a coding that cannot be read passes, and is kept without its message", async () => {
    const { say, kept } = await talked(sized("200 OK", "begin END", ["Content-Encoding: constructor"]));
    expect((await say()).body.toString()).toBe("begin END");
    expect(kept).toMatchObject([{ status: 200, answer: { isComplete: false } }]);
  });

  it("an upstream that dies is told to lines, and to the client in the API's own shape", async () => {
    const { say, keeping } = await talked((socket) => void socket.destroy());
    const message = expect.stringContaining("broke the connection") as string;
    expect(JSON.parse((await say()).body.toString())).toMatchObject({ status: 502, message });
    expect(await keeping(1)).toMatchObject({ status: 0, isAborted: false, answer: { isComplete: false } });
  });

  it("an answer that breaks off reaches the client as far as it came, and is kept so", async () => {
    const half = Buffer.concat([answerOf("200 OK", events), chunkOf("half")]);
    const { port, keeping } = await talked((socket) => void socket.write(half, () => socket.destroy()));
    const { socket, received } = rawClient(port, requestOf("/v1/messages", [json], body));
    await closed(socket);
    expect(received()).toContain("half");
    expect(received()).not.toContain("0\r\n\r\n");
    expect(await keeping(1)).toMatchObject({ status: 200, isAborted: false, answer: { message: { text: "half" } } });
  });

  it("a client that leaves while lines think is never sent on, and they are told", async () => {
    let think: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    const talk = talkLines(async () => {
      begun();
      await new Promise<void>((resolve) => (think = resolve));
      return {};
    });
    const { port, upstream, event } = await talked(answering, { talk });
    const { socket } = rawClient(port, requestOf("/v1/messages", [json], body));
    await beginning;
    socket.destroy();
    expect(await event(1)).toMatchObject({ outcome: "aborted" });
    think();
    expect(await talk.keeping(1)).toMatchObject({ status: 0, isAborted: true });
    expect(upstream.connections).toHaveLength(0);
  });
});
