/** A page follows a session that another process writes, and goes on when its server was started again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { newFolder } from "../cli/stage.ts";
import { hasBrowser, openChromium, served, violationsOf, watched } from "./kit/page.ts";

const perSecond = 50;
const count = 400;

/** Starts the writer; its lines one by one. */
async function writer(store: string): Promise<{ id: string; line: () => Promise<string> }> {
  const build = pathToFileURL(resolve("dist/index.js")).href;
  const argv = ["test/viewer-browser/kit/append.js", build, store, String(count), String(perSecond)];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  return { id: await line(), line };
}

describe.skipIf(!hasBrowser)("a live session", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openChromium()));
  afterAll(() => browser.close());

  it("is followed without a dropped message, over a restart of the server", async () => {
    const folder = await newFolder();
    const { id, line } = await writer(folder);
    const store = await openStore(folder);
    const first = await served(storedSource(store, {}));
    const page = await watched(browser, first.link(`/s/${id}`));
    await page.page.evaluate("windrowTest.reach(60)");
    // The server ends, and another one begins at the same address with the same token.
    await first.close();
    const port = Number(new URL(first.url).port);
    const second = await served(storedSource(store, {}), { port, token: first.token });
    expect(await line()).toBe("done");
    await page.page.evaluate(`windrowTest.reach(${count})`);
    const heads = await page.page.evaluate<readonly string[]>(`windrowTest.logRows(${count})`);
    expect(heads).toEqual(Array.from({ length: count }, (_, index) => `message ${index + 1}`));
    expect((await violationsOf(page)).filter((fault) => !fault.includes("ERR_CONNECTION"))).toEqual([]);
    await page.close();
    await second.close();
    await store.close();
  });

  it("has the window of a call that was chosen while its server was gone", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder, budget: 4_000 });
    const session = await manager.create();
    for (const text of ["one", "two"]) {
      await session.append(text);
      await session.compose();
      await session.endStep();
    }
    await manager.close();
    const store = await openStore(folder);
    const first = await served(storedSource(store, {}));
    const opened = await watched(browser, first.link(`/s/${session.id}`));
    const { page } = opened;
    await page.waitForSelector("#window-list[aria-label$=' call 2']");
    await first.close();
    await page.keyboard.press("ArrowLeft");
    await page.waitForSelector("section[aria-label=Window] .fault");
    const port = Number(new URL(first.url).port);
    const second = await served(storedSource(store, {}), { port, token: first.token });
    await page.waitForSelector("#window-list[aria-label$=' call 1']");
    expect(await page.$("section[aria-label=Window] .fault")).toBeNull();
    await opened.close();
    await second.close();
    await store.close();
  });
});
