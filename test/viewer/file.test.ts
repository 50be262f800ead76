/** A single file: it answers as the store does, and nothing in it but the page's own script can run. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import type { Part } from "windrow";
import { createMask, openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import type { ViewerSource, ViewerWindow } from "windrow/viewer";
import { codingSession } from "../kit/inside/message.ts";
import { encodeSessions, fileHtml, fileSource, unpackFile } from "../kit/inside/viewer.ts";
import type { EncodeOptions, FileData } from "../kit/inside/viewer.ts";
import { openSession } from "../kit/sessions.ts";
import { assertWindows, call } from "./windows.ts";
import type { Composed } from "./windows.ts";

const long = "a long line of a result ".repeat(2_000);

interface Made {
  readonly source: ViewerSource;
  readonly id: string;
  readonly seen: readonly Composed[];
}

let made: Promise<Made> | undefined;

/** A session with a window for each of its calls, and the source over its store; the tests only read it. */
function session(): Promise<Made> {
  made ??= makeSession();
  return made;
}

async function makeSession(): Promise<Made> {
  const store = await openStore("ram:");
  const manager = await SessionManager.open({ budget: 4_000, store, strategy: "adaptive" });
  const created = await manager.create();
  const seen: Composed[] = [];
  await created.append({ role: "user", parts: [{ type: "text", text: long }] });
  for (const message of codingSession(40, 20)) {
    if (message.role === "assistant") await call(created, seen, { system: "You mend code." });
    await created.append(message);
  }
  return { source: storedSource(store, {}), id: created.id, seen };
}

/** The data of a file as a browser has them. */
async function dataOf(source: ViewerSource, id: string, options: EncodeOptions = {}): Promise<FileData> {
  return JSON.parse(JSON.stringify(await encodeSessions(source, [id], options))) as FileData;
}

/** A window without what differs in a file: its keys are short. */
function comparable({ entries, ...window }: ViewerWindow): object {
  const keys = [...new Set(entries.map(({ key }) => key))];
  return { ...window, entries: entries.map(({ key, ...entry }) => ({ ...entry, key: keys.indexOf(key) })) };
}

describe("the data of a file", () => {
  it("answer every question as the store does", async () => {
    const { source, id, seen } = await session();
    const file = fileSource(await dataOf(source, id));
    expect(await assertWindows(file, id, seen)).toBe(40);
    expect(await file.session(id)).toEqual(await source.session(id));
    const { messages } = await source.session(id);
    expect(await file.outline(id, 1, messages)).toEqual(await source.outline(id, 1, messages));
    expect(await file.messages(id, 1, messages)).toEqual(await source.messages(id, 1, messages));
    expect(await file.calls(id, 3, 9)).toEqual(await source.calls(id, 3, 9));
    expect(await file.epochs(id)).toEqual(await source.epochs(id));
    // In an order in which no window follows the one before it.
    for (const number of [40, 1, 17, 16, 33, 32, 2]) {
      expect(comparable(await file.window(id, number))).toEqual(comparable(await source.window(id, number)));
    }
  });

  it("hold a message once, however many windows show it", async () => {
    const { source, id } = await session();
    const text = JSON.stringify(await encodeSessions(source, [id]));
    expect(text.split(long)).toHaveLength(2);
  });

  it("cut a long text as the server does, and give the rest", async () => {
    const { source, id } = await session();
    const file = fileSource(await dataOf(source, id));
    const [message] = await file.messages(id, 1, 1);
    expect(message?.cut).toEqual({ "0": long.length });
    expect(await file.text(id, 1, "0", 0, long.length)).toBe(long);
  });

  it("pass the mask", async () => {
    const { source, id } = await session();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const leaky: ViewerSource = {
      ...source,
      async session(name) {
        return { ...(await source.session(name)), title: `with ${secret}` };
      },
      async window(name, number) {
        const window = await source.window(name, number);
        return { ...window, system: `Use ${secret}.` };
      },
    };
    expect(JSON.stringify(await dataOf(leaky, id))).toContain(secret);
    expect(JSON.stringify(await dataOf(leaky, id, { mask: createMask() }))).not.toContain(secret);
  });

  it("are searched word by word", async () => {
    const { source, id } = await session();
    const file = fileSource(await dataOf(source, id));
    const [hit] = await file.search("LINE long");
    expect(hit).toMatchObject({ sessionId: id, seq: 1, role: "user" });
    expect(hit?.excerpt).toContain("long line");
    expect(await file.search("nothing-has-this-word")).toEqual([]);
  });

  it("find what a call answered by the words of the call", async () => {
    const { source, id } = await session();
    const file = fileSource(await dataOf(source, id));
    const found = await source.search("src/m3.ts", id);
    expect((await file.search("src/m3.ts")).map(({ seq }) => seq)).toEqual(found.map(({ seq }) => seq));
  });

  it("hold images up to a size, as they are stored, and say so of larger ones", async () => {
    const store = await openStore("ram:");
    const shot = await openSession({ store });
    const image = (bytes: number): Part => ({
      type: "image",
      mediaType: "image/png",
      data: Buffer.alloc(bytes, 7).toString("base64"),
    });
    await shot.append([
      { role: "user", parts: [{ type: "text", text: "Look." }, image(300)] },
      { role: "user", parts: [image(600_000)] },
    ]);
    const source = storedSource(store, {});
    const file = fileSource(await dataOf(source, shot.id, { mask: createMask() }));
    expect(await file.blob?.(shot.id, 1, "1")).toEqual(await source.blob?.(shot.id, 1, "1"));
    await expect(file.blob?.(shot.id, 2, "0")).rejects.toMatchObject({ code: "not-found" });
  });

  it("leave out images whose addresses name nothing, or cannot be decoded", async () => {
    const store = await openStore("ram:");
    const shot = await openSession({ store });
    const urls = ["blob:1/99", "blob:1/0", "blob:http://127.0.0.1/1", "data:image/png,%89PNG", "data:image/png;base64"];
    const images = urls.map((url): Part => ({ type: "image", mediaType: "image/png", url }));
    const svg: Part = { type: "image", mediaType: "image/svg+xml", data: Buffer.from("<svg/>").toString("base64") };
    const kept: Part = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" };
    await shot.append([{ role: "user", parts: [{ type: "text", text: "Look." }, ...images, svg, kept] }]);
    const data = await dataOf(storedSource(store, {}), shot.id);
    expect(Object.keys(data.sessions[0]?.images ?? {})).toEqual(["1/7"]);
    await expect(fileSource(data).blob?.(shot.id, 1, "1")).rejects.toMatchObject({ code: "not-found" });
  });

  it("say what a file cannot do", async () => {
    const { source, id } = await session();
    const file = fileSource(await dataOf(source, id));
    await expect(file.window(id, 1, { strategy: "none" })).rejects.toMatchObject({ code: "not-found" });
    await expect(file.window(id, 41)).rejects.toMatchObject({ code: "not-found" });
    await expect(file.session("another")).rejects.toMatchObject({ code: "session-not-found" });
  });

  it("end where the signal fires", async () => {
    const { source, id } = await session();
    const stop = new AbortController();
    const onProgress = ({ done }: { readonly done: number }): void => (done === 3 ? stop.abort() : undefined);
    await expect(encodeSessions(source, [id], { signal: stop.signal, onProgress })).rejects.toThrow("abort");
  });
});

describe("the file", () => {
  async function pages(script: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "windrow-pages-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const head = '<meta charset="utf-8" />\n<title>Windrow</title>\n<link rel="stylesheet" href="viewer.css" />';
    const html = `<!doctype html><html><head>${head}<script type="module" src="viewer.js"></script></head></html>`;
    await writeFile(join(folder, "index.html"), html);
    await writeFile(join(folder, "viewer.js"), script);
    await writeFile(join(folder, "viewer.css"), "a{color:red}");
    return folder;
  }

  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

  it("lets nothing run but its script, by the hash", async () => {
    const { source, id } = await session();
    const data = await encodeSessions(source, [id]);
    const script = 'const a = "</script><!--$&";\r\nrun(a);';
    const html = await fileHtml(data, { title: '</title><img src=x onerror="x">', pages: await pages(script) });
    const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    const [, inline = ""] = /<script type="module">([^]*?)<\/script>/.exec(html) ?? [];
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(html) ?? [];
    expect(inline).toBe('const a = "<\\/script><\\!--$&";\nrun(a);');
    expect(policy).toContain(`script-src ${hash(inline)};`);
    expect(policy).toContain(`style-src ${hash(style)};`);
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toContain("unsafe");
    expect(html).not.toContain("<img");
    expect(html.match(/<script/g)).toHaveLength(2);
  });

  it("holds its data so that no text of a session can end their element", async () => {
    const { source, id } = await session();
    const data = await encodeSessions(source, [id]);
    const html = await fileHtml(data, { title: "A session", pages: await pages("1;") });
    const [, block = ""] =
      /<script type="application\/octet-stream" id="windrow-data">([^]*?)<\/script>/.exec(html) ?? [];
    expect(block).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(await unpackFile(block)).toEqual(JSON.parse(JSON.stringify(data)));
    await expect(unpackFile(`${block.slice(0, 400)}`)).rejects.toMatchObject({ code: "store-corrupt" });
  });
});
