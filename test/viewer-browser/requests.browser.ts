/** The requests of a gateway's lines in a page: found from the list, by keys, live, and without a finding of axe. */
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../src/access/open.ts";
import { SessionManager } from "../../src/index.ts";
import { storedSource } from "../../src/viewer/stored-source.ts";
import { gatewayStore, requestOf } from "../viewer/gateway-store.ts";
import { hasBrowser, openChromium, served, violationsOf, watched } from "./kit/page.ts";

describe.skipIf(!hasBrowser)("requests of a gateway", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openChromium()));
  afterAll(() => browser.close());

  it("are found, read, and followed", async () => {
    const { folder, main, agent } = await gatewayStore();
    const store = await openStore(folder);
    const server = await served(storedSource(store, {}));
    const opened = await watched(browser, server.link("/"));
    const { page } = opened;
    await page.click(`.sessions a[href="#/s/${agent}/requests"]`);
    await page.waitForSelector(".requests tbody tr");
    await page.click(`section[aria-label=Requests] a[href="#/s/${main}/requests"]`);
    await page.waitForSelector(".requests tbody tr:nth-child(4)");
    expect(await page.textContent(".requests tbody tr:nth-child(3)")).toContain("529 · overloaded_error: Overloaded");
    const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    await page.evaluate(axe);
    expect(await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")).toEqual([]);
    const manager = await SessionManager.open({ store: folder });
    const line = await manager.resume(main);
    await line.records.append("request", requestOf({ status: 401 }));
    await page.waitForSelector(".requests tbody tr:nth-child(5)");
    await manager.close();
    await page.click(".requests button:has-text('call 3')");
    await page.waitForSelector("#window-list[aria-label$=' call 3']");
    await page.keyboard.press("q");
    await page.waitForSelector(".requests tbody tr");
    expect(await violationsOf(opened)).toEqual([]);
    await opened.close();
    await server.close();
    await store.close();
  });
});
