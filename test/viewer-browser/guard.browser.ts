/** Who may ask the served page's server, tried with bytes on sockets and from pages of other origins. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WindrowError } from "windrow";
import { openStore } from "windrow/store";
import { storedSource, viewerHandler } from "windrow/viewer";
import type { ViewerServer, ViewerSource } from "windrow/viewer";
import { answerWith, serveHttp } from "../kit/inside/http.ts";
import { newFolder } from "../cli/stage.ts";
import { liveSession } from "../kit/live-session.ts";
import { hasBrowser, openChromium, served, watched } from "./kit/page.ts";

describe.skipIf(!hasBrowser)("the server of a page", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openChromium()));
  afterAll(() => browser.close());

  async function server(): Promise<ViewerServer & { readonly id: string }> {
    const folder = await newFolder();
    const { id } = await liveSession(folder, [
      { id: "m", role: "user", parts: [{ type: "text", text: "secret plans" }] },
    ]);
    const store = await openStore(folder);
    const made = await served(storedSource(store, {}));
    onTestFinished(async () => {
      await made.close();
      await store.close();
    });
    return { ...made, id };
  }

  it("tells no fate of a message where the window cannot be had", async () => {
    const folder = await newFolder();
    const { id } = await liveSession(
      folder,
      [
        { id: "m", role: "user", parts: [{ type: "text", text: "a question" }] },
        { id: "n", role: "assistant", parts: [{ type: "text", text: "an answer" }] },
      ],
      { budget: 4_000 },
    );
    const store = await openStore(folder);
    const stored = storedSource(store, {});
    const fates = async (source: ViewerSource): Promise<readonly number[]> => {
      const made = await served(source);
      const shown = await watched(browser, made.link(`/s/${id}/call/1`));
      const { page } = shown;
      await page.getByText("a question").first().waitFor();
      await page.evaluate("windrowTest.settled()");
      const found = [await page.locator(".log .row .fate-whole").count(), await page.locator(".log .tally").count()];
      await shown.close();
      await made.close();
      return found;
    };
    expect(await fates(stored)).toEqual([1, 1]);
    const gone = new WindrowError("session-not-found", "It is gone.");
    expect(await fates({ ...stored, window: () => Promise.reject(gone) })).toEqual([0, 0]);
    await store.close();
  });

  it("gives a page of another origin nothing, even with the token", async () => {
    const made = await server();
    const other = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>other</p>"));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const page = await watched(browser, `http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const tries = `Promise.all([
      fetch("${made.url}/api/sessions", { headers: { authorization: "Bearer ${made.token}" } }),
      fetch("${made.url}/api/sessions"),
      fetch("${made.url}/viewer.js"),
    ].map((asked) => asked.then((answer) => answer.text(), () => "blocked")))`;
    expect(await page.page.evaluate<readonly string[]>(tries)).toEqual(["blocked", "blocked", "blocked"]);
    const framed = `new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.onload = () => { try { resolve(frame.contentDocument === null ? "apart" : "open"); } catch { resolve("apart"); } };
      frame.src = "${made.url}/";
      document.body.append(frame);
    })`;
    expect(await page.page.evaluate<string>(framed)).toBe("apart");
    expect(await page.page.frames()[1]?.evaluate("document.querySelector('#app')?.childElementCount ?? 0")).toBe(0);
    await page.close();
  });

  it("is mounted below a path of another server by its handler", async () => {
    const folder = await newFolder();
    const { id } = await liveSession(folder, [{ id: "m", role: "user", parts: [{ type: "text", text: "a task" }] }]);
    const store = await openStore(folder);
    const token = "a-token-of-enough-characters";
    const handle = viewerHandler({ source: storedSource(store, {}), token, base: "/tools/windrow", pages: "dist/web" });
    const host = await serveHttp({ port: 0, methods: ["GET"], handle: (call) => answerWith(handle, call) });
    onTestFinished(async () => {
      await host.close();
      await store.close();
    });
    const page = await watched(browser, `${host.url}/tools/windrow/#token=${token}&to=/s/${id}`);
    await page.page.waitForSelector("#log-1");
    expect(page.requests.every((url) => url.startsWith(`${host.url}/tools/windrow/`))).toBe(true);
    await page.close();
  });

  it("takes the token out of the address, and keeps it for the tab alone", async () => {
    const made = await server();
    const page = await watched(browser, made.link(`/s/${made.id}`));
    await page.page.waitForSelector("#log-1");
    expect(page.page.url()).not.toContain(made.token);
    expect(await page.page.evaluate<string>("JSON.stringify(localStorage) + document.cookie")).not.toContain(
      made.token,
    );
    await page.page.reload();
    await page.page.waitForSelector("#log-1");
    expect(page.requests.some((url) => url.includes(made.token))).toBe(false);
    await page.close();
  });

  it("copies a link that opens the same place elsewhere", async () => {
    const made = await server();
    const page = await watched(browser, made.link(`/s/${made.id}`));
    await page.page.waitForSelector("#log-1");
    await page.page.evaluate(
      "void (navigator.clipboard.writeText = (text) => Promise.resolve((globalThis.copied = text)))",
    );
    await page.page.getByRole("button", { name: "copy link" }).click();
    const link = await page.page.evaluate<string>("globalThis.copied");
    const place = new URL(page.page.url()).hash;
    const other = await watched(browser, link);
    await other.page.waitForSelector("#log-1");
    expect(new URL(other.page.url()).hash).toBe(place);
    await other.close();
    await page.close();
  });
});
