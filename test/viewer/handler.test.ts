/** The viewer's handler: which path asks what, who may ask, and how errors are told. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { WindrowError } from "windrow";
import { viewerHandler } from "windrow/viewer";
import type { LiveEvent, ViewerHandlerOptions, ViewerSource } from "windrow/viewer";
import { fakeSource } from "./fake-source.ts";

const token = "a-token-of-enough-characters";
const id = "0b2f9c1e-7a55-4d0e-9a64-2f3f0c8a1d11";

function asker(
  answers: Partial<ViewerSource> = {},
  options: Partial<ViewerHandlerOptions> = {},
): { ask: (path: string, init?: RequestInit) => Promise<Response>; asked: readonly (readonly unknown[])[] } {
  const { source, asked } = fakeSource(answers);
  const handle = viewerHandler({ source, token, ...options });
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    handle(new Request(`http://127.0.0.1${path}`, { headers: { authorization: `Bearer ${token}` }, ...init }));
  return { ask, asked };
}

async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { readonly error: { readonly code: string } };
  return error.code;
}

/** The status and the code with which a path is refused, and what the source was asked. */
async function refusalOf(path: string, init?: RequestInit): Promise<readonly unknown[]> {
  const { ask, asked } = asker();
  const response = await ask(path, init);
  return [response.status, await codeOf(response), asked];
}

describe("a question", () => {
  it.each([
    ["/api/sessions", ["sessions", {}]],
    [
      "/api/sessions?after=x&limit=20&status=failed&text=fix%20it",
      ["sessions", { after: "x", limit: 20, status: "failed", text: "fix it" }],
    ],
    [`/api/sessions/${id}`, ["session", id]],
    [`/api/sessions/${id}/outline?from=1&to=1000`, ["outline", id, 1, 1_000]],
    [`/api/sessions/${id}/messages?from=7&to=206`, ["messages", id, 7, 206]],
    [`/api/sessions/${id}/text?seq=3&place=0.1&from=0&to=9`, ["text", id, 3, "0.1", 0, 9]],
    [`/api/sessions/${id}/blob/3/0.1`, ["blob", id, 3, "0.1"]],
    [`/api/sessions/${id}/calls?from=1&to=20`, ["calls", id, 1, 20, undefined]],
    [`/api/sessions/${id}/calls?from=1&to=99999&row=2`, ["calls", id, 1, 5_000, 2]],
    [`/api/sessions/${id}/epochs`, ["epochs", id, undefined]],
    [`/api/sessions/${id}/epochs?fates=0`, ["epochs", id, undefined, { fates: false }]],
    [`/api/sessions/${id}/windows/57`, ["window", id, 57, {}]],
    [
      `/api/sessions/${id}/windows/57?row=1&strategy=adaptive&budget=16000`,
      ["window", id, 57, { row: 1, strategy: "adaptive", budget: 16_000 }],
    ],
    [`/api/sessions/${id}/requests?from=2&to=100`, ["requests", id, 2, 100]],
    [`/api/sessions/${id}/recalls`, ["recalls", id]],
    [`/api/sessions/${id}/replay`, ["replay", id]],
    [`/api/sessions/${id}/search?words=a%20b`, ["search", "a b", id]],
    ["/api/search?words=a%20b", ["search", "a b"]],
  ])("%s is asked of the source", async (path, question) => {
    const { ask, asked } = asker();
    await ask(path);
    expect(asked).toEqual([question]);
  });

  it.each([
    ...["/outline?from=1&to=1001", "/outline?from=5&to=4", "/outline?from=0&to=4", "/outline?from=1"],
    ...[
      "/outline?from=1&to=2&from=3",
      "/outline?from=1e3&to=2000",
      "/messages?from=1&to=201",
      "/messages?from=-1&to=2",
    ],
    ...["/requests?from=1&to=1001", "/windows/0", "/windows/x", "/windows/5?budget=0", "/windows/5?rows=1"],
    ...["/search", "/search?words=", "?x=1"],
  ])("/api/sessions/ID%s is refused before the source sees it", async (rest) => {
    expect(await refusalOf(`/api/sessions/${id}${rest}`)).toEqual([400, "bad-option", []]);
  });

  it.each([
    ["/api/sessions?limit=100000", "bad-option"],
    ["/api/sessions/..%2f..%2fetc", "session-id-invalid"],
    ["/api/sessions/%2e%2e%2f", "session-id-invalid"],
  ])("%s is refused before the source sees it", async (path, code) => {
    expect(await refusalOf(path)).toEqual([400, code, []]);
  });

  it.each([
    "/api",
    "/api/",
    "/api/x",
    `/api/sessions/${id}/x`,
    `/api/sessions/${id}/windows`,
    "/x",
    "/index.html",
    "//x",
  ])("%s is not there", async (path) => {
    const { ask, asked } = asker();
    expect([(await ask(path)).status, asked]).toEqual([404, []]);
  });

  it("with HEAD has the headers alone", async () => {
    const response = await asker().ask("/api/sessions", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("content-type")).toContain("application/json");
  });

  it("for an image has its type, and any other is a file to save", async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const typeOf = async (mediaType: string): Promise<string | null> => {
      const { ask } = asker({ blob: () => Promise.resolve({ mediaType, data: bytes }) });
      const response = await ask(`/api/sessions/${id}/blob/1/0`);
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
      return response.headers.get("content-type");
    };
    expect(await typeOf("image/png")).toBe("image/png");
    expect(await typeOf("image/svg+xml")).toBe("application/octet-stream");
    expect(await typeOf("text/html")).toBe("application/octet-stream");
  });
});

describe("who asks", () => {
  const wrong = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `bearer${token}`,
    token,
  ];
  it.each(wrong)("as %j is refused", async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    for (const path of ["/api/sessions", `/api/sessions/${id}/follow`, "/api/nothing"]) {
      expect(await refusalOf(path, { headers })).toEqual([401, "not-allowed", []]);
    }
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("with %s is refused", async (method) => {
    const { ask, asked } = asker();
    const response = await ask("/api/sessions", { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(asked).toEqual([]);
  });

  it("gets no answer that a page of another origin may read, keep or frame", async () => {
    const { ask } = asker();
    for (const path of ["/api/sessions", "/api/nothing", "/nothing", `/api/sessions/${id}/blob/1/0`]) {
      const { headers } = await ask(path);
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it.each([{ token: "short" }, {}, { token, bas: "/x" }, { token, base: "viewer" }])("refuses %j", (options) => {
    const { source } = fakeSource();
    const message = expect.not.stringContaining("short");
    expect(() => viewerHandler({ source, ...options } as never)).toThrow(
      expect.objectContaining({ code: "bad-option", message }) as Error,
    );
  });
});

describe("an error", () => {
  it.each([
    ["session-not-found", 404],
    ["not-found", 404],
    ["not-allowed", 403],
    ["bad-option", 400],
    ["store-corrupt", 500],
  ] as const)("%s has status %i and its message", async (code, status) => {
    const { ask } = asker({ session: () => Promise.reject(new WindrowError(code, "The message.")) });
    const response = await ask(`/api/sessions/${id}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { code, message: "The message." } });
  });

  it("that nobody foresaw tells nothing of itself to the page, and all of it to the program", async () => {
    const errors: Error[] = [];
    const error = new TypeError("secret of /home/user");
    const answers = { session: () => Promise.reject(error) };
    const { ask } = asker(answers, { onError: (told) => errors.push(told) });
    const response = await ask(`/api/sessions/${id}`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    expect(errors).toEqual([error]);
  });
});

describe("the page", () => {
  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), "windrow-pages-"));
    onTestFinished(() => rm(made, { recursive: true }));
    await writeFile(join(made, "index.html"), "<!doctype html>");
    await writeFile(join(made, "viewer.js"), "1;");
    await writeFile(join(made, "viewer.css"), "a{}");
    return made;
  }

  it("needs no token, below the path that it is mounted at", async () => {
    const { ask } = asker({}, { base: "/viewer", pages: await folder() });
    const typeOf = async (path: string): Promise<unknown> => {
      const response = await ask(path, { headers: {} });
      return [response.status, response.headers.get("content-type")];
    };
    expect(await typeOf("/viewer/")).toEqual([200, "text/html; charset=utf-8"]);
    expect(await typeOf("/viewer/viewer.js")).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(await typeOf("/viewer/viewer.css")).toEqual([200, "text/css; charset=utf-8"]);
    expect((await typeOf("/viewer")) as unknown[]).toContain(308);
    expect((await typeOf("/viewer.js")) as unknown[]).toContain(404);
    expect((await ask("/viewer/api/sessions")).status).toBe(200);
  });

  it("that is not built is told with what to do", async () => {
    const response = await asker({}, { pages: join(tmpdir(), "windrow-no-such-folder") }).ask("/");
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { code: "package-missing" } });
  });
});

describe("following", () => {
  const event = (messages: number): LiveEvent => ({ messages, calls: 0, epochs: 0, status: "processing" });

  it("streams what grew, and ends the source's work when the listener leaves", async () => {
    let tell: ((event: LiveEvent) => void) | undefined;
    let ended: (() => void) | undefined;
    const over = new Promise<void>((resolve) => (ended = resolve));
    const { ask } = asker({
      follow: (_id, onEvent, signal) => {
        tell = onEvent;
        return new Promise((resolve) => signal.addEventListener("abort", () => (ended?.(), resolve()), { once: true }));
      },
    });
    const left = new AbortController();
    const response = await ask(`/api/sessions/${id}/follow`, { signal: left.signal });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    tell?.(event(1));
    let said = "";
    while (!said.includes("data: ")) said += (await reader.read()).value;
    expect(said).toContain(`data: ${JSON.stringify(event(1))}\n\n`);
    left.abort();
    await over;
    let last = await reader.read();
    while (!last.done) last = await reader.read();
  });

  it("gives a slow listener the newest event, whatever came before it", async () => {
    const { ask } = asker({
      follow: (_id, onEvent) => {
        for (let count = 1; count <= 1_000; count += 1) onEvent(event(count));
        return Promise.resolve();
      },
    });
    const response = await ask(`/api/sessions/${id}/follow`);
    const events = (await response.text()).split("\n\n").filter((line) => line.startsWith("data: "));
    expect(events.length).toBeLessThan(20);
    expect(events.at(-1)).toBe(`data: ${JSON.stringify(event(1_000))}`);
  });

  it("of a session that is not there is answered with 404", async () => {
    const { ask } = asker({ session: () => Promise.reject(new WindrowError("session-not-found", "Gone.")) });
    for (const method of ["GET", "HEAD"]) {
      expect((await ask(`/api/sessions/${id}/follow`, { method })).status).toBe(404);
    }
  });

  it("tells of an error and ends", async () => {
    const { ask } = asker({ follow: () => Promise.reject(new WindrowError("session-not-found", "Gone.")) });
    const text = await (await ask(`/api/sessions/${id}/follow`)).text();
    expect(text).toContain('event: error\ndata: {"error":{"code":"session-not-found","message":"Gone."}}');
  });
});
