/** The gateway's guard: who may call, which requests are none, where they may go, and what is never told. */
import { connect, createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveGateway } from "windrow/gateway";
import { freePort } from "../../kit/free-port.ts";
import { answerOf, ask, chunked, headerOf, nameOf, rawUpstream, requestOf, sendRaw, sized, staged } from "./stage.ts";

const canary = "sk-canary-0123456789";
const fine = sized("200 OK", "ok");

describe("a request that is refused", () => {
  const here = "Host: 127.0.0.1";
  const origin = "Origin: https://evil.example";
  const image = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"];
  const socket = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"];
  const gzipped = "Transfer-Encoding: gzip, chunked";
  const refused: readonly (readonly [string, number, string, readonly string[], string?])[] = [
    ["a foreign Host", 403, "POST /v1/messages", ["Host: evil.example", "Content-Length: 2"], "{}"],
    ["no Host", 400, "POST /v1/messages", ["Content-Length: 2"], "{}"],
    ["two Hosts", 400, "POST /v1/messages", [here, "Host: localhost"]],
    ["an Origin of another site", 403, "GET /v1/models", [here, origin]],
    ["an Origin of this machine", 403, "GET /v1/models", [here, "Origin: http://127.0.0.1:3000"]],
    ["an image of another site's page", 403, "GET /v1/models", [here, ...image]],
    ["the Origin null", 403, "GET /v1/models", [here, "Origin: null"]],
    ["a preflight", 403, "OPTIONS /v1/messages", [here, origin]],
    ["a length and chunks", 400, "POST /v1/messages", [here, "Content-Length: 5", chunked], "0\r\n\r\n"],
    ["two lengths", 400, "POST /v1/messages", [here, "Content-Length: 2", "Content-Length: 2"], "{}"],
    ["a list of lengths", 400, "POST /v1/messages", [here, "Content-Length: 2, 2"], "{}"],
    ["a coding that is not chunked alone", 400, "POST /v1/files", [here, gzipped], "0\r\n\r\n"],
    ["an address for a target", 400, "GET http://evil.example/", [here]],
    ["an address in the path", 404, "GET /u/https://evil.example/v1/models", [here]],
    ["an address behind a route", 404, "GET /v1/https://evil.example", [here]],
    ["a hidden address", 404, "GET /v1/https:%2f%2fevil.example", [here]],
    ["a path that climbs", 404, "GET /u/openai/../admin", [here]],
    ["a path that climbs in code", 404, "GET /u/openai/%2e%2e/admin", [here]],
    ["an upstream of no list", 404, "GET /u/evil/v1/models", [here]],
    ["a name that every object has", 404, "GET /u/constructor/v1/models", [here]],
    ["an unknown path", 404, "GET /admin", [here]],
    ["a tunnel", 405, "CONNECT evil.example:443", ["Host: evil.example:443"]],
    ["a web socket", 426, "GET /v1/responses", [here, ...socket]],
    ["a line break in a header", 400, "GET /v1/models", [here, "X-A: b\rc"]],
    ["headers that are too large", 431, "GET /v1/models", [here, `X-A: ${"a".repeat(300_000)}`]],
  ];
  const rows = refused.map(([what, status, target, headers, body = ""]) => ({ what, status, target, headers, body }));
  it.each(rows)("has $what", async ({ status, target, headers, body }) => {
    const upstream = await rawUpstream(fine);
    const { port, gateway } = await staged(upstream.url);
    const received = await sendRaw(port, answerOf(`${target} HTTP/1.1`, headers, body));
    expect(received.toString("latin1")).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(upstream.connections).toHaveLength(0);
    expect(await (await fetch(`${gateway.url}/-/health`)).text()).toContain("windrow gateway");
  });
});

it("passes over an offer of HTTP/2, as Java's client makes one", async () => {
  const upstream = await rawUpstream(fine);
  const { port } = await staged(upstream.url);
  const offer = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"] as const;
  const { line } = await ask(port, requestOf("/v1/responses", offer, "{}"));
  expect(line).toBe("HTTP/1.1 200 OK");
  expect(upstream.requests[0]?.headers.map(nameOf)).not.toContain("http2-settings");
});

it("passes a redirect on, and does not follow it", async () => {
  const other = await rawUpstream(fine);
  const upstream = await rawUpstream(sized("307 Temporary Redirect", "", [`Location: ${other.url}/elsewhere`]));
  const { port } = await staged(upstream.url);
  const { line, headers: passed } = await ask(port, requestOf("/v1/messages", [`x-api-key: ${canary}`], "{}"));
  expect(line).toBe("HTTP/1.1 307 Temporary Redirect");
  expect(passed).toContain(`Location: ${other.url}/elsewhere`);
  expect([upstream.requests.length, other.requests.length]).toEqual([1, 0]);
});

it("passes requests that bring the token, in a header or in the path, and takes it out", async () => {
  const token = "a-token-of-16-characters";
  const upstream = await rawUpstream(fine);
  const { port, gateway } = await staged(upstream.url, { token });
  const status = async (path: string, headers: readonly string[]): Promise<string> =>
    (await ask(port, requestOf(path, headers, "{}"))).line.slice(9, 12);
  expect(await status("/v1/messages", [])).toBe("401");
  expect(await status("/v1/messages", [`x-windrow-token: ${token}x`])).toBe("401");
  expect(await status("/t/wrong/v1/messages", [`x-windrow-token: ${token}`])).toBe("401");
  expect(await status("/v1/messages", [`X-Windrow-Token: ${token}`])).toBe("200");
  expect(await status(`/t/${token}/s/mine/v1/messages`, [])).toBe("200");
  expect(upstream.requests.map(({ line }) => line)).toEqual(Array(2).fill("POST /v1/messages HTTP/1.1"));
  expect(JSON.stringify(upstream.requests)).not.toContain(token);
  const metrics = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${gateway.url}/-/metrics`, { headers })).status;
  expect([await metrics({}), await metrics({ authorization: `Bearer ${token}` })]).toEqual([401, 200]);
});

const sixth = await new Promise<boolean>((resolve) => {
  const probe = createServer();
  probe.once("error", () => resolve(false)).listen(0, "::1", () => probe.close(() => resolve(true)));
});

it.skipIf(!sixth)("listens at both addresses of this machine", async () => {
  const upstream = await rawUpstream(fine);
  const { port } = await staged(upstream.url);
  const socket = connect(port, "::1");
  socket.write("GET /-/health HTTP/1.1\r\nHost: [::1]\r\n\r\n");
  const [chunk] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect(chunk.toString()).toContain("200 OK");
});

it("passes every header, however many there are", async () => {
  const upstream = await rawUpstream(fine);
  const { port } = await staged(upstream.url);
  const many = Array.from({ length: 3_000 }, (_, place) => `x-${place}: 1`);
  await ask(port, requestOf("/v1/messages", many, "{}"));
  expect(upstream.requests[0]?.headers.filter((line) => /^x-\d/.test(line))).toEqual(many);
});

describe("a proxy of the environment", () => {
  /** A proxy that leads every tunnel to one port, and remembers what it was asked. */
  async function proxyTo(port: number, status = "200 OK"): Promise<{ readonly url: string; readonly asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (head) => {
        asked.push(head.toString("latin1"));
        socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
        if (status !== "200 OK") return void socket.end();
        const behind = connect(port, "127.0.0.1");
        behind.on("error", () => undefined);
        socket.pipe(behind).pipe(socket);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return { url: `http://me:pass@127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  it("is used outwards alone, with its password and the client's own headers", async () => {
    const upstream = await rawUpstream(fine);
    const { url, asked } = await proxyTo(upstream.port);
    const env = { HTTP_PROXY: url, NO_PROXY: "other.example,.inner.example" };
    const upstreams = { openai: "http://llm.example:8080", gemini: "http://a.inner.example:1" };
    const { port } = await staged(upstream.url, { env, upstreams });
    const headers = [`X-Key: ${canary}`, "a: 1", "A: 2"] as const;
    expect((await ask(port, requestOf("/v1/responses", headers, "{}"))).line).toBe("HTTP/1.1 200 OK");
    expect((await ask(port, requestOf("/v1/messages", headers, "{}"))).line).toBe("HTTP/1.1 200 OK");
    expect((await ask(port, requestOf("/v1beta/models", headers, "{}"))).line).toBe("HTTP/1.1 502 Bad Gateway");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^CONNECT llm\.example:8080 HTTP\/1\.1\r\n/);
    expect(asked[0]).toContain(`proxy-authorization: Basic ${Buffer.from("me:pass").toString("base64")}`);
    expect(asked[0]).not.toContain(canary);
    expect(upstream.requests[0]?.headers.slice(2, 5)).toEqual(headers);
    expect(headerOf(upstream.requests[0], "host")).toBe("llm.example:8080");
  });

  it("that refuses is told with its status, without its password", async () => {
    const upstream = await rawUpstream(fine);
    const { url } = await proxyTo(upstream.port, "407 Proxy Authentication Required");
    const upstreams = { openai: "http://llm.example" };
    const { port, events } = await staged(upstream.url, { env: { http_proxy: url }, upstreams });
    const { line, body } = await ask(port, requestOf("/v1/responses", [], "{}"));
    expect(line).toBe("HTTP/1.1 502 Bad Gateway");
    expect(body.toString()).toContain("PROXY_ANSWERED_407");
    expect(body.toString() + inspect(events)).not.toMatch(/pass@|bWU6/);
  });

  it("must be one of http or https", async () => {
    const env = { HTTPS_PROXY: "socks5://127.0.0.1:1" };
    await expect(serveGateway({ port: 0, env })).rejects.toMatchObject({ code: "bad-option" });
  });
});

it("refuses to begin where other machines could call without a token, and an upstream that is itself", async () => {
  await expect(serveGateway({ host: "0.0.0.0", port: 0 })).rejects.toMatchObject({ code: "bad-option" });
  const taken = await rawUpstream(fine);
  await expect(serveGateway({ port: taken.port })).rejects.toMatchObject({ code: "store-unavailable" });
  const port = await freePort();
  const gateway = await serveGateway({ port, upstreams: { openai: `http://localhost:${port}` } });
  onTestFinished(() => gateway.close());
  expect((await ask(port, requestOf("/v1/responses", [], "{}"))).line).toMatch(/ 508 /);
});

it("tells a key in no event, metric, error and object", async () => {
  const upstream = await rawUpstream((socket, _request, count) => {
    if (count === 1) socket.write(fine);
    else if (count === 2) socket.destroy();
    else socket.write("HTTP/1.1 200 OK\r\nbroken header\r\n\r\n");
  });
  const { gateway, port, events, event } = await staged(upstream.url);
  const keys = [`x-goog-api-key: ${canary}`, `authorization: Bearer ${canary}`, `cookie: ${canary}`];
  const request = requestOf(`/v1beta/models/m:generateContent?key=${canary}`, keys, "{}");
  const answers = [await ask(port, request), await ask(port, request), await ask(port, request)];
  expect(answers.map(({ line }) => line.slice(9, 12))).toEqual(["200", "502", "502"]);
  await event(3);
  const metrics = await (await fetch(`${gateway.url}/-/metrics`)).text();
  expect(metrics).toContain('windrow_gateway_requests_total{upstream="gemini",outcome="failed",status="502"} 2');
  const objects = inspect([gateway, events, answers], { depth: 9, showHidden: true });
  expect(objects + metrics).not.toContain(canary);
  expect(events[1]).toMatchObject({ path: "/v1beta/models/m:generateContent", outcome: "failed", status: 502 });
});

describe("an upstream that is not there", () => {
  it.each([
    ["/v1/messages", { type: "error", error: { type: "api_error" } }],
    ["/v1/responses", { error: { type: "server_error" } }],
    ["/v1beta/models/m:generateContent", { error: { code: 502, status: "UNAVAILABLE" } }],
    ["/api/chat", { error: expect.stringContaining("ECONNREFUSED") }],
  ])("is told in the shape of %s", async (path, shape) => {
    const { port } = await staged(`http://127.0.0.1:${await freePort()}`);
    const answer = await ask(port, requestOf(path, [`authorization: Bearer ${canary}`], "{}"));
    expect(answer.line).toBe("HTTP/1.1 502 Bad Gateway");
    expect(headerOf(answer, "x-windrow")).toBe("failed");
    expect(JSON.parse(answer.body.toString())).toMatchObject(shape);
    expect(answer.body.toString()).toContain("nothing listens there");
  });
});
