/** A process dies between the request for a summary and its commit: nothing is lost, nothing half done, nothing charged twice. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { scripted } from "windrow/testing";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";

let store: string;

beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), "windrow-summary-"));
}, 120_000);

afterAll(async () => {
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
  const child = startChild("test/session/child/summarising.mjs", [dist, store, id]);
  const acknowledged = (JSON.parse(await child.line(0)) as { readonly messages: number }).messages;
  await child.kill();
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
