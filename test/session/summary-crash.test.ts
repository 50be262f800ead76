/** A process dies between the request for a summary and its commit: nothing is lost, nothing half done, nothing charged twice. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scripted } from "../../src/model/scripted.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import { openStore } from "../../src/access/open.ts";
import { buildSource } from "../support/build.ts";

let built: Awaited<ReturnType<typeof buildSource>>;
let store: string;

beforeAll(async () => {
  built = await buildSource();
  store = await mkdtemp(join(tmpdir(), "windrow-summary-"));
}, 120_000);

afterAll(async () => {
  await built.remove();
  await rm(store, { recursive: true });
});

async function count(id: string, kind: "summary" | "usage" | "message"): Promise<number> {
  const reader = await openStore(store);
  let found = 0;
  for await (const record of reader.read({}, id, { kind })) {
    if (record.kind !== "usage" || record.purpose === "summary") found++;
  }
  await reader.close();
  return found;
}

it("is as if the summary had never been asked for", { timeout: 60_000 }, async () => {
  const id = randomUUID();
  const script = resolve("test/session/child/summarising.mjs");
  const child = spawn(process.execPath, [script, built.folder, store, id], { stdio: ["ignore", "pipe", "inherit"] });
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = (JSON.parse(line) as { readonly messages: number }).messages;
    break;
  }
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await ended;
  expect(acknowledged).toBeGreaterThan(5);
  expect(await count(id, "summary")).toBe(0);
  expect(await count(id, "usage")).toBe(0);

  const model = scripted([({ prompt }) => `Read: ${[...new Set(prompt.match(/src\/[\w/.-]+\.ts/g))].join(", ")}.`]);
  const strategy = { use: "summary-at-threshold", ratio: 0.5 };
  const manager = await SessionManager.open({ store, budget: 6_000, strategy, summarizer: model });
  const session = await manager.resume(id);
  expect(session.stats().messages).toBeGreaterThanOrEqual(acknowledged);
  expect((await session.compose()).report.faults).toEqual([]);
  expect(await session.compact()).toBe(true);
  await manager.close();
  model.done();
  expect(await count(id, "summary")).toBe(1);
  expect(await count(id, "usage")).toBe(1);
  expect(await count(id, "message")).toBeGreaterThanOrEqual(acknowledged);
});
