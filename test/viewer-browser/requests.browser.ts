/** The requests of a gateway's lines in a page: found from the list, by keys, live, and without a finding of axe. */
import { createRequire } from "node:module";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { storedSource, viewerFile } from "windrow/viewer";
import { newFolder } from "../cli/stage.ts";
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
    // What a request used, and its answer, may come later than its record.
    await line.records.append("request", requestOf());
    await page.waitForSelector(".requests tbody tr:nth-child(6)");
    await line.endStep({ usage: { input: 700, output: 3 }, model: "claude-sonnet-4-5" });
    await line.append({ role: "assistant", parts: [{ type: "text", text: "Done." }] });
    await page.waitForSelector(".requests tbody tr:nth-child(1) button:has-text('call 4')");
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

  it("keep their cache in sight beside a long error, whose whole text is told", async () => {
    const { folder, main } = await gatewayStore();
    const manager = await SessionManager.open({ store: folder });
    const message = `messages.3.content.0: Invalid signature in thinking block; ${"it was made for other text ".repeat(12)}`;
    const line = await manager.resume(main);
    await line.records.append("request", requestOf({ status: 400, error: { type: "invalid_request_error", message } }));
    await manager.close();
    const store = await openStore(folder);
    const server = await served(storedSource(store, {}));
    const opened = await watched(browser, server.link(`/s/${main}/requests`));
    const { page } = opened;
    await page.setViewportSize({ width: 1_500, height: 900 });
    const went = await page.waitForSelector(".requests tbody tr:nth-child(1) .went");
    expect(await went.getAttribute("title")).toContain(message.trim());
    const cached = await page.waitForSelector(".requests thead th:has-text('first differs')");
    const box = await cached.boundingBox();
    expect((box?.x ?? 9_999) + 60).toBeLessThan(1_500);
    expect(await violationsOf(opened)).toEqual([]);
    await opened.close();
    await server.close();
    await store.close();
  });

  it("run nothing of what they hold, and stand in a single file", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder });
    const evil =
      '"><img src=x onerror="alert(1)"><script>alert(2)</script></script>\u202e\u001b[31m\ud800 javascript:alert(3)';
    const names = { gateway: 1, client: evil, line: evil, session: evil, agent: evil };
    const hostile = await manager.create({
      taskKey: { ...names, parent: { uuid: evil, reason: evil } },
      config: { model: evil, strategy: "none" },
    });
    await hostile.append({ role: "user", parts: [{ type: "text", text: evil }] });
    const texts = { kind: evil, note: evil, bypassed: evil, fixed: evil, stop: evil, time: evil, model: evil };
    await hostile.records.append(
      "request",
      requestOf({ ...texts, error: { type: evil, message: evil }, mends: [evil] }),
    );
    await hostile.endStep({ usage: { input: 1, output: 1 }, model: evil });
    await manager.close();
    const store = await openStore(folder);
    const source = storedSource(store, {});
    const server = await served(source);
    const file = join(folder, "one.html");
    await writeFile(file, await viewerFile(source, [hostile.id], { pages: "dist/web" }));
    const route = `/s/${hostile.id}/requests`;
    for (const link of [server.link("/"), server.link(route), `${pathToFileURL(file).href}#${route}`]) {
      const opened = await watched(browser, link);
      await opened.page.waitForSelector(link === server.link("/") ? ".sessions tbody tr" : ".requests tbody tr");
      expect(await opened.page.textContent("main")).not.toMatch(/[\u202e\u001b]/);
      expect(await opened.page.textContent("main")).toContain("onerror");
      expect(await violationsOf(opened)).toEqual([]);
      await opened.close();
    }
    await server.close();
    await store.close();
  });
});
