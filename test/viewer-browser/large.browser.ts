/** A session of 100,000 messages and 10,000 calls: a few rows are drawn at a time, and the last is reached. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import type { ViewerServer } from "windrow/viewer";
import { hasBrowser, openChromium, served, violationsOf, watched } from "./kit/page.ts";
import type { Watched } from "./kit/page.ts";
import { largeSource } from "./kit/large-source.ts";

const messages = 100_000;
const calls = 10_000;
const mostRows = 200;

describe.skipIf(!hasBrowser)("a large session", () => {
  let browser: Browser;
  let server: ViewerServer;
  let opened: Watched;

  beforeAll(async () => {
    browser = await openChromium();
    server = await served(largeSource(messages, calls));
    opened = await watched(browser, server.link("/s/large/call/5000"));
    await opened.page.waitForSelector("#window-list [role=listitem]");
  });

  afterAll(async () => {
    await opened.close();
    await server.close();
    await browser.close();
  });

  const rows = (): Promise<number> => opened.page.$$eval("[role=option], [role=listitem]", (found) => found.length);

  it("draws few rows, wherever it is scrolled, and reaches the last message", async () => {
    const { page } = opened;
    expect(await rows()).toBeLessThanOrEqual(mostRows);
    for (const share of [0.3, 0.7, 1]) {
      await page.evaluate(
        `document.querySelector("#log").scrollTop = ${share} * document.querySelector("#log").scrollHeight`,
      );
      await page.waitForSelector(`#log-${Math.min(messages, Math.round(share * messages) + 5)}`);
      expect(await rows()).toBeLessThanOrEqual(mostRows);
    }
    await page.waitForSelector(`#log-${messages}`);
  });

  it("draws ten thousand calls as one chart, and the slider reaches each", async () => {
    const { page } = opened;
    expect(await page.$$eval(".chart svg *", (found) => found.length)).toBeLessThan(2_000);
    for (const call of [1, 7_919, calls]) {
      await page.fill("#scrub", String(call));
      await page.waitForSelector(`#window-list[aria-label="Entries of the window of call ${call}"]`);
      expect(await rows()).toBeLessThanOrEqual(mostRows);
    }
  });

  it("stays where it was scrolled to when the window of the call comes, and goes with the next call", async () => {
    const source = largeSource(messages, calls);
    let release = (): void => undefined;
    const late = new Promise<void>((resolve) => (release = resolve));
    const slow = await served({
      ...source,
      window: async (id, call, options) => (await late, source.window(id, call, options)),
    });
    const own = await watched(browser, slow.link("/s/large/call/5000"));
    await own.page.waitForSelector("#log-1");
    await own.page.evaluate(`windrowTest.last(${messages})`);
    release();
    await own.page.waitForSelector("#window-list [role=listitem]");
    await own.page.evaluate("windrowTest.settled()");
    expect(await own.page.locator(`#log-${messages}`).count()).toBe(1);
    await own.page.fill("#scrub", "4000");
    await own.page.waitForSelector(`#log-${(4_000 * messages) / calls}`);
    await own.page.fill("#scrub", "5000");
    await own.page.waitForSelector(`#log-${(5_000 * messages) / calls}`);
    await own.close();
    await slow.close();
  });

  it("runs under the page's policy", async () => {
    expect(await violationsOf(opened)).toEqual([]);
  });
});
