/** The text of the window in the document is the text of the window that was sent, for every call. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ManagerOptions } from "windrow";
import { openStore } from "windrow/store";
import { storedSource, viewerFile } from "windrow/viewer";
import type { Transcript } from "../kit/inside/transcript.ts";
import { newFolder } from "../cli/stage.ts";
import { liveSession, transcriptOf } from "../kit/live-session.ts";
import { hasBrowser, openChromium, served, violationsOf, watched, windowHashes } from "./kit/page.ts";

const data = "../shared/data/open";
const megabyte = 1_000_000;

/** Sessions with the settings that they are lived under, so that each has epochs. */
const sessions: readonly {
  readonly name: string;
  readonly file: string;
  readonly wanted?: (transcript: Transcript) => boolean;
  readonly options: Omit<ManagerOptions, "store">;
  /** The most bytes of its single file. */
  readonly most: number;
}[] = [
  {
    name: "the demo",
    file: "fixtures/demo-session.jsonl",
    options: { strategy: "adaptive", budget: 8_000 },
    most: megabyte,
  },
  {
    name: "pi, 439 calls",
    file: `${data}/pi-sessions/large-session.raw.jsonl.gz`,
    options: { strategy: "adaptive", budget: 32_000, profile: "pi" },
    most: 1.5 * megabyte,
  },
  {
    name: "Claude Code",
    file: `${data}/claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl`,
    options: { strategy: "layered", budget: 9_000, profile: "anthropic" },
    most: megabyte,
  },
  {
    name: "OpenHands",
    file: `${data}/openhands/trajectories.jsonl.gz`,
    wanted: ({ messages }) => messages.filter(({ role }) => role === "assistant").length > 20,
    options: { strategy: "adaptive", budget: 6_000 },
    most: megabyte,
  },
];

describe.skipIf(!hasBrowser)("every window", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openChromium()));
  afterAll(() => browser.close());

  it.for(sessions)("of $name is in the document as it was sent, served and in one file", async (made, { skip }) => {
    const transcript = await transcriptOf(made.file, made.wanted);
    if (!transcript) return skip(`${made.file} is not there`);
    const folder = await newFolder();
    const { id, windows } = await liveSession(folder, transcript.messages, made.options);
    const store = await openStore(folder);
    const calls = windows.map((_, index) => index + 1);
    const source = storedSource(store, {});
    const server = await served(source);
    const page = await watched(browser, server.link(`/s/${id}`));
    expect(await windowHashes(page.page, `#/s/${id}`, calls)).toEqual(windows);
    expect(await violationsOf(page)).toEqual([]);
    expect(page.requests.filter((url) => !url.startsWith(`${server.url}/`))).toEqual([]);
    await page.close();
    await server.close();

    const path = join(await newFolder(), "session.html");
    const html = await viewerFile(source, [id]);
    console.info(`${made.name}: ${calls.length} calls, ${Buffer.byteLength(html)} bytes as one file`);
    expect(Buffer.byteLength(html)).toBeLessThan(made.most);
    await writeFile(path, html);
    const file = await watched(browser, `file://${path}#/s/${id}`);
    expect(await windowHashes(file.page, `#/s/${id}`, calls)).toEqual(windows);
    expect(await violationsOf(file)).toEqual([]);
    expect(file.requests.filter((url) => !url.startsWith(`file://${path}`))).toEqual([]);
    await file.close();
    await store.close();
  });
});
