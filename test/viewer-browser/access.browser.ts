/** The page for readers of screens and for both themes: no finding of axe in any view. */
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { hasBrowser, openChromium, watched } from "./kit/page.ts";
import { servedDemo } from "./kit/lived.ts";
import type { ServedSession } from "./kit/lived.ts";

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** Views, each with what stands in it when it is drawn. */
const views = [
  ["/", "table.sessions tbody tr"],
  ["/s/ID/call/40/m/20", "#window-list [role=listitem]"],
  ["/s/ID/map/40", ".raster canvas"],
  ["/s/ID/diff/20/40", ".text-diff"],
  ["/s/ID/epochs/40", ".table tbody tr"],
  ["/s/ID/recalls/40", '[aria-label="Table of recalls"]'],
  ["/s/ID/call/40/text", '#window-text[data-call="40"]'],
] as const;

describe.skipIf(!hasBrowser)("axe finds nothing", () => {
  let browser: Browser;
  let server: ServedSession;
  let axe: string;
  let id: string;

  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    browser = await openChromium();
    server = await servedDemo();
    ({ id } = server);
  });

  afterAll(async () => {
    await server.close();
    await browser.close();
  });

  it.for(views.flatMap(([route, drawn]) => (["light", "dark"] as const).map((theme) => ({ route, drawn, theme }))))(
    "in $route, $theme",
    async ({ route, drawn, theme }) => {
      const opened = await watched(browser, server.link(route.replace("ID", id)));
      const { page } = opened;
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForSelector(drawn);
      await page.evaluate(axe);
      const findings = await page.evaluate<readonly Finding[]>("axe.run().then(({ violations }) => violations)");
      expect(
        findings.map(({ id: rule, impact, nodes }) => `${impact} ${rule}: ${nodes[0]?.html.slice(0, 200)}`),
      ).toEqual([]);
      await opened.close();
    },
  );
});
