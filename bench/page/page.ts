/**
 * The viewer in a real browser, over the server of the built command: a session of 10,000 messages (40 MB), one of
 * 100,000, a store of 100,000 sessions, and beside it claude-run on the same 10,000 messages in Claude Code's format.
 *
 *   npm run bench:viewer
 *   VIEWER_SIZES=10000:8000,100000:800 VIEWER_FLEET=100000 VIEWER_BESIDE=no (an empty VIEWER_SIZES: the fleet alone)
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { openStore } from "../../src/access/open.ts";
import { storedSource } from "../../src/viewer/stored-source.ts";
import { chromiumFlags, chromiumPath } from "../../test/viewer-browser/kit/chromium.ts";
import { goalRow, median } from "../bench.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { loadNote } from "../kit.ts";
import { claudeFolder, fillStore, fleetStore, serving } from "./kit.ts";
import type { Memory, Serving } from "./kit.ts";

const inPage = "test/viewer-browser/kit/in-page.js";
const command = "dist/cli.js";
/** Calls that are scrubbed through. */
const scrubbed = 60;

const sizes = (process.env["VIEWER_SIZES"] ?? "10000:8000,100000:800")
  .split(",")
  .filter((one) => one !== "")
  .map((one) => one.split(":").map(Number));

/** A row a size and a program. */
export async function benchPage(): Promise<BenchReport> {
  const path = chromiumPath();
  if (path === undefined || !existsSync(command) || !existsSync("dist/web/viewer.js")) {
    return { name: "page", rows: [], note: "Left out: a Chromium and `npm run build` are needed." };
  }
  const browser = await chromium.launch({ executablePath: path, args: [...chromiumFlags, "--js-flags=--expose-gc"] });
  const folder = await mkdtemp(join(tmpdir(), "windrow-bench-page-"));
  const rows: BenchRow[] = [];
  try {
    rows.push(await floorRow(browser));
    for (const [messages = 0, characters = 0] of sizes) {
      rows.push(...(await benchSession(browser, join(folder, `${messages}`), messages, characters)));
    }
    rows.push(...(await benchFleet(browser, join(folder, "fleet"), Number(process.env["VIEWER_FLEET"] ?? 100_000))));
    const [[messages = 0, characters = 0] = []] = sizes;
    if (process.env["VIEWER_BESIDE"] !== "no") {
      rows.push(...(await benchClaudeRun(browser, join(folder, "claude"), messages, characters)));
    }
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { name: "page", rows, note: `In Chromium, over the built command. ${loadNote()}` };
}

/**
 * The floor: a page of one row from a bare server, in a browser that has shown one before. Its first page waits for the
 * browser's own processes, which a user's browser has.
 */
async function floorRow(browser: Browser): Promise<BenchRow> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<table class=sessions><tbody><tr><td>one</table>");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const times: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const page = await newPage(browser);
    times.push(
      await timed(async () => {
        await page.goto(`http://127.0.0.1:${port}/`);
        await page.waitForSelector("table.sessions tbody tr");
      }),
    );
    await page.close();
  }
  server.close();
  return row("a bare page", { first: median(times.slice(1)), coldest: times[0] ?? 0 });
}

async function benchSession(
  browser: Browser,
  store: string,
  messages: number,
  characters: number,
): Promise<readonly BenchRow[]> {
  const { id } = await fillStore(store, messages, characters);
  const opened = await openStore(store);
  const { calls } = await storedSource(opened, {}).calls(id, 1, 100_000);
  await opened.close();
  const server = await serving([command, "serve", id, "--store", store, "--no-open"], /(http:\S+)\n/);
  const bare = await server.memory();
  const page = await newPage(browser);
  const first = await timed(async () => {
    await page.goto(server.url);
    await page.waitForSelector("#log [role=option] .role:not(.role-none)");
  });
  const window = await timed(() => page.waitForSelector("#window-list > *"));
  const asked = calls.slice(-scrubbed - 1).map(({ call }) => call);
  const times = await page.evaluate<readonly number[]>(`windrowTest.scrub("#/s/${id}", ${JSON.stringify(asked)})`);
  const nodes = await page.evaluate<number>("windrowTest.itemsDrawn()");
  const all = await page.evaluate<number>("document.querySelectorAll('*').length");
  const last = await timed(() => page.evaluate(`windrowTest.last(${messages})`));
  const heap = await heapOf(page);
  const after = await server.memory();
  await page.close();
  await server.end();
  const limit = messages > 10_000 ? 2_000 : 1_000;
  const scrub = median(times.slice(1));
  return [
    row(`windrow, ${messages} messages`, {
      "all nodes": all,
      first,
      window,
      scrub,
      "slowest": Math.max(...times.slice(1)),
      nodes,
      last,
      heap,
      ...memoryOf(bare, after),
    }),
    goalRow(`${messages}: first rows, ms`, first, { atMost: limit }),
    goalRow(`${messages}: rows drawn`, nodes, { atMost: 200 }),
    goalRow(`${messages}: call to call, median ms`, scrub, { atMost: 100 }),
    goalRow(`${messages}: heap of the page, MB`, heap, { atMost: 150 }),
  ];
}

async function benchFleet(browser: Browser, store: string, count: number): Promise<readonly BenchRow[]> {
  if (count === 0) return [];
  await fleetStore(store, count);
  // The kernel still writes a hundred thousand new folders; a store that stands does not.
  spawnSync("sync");
  const rounds: Awaited<ReturnType<typeof fleetRound>>[] = [];
  for (let round = 0; round < 5; round += 1) rounds.push(await fleetRound(browser, store));
  const middle = (figure: (one: (typeof rounds)[number]) => number): number => median(rounds.map(figure));
  const first = middle((one) => one.first);
  return [
    row(`windrow, ${count} sessions`, {
      first,
      slowest: Math.max(...rounds.map((one) => one.first)),
      again: middle((one) => one.again),
      heap: middle((one) => one.heap),
      held: middle((one) => one.held),
      resident: middle((one) => one.resident),
    }),
    goalRow(`${count} sessions: first rows, median ms of 5 fresh servers`, first, { atMost: 1_000 }),
  ];
}

/** A server that has listed nothing yet, and a page that asks it. */
async function fleetRound(
  browser: Browser,
  store: string,
): Promise<{ readonly first: number; readonly again: number; readonly heap: number } & ReturnType<typeof memoryOf>> {
  const server = await serving([command, "serve", "--store", store, "--no-open"], /(http:\S+)\n/);
  const bare = await server.memory();
  const page = await newPage(browser);
  const first = await timed(async () => {
    await page.goto(server.url);
    await page.waitForSelector("table.sessions tbody tr");
  });
  const again = await timed(async () => {
    await page.reload();
    await page.waitForSelector("table.sessions tbody tr");
  });
  const heap = await heapOf(page);
  const after = await server.memory();
  await page.close();
  await server.end();
  return { first, again, heap, ...memoryOf(bare, after) };
}

/** claude-run from npm, installed for this alone; left out with a word where it cannot be had. */
async function benchClaudeRun(
  browser: Browser,
  folder: string,
  messages: number,
  characters: number,
): Promise<readonly BenchRow[]> {
  const id = claudeFolder(join(folder, "home"), messages, characters);
  const flags = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "claude-run@0.3.0"];
  const { status } = spawnSync("npm", flags, { stdio: "ignore", timeout: 180_000 });
  const program = join(folder, "node_modules/claude-run/dist/index.js");
  if (status !== 0 || !existsSync(program)) return [row("claude-run: could not be installed", {})];
  const argv = [program, "--no-open", "--port", "12741", "--dir", join(folder, "home")];
  let server: Serving;
  try {
    server = await serving(argv, /(http:\/\/\S+:\d+)/);
  } catch (error) {
    return [row(`claude-run: ${error instanceof Error ? error.message.slice(0, 80) : "did not start"}`, {})];
  }
  const bare = await server.memory();
  const page = await newPage(browser);
  try {
    await page.goto("http://127.0.0.1:12741/");
    await page.getByText("Mend module 0.").first().waitFor({ timeout: 60_000 });
    await page.getByText("Mend module 0.").first().click();
    const first = await timed(() => page.waitForSelector("main .overflow-y-auto button", { timeout: 120_000 }));
    // It draws every message; what is there after a minute is told.
    const rows = "document.querySelectorAll('main .flex.flex-col.gap-2 > div').length";
    const last = await timed(async () => {
      const until = performance.now() + 60_000;
      while ((await page.evaluate<number>(rows)) < 0.9 * messages && performance.now() < until)
        await page.waitForTimeout(100);
    });
    const nodes = await page.evaluate<number>(rows);
    const heap = await heapOf(page);
    const all = await page.evaluate<number>("document.querySelectorAll('*').length");
    const after = await server.memory();
    return [
      row(`claude-run, ${messages} messages (${id.slice(0, 4)})`, {
        first,
        nodes,
        last,
        "all nodes": all,
        heap,
        ...memoryOf(bare, after),
      }),
    ];
  } finally {
    await page.close();
    await server.end();
  }
}

/** A row; told at once too, as the whole takes minutes. */
function row(name: string, figures: Readonly<Record<string, number>>): BenchRow {
  const words: Readonly<Record<string, string>> = {
    first: "first rows ms",
    coldest: "the browser's first ms",
    window: "window ms",
    scrub: "call to call ms",
    slowest: "slowest ms",
    nodes: "rows drawn",
    last: "last row ms",
    heap: "heap MB",
    held: "server heap MB",
    resident: "server MB",
    again: "again ms",
  };
  console.error(name, JSON.stringify(figures));
  return {
    subject: name,
    ...Object.fromEntries(Object.entries(figures).map(([key, value]) => [words[key] ?? key, Math.round(value)])),
  };
}

/** The memory that a server has more than before it was asked, and its whole. */
function memoryOf(bare: Memory, after: Memory): { readonly held: number; readonly resident: number } {
  return { held: after.heap - bare.heap, resident: after.resident };
}

async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_400, height: 900 } });
  await context.addInitScript({ path: inPage });
  return context.newPage();
}

/** The heap in use after a collection, in MB. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { readonly usedSize: number };
  return Math.round(usedSize / 1_048_576);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return Math.round(performance.now() - begun);
}
