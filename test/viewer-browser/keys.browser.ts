/** The page by its keys alone: calls, epochs, messages, views, search and help, each seen in the address or the document. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { hasBrowser, openChromium, violationsOf, watched } from "./kit/page.ts";
import { servedDemo } from "./kit/lived.ts";
import type { ServedSession } from "./kit/lived.ts";
import type { Watched } from "./kit/page.ts";

describe.skipIf(!hasBrowser)("the keys", () => {
  let browser: Browser;
  let server: ServedSession;
  let opened: Watched;
  let page: Page;
  let id: string;

  beforeAll(async () => {
    browser = await openChromium();
    server = await servedDemo();
    ({ id } = server);
    opened = await watched(browser, server.link(`/s/${id}/call/40`));
    ({ page } = opened);
    await page.waitForSelector("#window-list [role=listitem]");
  });

  afterAll(async () => {
    await opened.close();
    await server.close();
    await browser.close();
  });

  const at = (rest: string): Promise<unknown> => page.waitForURL((url) => url.hash === `#/s/${id}${rest}`);
  const call = (number: number): Promise<unknown> =>
    page.waitForSelector(`#window-list[aria-label="Entries of the window of call ${number}"]`);

  it("go from call to call, and the call is told aloud", async () => {
    await page.keyboard.press("ArrowRight");
    await call(41);
    await at("/call/41");
    await page.keyboard.press("Shift+ArrowLeft");
    await call(31);
    expect(await page.textContent("#call-live")).toContain("call 31 of 87");
    await page.keyboard.press("g");
    await page.waitForSelector("#call-number:focus");
    await page.keyboard.type("40");
    await page.keyboard.press("Enter");
    await call(40);
    await page.keyboard.press("Escape");
  });

  it("go from epoch to epoch", async () => {
    const marks = await page.$$eval(".epoch title", (titles) => titles.map((title) => title.textContent ?? ""));
    const starts = marks.map((title) => Number(/from call (\d+)/.exec(title)?.[1])).filter((start) => start > 0);
    expect(starts.length).toBeGreaterThan(2);
    const [next] = starts.filter((start) => start > 40);
    await page.keyboard.press("]");
    await call(next ?? 0);
    await page.keyboard.press("[");
    await call(starts.findLast((start) => start < (next ?? 0)) ?? 1);
  });

  it("choose messages, and the window scrolls to them", async () => {
    await page.keyboard.press("g");
    await page.waitForSelector("#call-number:focus");
    await page.keyboard.type("40");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await call(40);
    await page.keyboard.press("k");
    const [, seq] = /\/m\/(\d+)$/.exec(await settledHash(page)) ?? [];
    expect(Number(seq)).toBeGreaterThan(1);
    await page.waitForSelector(`#log-${seq}[aria-selected="true"]`);
    await page.waitForSelector("#window-list .is-selected");
    await page.keyboard.press("j");
    await at(`/call/40/m/${Number(seq) + 1}`);
    await page.waitForSelector(`section[aria-label="Message ${Number(seq) + 1} in the log"]`);
    await page.keyboard.press("Escape");
    await at("/call/40");
  });

  it("open every view, and close it again", async () => {
    for (const [key, label, rest] of [
      ["m", "Map of the session", "/map/40"],
      ["d", "Difference of two windows", "/diff/39/40"],
      ["e", "Epochs", "/epochs/40"],
      ["r", "Recalls", "/recalls/40"],
      ["t", "Text of the window", "/call/40/text"],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForSelector(`section[aria-label="${label}"]`);
      await at(rest);
      await page.keyboard.press(key);
      await page.waitForSelector("#window-list");
      expect(await page.$(`section[aria-label="${label}"]`)).toBeNull();
    }
  });

  it("search, and every hit says how it is in the window", async () => {
    await page.keyboard.press("/");
    await page.waitForSelector("#search-words:focus");
    await page.keyboard.type("history");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".hits li .fate");
    const fates = await page.$$eval(".hits li", (items) =>
      items.map((item) => item.querySelector(".fate")?.textContent),
    );
    expect(fates.length).toBeGreaterThan(3);
    expect(fates.every((text) => /whole|cut|quoted|named|gone|later/.test(text ?? ""))).toBe(true);
    await page.click(".hits li a");
    await page.waitForSelector("#log [aria-selected=true]");
    expect(await page.$(".search")).toBeNull();
    await page.keyboard.press("Escape");
  });

  it("leave a search behind where another page is opened", async () => {
    await page.keyboard.press("/");
    await page.waitForSelector("#search-words:focus");
    await page.click("nav[aria-label=Pages] a");
    await page.waitForSelector("table.sessions tbody tr");
    expect(await page.$(".search")).toBeNull();
    await page.goBack();
    await page.waitForSelector("#window-list [role=listitem]");
    expect(await page.$(".search")).toBeNull();
  });

  it("leave the address to a page that is opened while they still move", async () => {
    // A timer that is set after another one fires after it: then the address of the step would have been written.
    const hash = await page.evaluate<string>(`new Promise((done) => {
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
      document.querySelector("nav[aria-label=Pages] a").click();
      setTimeout(() => done(location.hash), 300);
    })`);
    expect(hash).toBe("#/");
    await page.goBack();
    await page.waitForSelector("#window-list [role=listitem]");
  });

  it("move the focus between the panes, open the help and leave it", async () => {
    await page.focus("#log");
    await page.keyboard.press("l");
    await page.waitForSelector("#window-list:focus");
    await page.keyboard.press("l");
    await page.waitForSelector("#log:focus");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    expect(await page.$("dialog")).toBeNull();
  });

  it("reach everything by Tab as well", async () => {
    await page.evaluate("document.activeElement.blur()");
    const reached = new Set<string>();
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press("Tab");
      reached.add(
        await page.evaluate<string>(
          "document.activeElement.id || document.activeElement.textContent.trim() || document.activeElement.getAttribute('aria-label')",
        ),
      );
    }
    for (const name of ["scrub", "call-number", "log", "window-list", "Difference", "Text", "Search"]) {
      expect([...reached]).toContain(name);
    }
  });

  it("do nothing that the page's policy refuses", async () => {
    expect(await violationsOf(opened)).toEqual([]);
  });
});

/** The address once it names a message: it follows when the moving has ended. */
async function settledHash(page: Page): Promise<string> {
  await page.waitForURL((url) => url.hash.includes("/m/"));
  return new URL(page.url()).hash;
}
