/** The viewer's own server over real sockets: its address, its link, and the requests that it refuses. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveViewer } from "windrow/viewer";
import type { ServeViewerOptions, ViewerServer } from "windrow/viewer";
import { fakeSource } from "./fake-source.ts";

async function server(options: Partial<ServeViewerOptions> = {}): Promise<ViewerServer> {
  const made = await serveViewer({ source: fakeSource().source, ...options });
  onTestFinished(() => made.close());
  return made;
}

/** The status of the answer to the lines of a request. */
async function statusOf({ url }: ViewerServer, ...lines: readonly string[]): Promise<number> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let said = "";
  socket.setEncoding("latin1").on("data", (text: string) => (said += text));
  socket.on("error", () => undefined);
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  await once(socket, "close");
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(said)?.[1]);
}

describe("a server", () => {
  it("is on this machine alone, at a free port, with a token of its own in the link", async () => {
    const [first, second] = [await server(), await server()];
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(first.token).toMatch(/^[\w-]{43}$/);
    expect(first.token).not.toBe(second.token);
    expect(first.link("/s/x/call/57")).toBe(`${first.url}/#token=${first.token}&to=/s/x/call/57`);
  });

  it("is reached by other machines only with a token", async () => {
    await expect(serveViewer({ source: fakeSource().source, host: "0.0.0.0" })).rejects.toMatchObject({
      code: "bad-option",
    });
  });

  it("refuses other names, origins and methods, whatever the token", async () => {
    const viewer = await server({ allowedHosts: ["viewer.test"] });
    const bearer = `Authorization: Bearer ${viewer.token}`;
    const ask = (line: string, ...headers: readonly string[]): Promise<number> =>
      statusOf(viewer, line, bearer, ...headers);
    const get = "GET /api/sessions HTTP/1.1";
    expect(await ask(get, "Host: 127.0.0.1")).toBe(200);
    expect(await ask(get, "Host: viewer.test")).toBe(200);
    expect(await ask(get, "Host: evil.example")).toBe(403);
    expect(await ask(get, "Host: localhost.evil.example")).toBe(403);
    expect(await ask(get, "Host: localhost", "Origin: https://evil.example")).toBe(403);
    expect(await ask(get, "Host: localhost", "Origin: null")).toBe(403);
    expect(await ask("POST /api/sessions HTTP/1.1", "Host: localhost", "Content-Length: 0")).toBe(405);
    expect(await ask("OPTIONS /api/sessions HTTP/1.1", "Host: localhost")).toBe(405);
    for (const path of [
      "/../package.json",
      "/%2e%2e/package.json",
      "/viewer.js/..%2f..%2fpackage.json",
      "/.git/config",
    ]) {
      expect(await ask(`GET ${path} HTTP/1.1`, "Host: localhost"), path).toBe(404);
    }
    const { token } = viewer;
    expect(await statusOf(viewer, `GET /api/sessions?token=${token} HTTP/1.1`, "Host: localhost")).toBe(401);
    expect(await statusOf(viewer, get, "Host: localhost", `Cookie: token=${token}`)).toBe(401);
    for (const id of ["%2e%2e%2fx", "..%2f..", "%2fetc%2fpasswd", "a%00b"]) {
      expect(await ask(`GET /api/sessions/${id} HTTP/1.1`, "Host: localhost"), id).toBe(400);
    }
  });
});
