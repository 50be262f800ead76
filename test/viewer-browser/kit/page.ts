/** A page in the browser that is watched: what it runs, asks and reports. */
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { serveViewer } from "windrow/viewer";
import type { ViewerServer, ViewerSource } from "windrow/viewer";
import { chromiumFlags, chromiumPath } from "./chromium.ts";

/** Whether there is a browser; without one the tests are left out. */
export const hasBrowser = chromiumPath() !== undefined;

/** A page with all that it must not do. */
export interface Watched {
  readonly page: Page;
  /** Dialogs, scripts that ran out of a text, violations of the policy, and errors that nobody caught. */
  readonly faults: readonly string[];
  /** The addresses that were asked. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** Opens a browser. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath() ?? "", args: [...chromiumFlags] });
}

/** Opens a link in a context of its own. */
export async function watched(browser: Browser, link: string): Promise<Watched> {
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1_400, height: 900 } });
  const faults: string[] = [];
  const requests: string[] = [];
  await context.addInitScript({ path: fileURLToPath(new URL("in-page.js", import.meta.url)) });
  const page = await context.newPage();
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(link);
  return {
    page,
    requests,
    get faults() {
      return faults;
    },
    async close() {
      await context.close();
    },
  };
}

/** The violations of the policy that the page itself saw, and the scripts that ran out of a text. */
export async function violationsOf({ page, faults }: Watched): Promise<readonly string[]> {
  const seen = await page.evaluate<readonly string[]>("windrowTest.violations");
  return [...faults, ...seen];
}

/** Serves a source with the built page. */
export function served(source: ViewerSource, options: { port?: number; token?: string } = {}): Promise<ViewerServer> {
  return serveViewer({ source, pages: "dist/web", ...options });
}

/** The SHA-256 of the window's text at each call, read from the document. Stays in one page: only the address changes. */
export function windowHashes(page: Page, route: string, calls: readonly number[]): Promise<readonly string[]> {
  const given = [route, calls].map((value) => JSON.stringify(value)).join(", ");
  return page.evaluate<readonly string[]>(`windrowTest.hashes(${given})`);
}
