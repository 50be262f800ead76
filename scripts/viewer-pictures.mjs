/**
 * Makes the pictures of the viewer in docs/pictures from the demo session, in a real Chromium (`chromium` on the path, or
 * CHROMIUM). Build first: npm run build.
 *
 *   node scripts/viewer-pictures.mjs [folder]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { root } from "./package-files.mjs";

const [folder = join(root, "docs/pictures")] = process.argv.slice(2);
const { SessionManager, loadCounter } = await import("windrow");
const { readTranscripts } = await import("windrow/transcript");
const { openStore } = await import("windrow/store");
const { encodeReplay, replayFile, serveViewer, storedSource } = await import("windrow/viewer");

const budget = 8_000;
const [demo] = await readTranscripts(join(root, "fixtures/demo-session.jsonl"));
const scratch = mkdtempSync(join(tmpdir(), "windrow-pictures-"));
mkdirSync(folder, { recursive: true });

/** The demo as an agent would have lived it: a window before every answer. */
async function live(store) {
  const manager = await SessionManager.open({ store, budget, strategy: "adaptive", model: "claude-sonnet-4-5" });
  const session = await manager.create({ taskKey: { task: "demo" } });
  let written = 0;
  for (const message of demo.messages) {
    const answers = message.role === "assistant" && written > 0;
    const window = answers ? await session.compose() : undefined;
    await session.append(message);
    written += 1;
    if (!window) continue;
    const cacheRead = window.report.cost.cached;
    const usage = { input: window.tokens, output: 120, cacheRead, cacheWrite: window.tokens - cacheRead };
    await session.endStep({ usage, model: "claude-sonnet-4-5" });
  }
  await session.finish("completed");
  await manager.close();
  return session.id;
}

/** The first call of an epoch that is neither the first nor the last: its window shows a digest. */
async function callWithDigest(source, id) {
  const epochs = await source.epochs(id);
  const { total } = await source.calls(id, 1, 1);
  const middle = epochs[Math.floor(epochs.length / 2)];
  return middle?.firstCall ?? Math.floor(total / 2);
}

const store = join(scratch, "store");
const id = await live(store);
const opened = await openStore(store);
const source = storedSource(opened, {});
const call = await callWithDigest(source, id);
const server = await serveViewer({ source });
const counter = await loadCounter("estimate");
const options = { strategies: ["sliding-window", "adaptive"], budgets: [budget], profile: "anthropic", counter };
const { file } = await encodeReplay(demo, options);
const replay = join(scratch, "replay.html");
writeFileSync(replay, await replayFile([file], "Replay of the demo"));

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function picture(name, address, height = 860) {
  const context = await browser.newContext({ viewport: { width: 1_400, height }, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForTimeout(2_500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
  console.log(`${name}.png`);
}

try {
  await picture("viewer-call", server.link(`/s/${id}/call/${call}`));
  await picture("viewer-map", server.link(`/s/${id}/map`));
  await picture("viewer-diff", server.link(`/s/${id}/diff/${call - 1}/${call}`));
  await picture("viewer-replay", `${pathToFileURL(replay).href}#/replay`, 660);
} finally {
  await browser.close();
  await server.close();
  await opened.close();
  rmSync(scratch, { recursive: true });
}
