/** A replay's single file from `file://`: its map is drawn, leads to a window, and every window is the one of the replay. */
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCounter } from "windrow";
import { replay } from "windrow/transcript";
import type { ReplayOptions } from "windrow/transcript";
import { encodeReplay, replayFile } from "windrow/viewer";
import { newFolder } from "../cli/stage.ts";
import { textHash, transcriptOf } from "../kit/live-session.ts";
import { hasBrowser, openChromium, violationsOf, watched, windowHashes } from "./kit/page.ts";

describe.skipIf(!hasBrowser)("a replay's file", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openChromium()));
  afterAll(() => browser.close());

  it("draws what each window held, and shows any of them", async () => {
    const transcript = await transcriptOf("fixtures/demo-session.jsonl");
    const counter = await loadCounter("estimate");
    const options: ReplayOptions = {
      strategies: ["sliding-window", "adaptive"],
      budgets: [8_000],
      profile: "anthropic",
      counter,
    };
    const hashes: string[] = [];
    await replay(transcript!, {
      ...options,
      onWindow: ({ strategy, composed }) => {
        if (strategy === "adaptive") hashes.push(textHash(composed.messages));
      },
    });
    const { file } = await encodeReplay(transcript!, options);
    const path = join(await newFolder(), "replay.html");
    await writeFile(path, await replayFile([file], "Replay"));
    const watching = await watched(browser, `file://${path}#/replay`);
    const { page } = watching;
    await page.waitForSelector("figure canvas");
    await page.evaluate("windrowTest.settled()");
    expect(await page.locator("figure canvas").count()).toBeGreaterThanOrEqual(2);
    const colours = await page.evaluate<number>("windrowTest.colours('figure:last-of-type canvas')");
    expect(colours).toBeGreaterThan(2);
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate("windrowTest.settled()");
      const findings = await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))");
      expect(findings).toEqual([]);
    }
    const canvas = page.locator("figure canvas").last();
    const box = await canvas.boundingBox();
    await canvas.click({ position: { x: (box?.width ?? 0) * 0.6, y: (box?.height ?? 0) * 0.2 } });
    await page.evaluate("windrowTest.settled()");
    const [, row, call] = /#\/replay\/row\/(\d+)\/call\/(\d+)/.exec(page.url()) ?? [];
    expect([row, Number(call)]).toEqual(["2", expect.any(Number)]);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(new RegExp(`/call/${Number(call) + 1}\\b`));
    const calls = hashes.map((_, index) => index + 1);
    expect(await windowHashes(page, "#/replay/row/2", calls)).toEqual(hashes);
    expect(await violationsOf(watching)).toEqual([]);
    expect(watching.requests.filter((url) => !url.startsWith(`file://${path}`))).toEqual([]);
    await watching.close();
  });
});
