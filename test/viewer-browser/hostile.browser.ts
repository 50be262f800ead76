/** Texts of a session never run, and never leave their place: in the served page, and in the single file. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { openStore } from "windrow/store";
import { storedSource, viewerFile } from "windrow/viewer";
import type { ViewerSource } from "windrow/viewer";
import { newFolder } from "../cli/stage.ts";
import { liveSession } from "../kit/live-session.ts";
import { hasBrowser, openChromium, served, violationsOf, watched, windowHashes } from "./kit/page.ts";
import type { Watched } from "./kit/page.ts";

const run = "windrowTest.ran()";
const script = `</script><script>${run}</script>`;
const image = `<img src=x onerror="${run}"><svg onload="${run}"></svg><a href="javascript:${run}">a</a>`;
const marks = "\u001b[2J\u001b]8;;http://evil.example\u0007 \u202e\u2066 \u0000 \u2028 <!-- ]]> {{x}} ${x} \ud800 end";
const hostile = `${script}${image}'"${marks}`;
const longLine = `${"<b>0123456789</b>".repeat(300_000)}${script}`;

const history: readonly Message[] = [
  { id: "m-1", role: "user", parts: [{ type: "text", text: hostile }] },
  {
    id: `"><script>${run}</script>`,
    role: "assistant",
    model: image,
    parts: [
      { type: "reasoning", text: hostile },
      { type: "tool-call", callId: script, name: image, args: { [script]: hostile, path: `../${image}` } },
    ],
  },
  { id: "m-3", role: "tool", parts: [{ type: "tool-result", callId: script, name: image, content: longLine }] },
  {
    id: "m-4",
    role: "user",
    parts: [
      { type: "image", mediaType: "image/svg+xml", url: "http://evil.example/x.svg" },
      { type: "image", mediaType: `text/html;${image}`, url: `javascript:${run}` },
      { type: "image", mediaType: "image/svg+xml", data: Buffer.from(`<svg onload="${run}"/>`).toString("base64") },
      { type: "file", mediaType: "text/html", name: image, data: Buffer.from(script).toString("base64") },
      { type: "opaque", kind: image, data: { html: script } },
    ],
  },
  {
    id: "m-5",
    role: "assistant",
    parts: [{ type: "text", text: "[a](javascript:alert(1)) ![x](http://evil.example/y)" }],
  },
  { id: "m-6", role: "user", parts: [{ type: "text", text: "go on" }] },
  { id: "m-7", role: "assistant", parts: [{ type: "text", text: "done" }] },
];

/** Walks through every view of a session. */
async function walk({ page }: Watched, route: string): Promise<void> {
  for (const key of ["m", "d", "e", "r", "i", "w", "?", "Escape", "t", "w", "j", "j", "j", "j"]) {
    await page.keyboard.press(key);
    await page.evaluate("windrowTest.settled()");
  }
  for (const place of [
    "/call/3/m/1",
    "/call/3/m/2",
    "/call/3/m/3",
    "/call/3/m/4",
    "/diff/1/3",
    "/map",
    "/epochs",
    "/recalls",
  ]) {
    await page.evaluate(`location.hash = ${JSON.stringify(`${route}${place}`)}`);
    await page.evaluate("windrowTest.settled()");
  }
  await page.evaluate('location.hash = "#/"');
  await page.evaluate("windrowTest.settled()");
}

describe.skipIf(!hasBrowser)("a hostile session", () => {
  let browser: Browser;
  let source: ViewerSource;
  let id: string;
  let windows: readonly string[];
  let end: () => Promise<void>;

  beforeAll(async () => {
    browser = await openChromium();
    const folder = await mkdtemp(join(tmpdir(), "windrow-hostile-"));
    ({ id, windows } = await liveSession(
      folder,
      history,
      { strategy: "none", budget: 50_000_000 },
      { task: hostile, [image]: script },
    ));
    const store = await openStore(folder);
    source = storedSource(store, {});
    end = async () => {
      await store.close();
      await rm(folder, { recursive: true });
    };
  });
  afterAll(async () => {
    await browser.close();
    await end();
  });

  it("is shown as text by the served page, which runs nothing and asks nobody else", async () => {
    const server = await served(source);
    const page = await watched(browser, server.link(`/s/${id}`));
    expect(await windowHashes(page.page, `#/s/${id}`, [1, 2, 3])).toEqual(windows);
    await walk(page, `#/s/${id}`);
    expect(await page.page.locator("script").count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    expect(page.requests.filter((url) => !url.startsWith(`${server.url}/`) && !url.startsWith("blob:"))).toEqual([]);
    await page.close();
    await server.close();
  });

  it("is shown as text by a single file, under a policy of hashes", async () => {
    const path = join(await newFolder(), `${createHash("sha256").update(id).digest("hex").slice(0, 8)}.html`);
    await writeFile(path, await viewerFile(source, [id], { title: hostile }));
    const page = await watched(browser, `file://${path}#/s/${id}`);
    expect(await windowHashes(page.page, `#/s/${id}`, [1, 2, 3])).toEqual(windows);
    await walk(page, `#/s/${id}`);
    expect(await page.page.title()).not.toContain("\u0000");
    expect(await violationsOf(page)).toEqual([]);
    expect(page.requests.filter((url) => !url.startsWith(`file://${path}`))).toEqual([]);
    await page.close();
  });

  it("would be caught by these tests if it ran", async () => {
    const page = await watched(
      browser,
      `data:text/html,<meta http-equiv="Content-Security-Policy" content="img-src 'none'"><body><img src=http://evil.example/x onerror="${run}"></body>`,
    );
    await page.page.evaluate("windrowTest.violated()");
    expect((await violationsOf(page)).length).toBeGreaterThan(0);
    await page.close();
  });
});
