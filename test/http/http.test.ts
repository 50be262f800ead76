/** The guarded server over real sockets: malformed, foreign and slow requests, and handlers that fail. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveHttp } from "../kit/inside/http.ts";
import type { HttpServer, HttpServerOptions } from "../kit/inside/http.ts";

async function server(options: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const made = await serveHttp({
    port: 0,
    methods: ["GET", "POST"],
    handle: ({ response, url, body }) => void response.end(`${url.pathname} ${body.length}`),
    ...options,
  });
  onTestFinished(() => made.close());
  return made;
}

/** What a server answers to bytes, until it ends the connection. */
async function sent({ url }: HttpServer, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let said = "";
  socket.setEncoding("utf8").on("data", (text: string) => (said += text));
  socket.on("error", () => undefined);
  socket.write(bytes);
  await once(socket, "close");
  return said;
}

function request(line: string, ...headers: readonly string[]): string {
  return [line, ...headers, "Connection: close", "", ""].join("\r\n");
}

const host = "Host: localhost";

describe("a request", () => {
  it.each([
    ["of two slashes", "GET // HTTP/1.1", [host], 400],
    ["for another server", "GET http://evil.example/ HTTP/1.1", [host], 400],
    ["of a star", "OPTIONS * HTTP/1.1", [host], 400],
    ["with a wrong escape", "GET /%zz HTTP/1.1", [host], 400],
    ["with half a character", "GET /%ff HTTP/1.1", [host], 400],
    ["with a backslash", "GET /\\evil.example/ HTTP/1.1", [host], 400],
    ["without a slash", "GET metrics HTTP/1.1", [host], 400],
    ["that is none", "\u0016\u0003\u0001 garbage", [], 400],
    ["of an unknown version", "GET / HTTP/9.9", [host], 400],
    ["without a host", "GET / HTTP/1.1", [], 400],
    ["with two hosts", "GET / HTTP/1.1", [host, "Host: evil.example"], 400],
    ["with a host that is none", "GET / HTTP/1.1", ["Host: a@b/c"], 400],
    ["with large headers", "GET / HTTP/1.1", [host, `X: ${"x".repeat(20_000)}`], 431],
    ["with a long target", `GET /${"x".repeat(9_000)} HTTP/1.1`, [host], 400],
    ["with two lengths", "POST / HTTP/1.1", [host, "Content-Length: 1", "Content-Length: 2"], 400],
    ["with a body that is too large", "POST / HTTP/1.1", [host, "Content-Length: 99999999"], 413],
    ["for a tunnel", "CONNECT localhost:22 HTTP/1.1", [host], 405],
    ["by a method that is not here", "DELETE / HTTP/1.1", [host], 405],
    ["by a foreign name", "GET / HTTP/1.1", ["Host: evil.example"], 403],
    ["by a name that only begins like this machine's", "GET / HTTP/1.1", ["Host: localhost.evil.example"], 403],
    ["by another address", "GET / HTTP/1.1", ["Host: 192.0.2.1"], 403],
    ["of a foreign page", "GET / HTTP/1.1", [host, "Origin: https://evil.example"], 403],
    ["of a page without an origin", "GET / HTTP/1.1", [host, "Origin: null"], 403],
    ["by this machine's name, and a port", "GET / HTTP/1.1", ["Host: LOCALHOST:9464"], 200],
    ["by this machine's name, as DNS writes it", "GET / HTTP/1.1", ["Host: localhost."], 200],
    ["by a loopback address", "GET / HTTP/1.1", ["Host: 127.1.2.3"], 200],
    ["by the loopback address of IPv6", "GET / HTTP/1.1", ["Host: [::1]:1"], 200],
    ["by the same, written out", "GET / HTTP/1.1", ["Host: [0:0:0:0:0:0:0:1]"], 200],
    ["by a name that was allowed", "GET / HTTP/1.1", ["Host: Monitor:9464", "Origin: http://monitor:3000"], 200],
    ["by an address that was allowed", "GET / HTTP/1.1", ["Host: [2001:db8::1]"], 200],
    ["that expects what is not known", "GET / HTTP/1.1", [host, "Expect: something"], 200],
    ["that expects it by a foreign name", "GET / HTTP/1.1", ["Host: evil.example", "Expect: something"], 403],
    ["that would upgrade", "GET / HTTP/1.1", [host, "Upgrade: websocket"], 200],
  ] as const)("%s is answered", async (_name, line, headers, status) => {
    const made = await server({ allowedHosts: ["monitor", "2001:db8::1"] });
    expect(await sent(made, request(line, ...headers))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await (await fetch(`${made.url}/on`)).text()).toBe("/on 0");
  });

  it.each([
    ["a malformed target", request("GET // HTTP/1.1", host)],
    ["a foreign name", request("GET / HTTP/1.1", "Host: evil.example")],
    ["no host", request("GET / HTTP/1.1")],
    ["an expectation by a foreign name", request("GET / HTTP/1.1", "Host: evil.example", "Expect: something")],
    ["another method", request("PUT / HTTP/1.1", host)],
    ["what is no request", request("\u0016\u0003\u0001 garbage")],
    ["a tunnel", request("CONNECT localhost:22 HTTP/1.1", host)],
    ["headers that are too large", request("GET / HTTP/1.1", host, `X: ${"x".repeat(20_000)}`)],
  ])("for %s is refused with headers that let nothing be kept, guessed, run or framed", async (_name, bytes) => {
    const said = (await sent(await server(), bytes)).toLowerCase();
    expect(said).toMatch(/^http\/1.1 4\d\d /);
    expect(said).toContain("\r\ncontent-security-policy: default-src 'none'; frame-ancestors 'none';");
    for (const header of [
      "cache-control: no-store",
      "x-content-type-options: nosniff",
      "referrer-policy: no-referrer",
    ]) {
      expect(said).toContain(`\r\n${header}\r\n`);
    }
  });

  it("names what is allowed where its method is not", async () => {
    expect(await sent(await server(), request("PUT / HTTP/1.1", host))).toMatch(/\r\nallow: GET, POST\r\n/i);
  });

  it("of any address passes where the server is open to other machines, a foreign name does not", async () => {
    const made = await server({ host: "0.0.0.0" });
    expect(await sent(made, request("GET / HTTP/1.1", "Host: 192.0.2.1:1"))).toMatch(/^HTTP\/1.1 200 /);
    expect(await sent(made, request("GET / HTTP/1.1", "Host: evil.example"))).toMatch(/^HTTP\/1.1 403 /);
  });

  it("followed by garbage is answered, and the connection ends", async () => {
    const made = await server();
    expect(await sent(made, `GET /a HTTP/1.1\r\n${host}\r\n\r\ngarbage\r\n\r\n`)).toMatch(/^HTTP\/1.1 (?:200|400) /);
    expect((await fetch(made.url)).status).toBe(200);
  });

  it("is given with its body, and refused where that grows too large", async () => {
    const made = await server();
    expect(await (await fetch(made.url, { method: "POST", body: "twelve bytes" })).text()).toBe("/ 12");
    const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;
    const head = `POST / HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await sent(made, head + chunk.repeat(5))).toMatch(/^(?:HTTP\/1.1 413 |$)/);
    expect((await fetch(made.url)).status).toBe(200);
  });
});

it("a handler that throws makes a 500 that tells nothing, and the server lives", async () => {
  const errors: string[] = [];
  const handle = ({ url }: { readonly url: URL }): Promise<void> | void => {
    if (url.pathname === "/later") return Promise.reject(new Error("s3cret"));
    throw new Error("s3cret");
  };
  const made = await server({ handle, onError: ({ message }) => errors.push(message) });
  for (const path of ["/now", "/later"]) {
    const answer = await fetch(made.url + path);
    expect([answer.status, await answer.text()]).toEqual([500, "The request could not be answered.\n"]);
  }
  expect(errors).toEqual(["s3cret", "s3cret"]);
});

it("a port that is taken is told", async () => {
  const { url } = await server();
  await expect(server({ port: Number(new URL(url).port) })).rejects.toMatchObject({ code: "store-unavailable" });
});

it("ends though a client is in the middle of its request", async () => {
  const made = await server();
  const socket = connect(Number(new URL(made.url).port), "127.0.0.1");
  socket.on("error", () => undefined).write("GET / HTTP/1.1\r\n");
  await once(socket, "connect");
  await expect(made.close()).resolves.toBeUndefined();
});
