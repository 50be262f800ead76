/** The commands on stores in Postgres and Redis: everything that works on a folder works on a server's address. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { hasPostgres, startPostgres } from "../kit/postgres.ts";
import type { TestPostgres } from "../kit/postgres.ts";
import { hasRedis, startRedis } from "../kit/redis.ts";
import type { TestRedis } from "../kit/redis.ts";
import { newFolder, windrow } from "./stage.ts";

let postgres: TestPostgres | undefined;
let redis: TestRedis | undefined;
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
  if (hasRedis) redis = await startRedis();
}, 60_000);
afterAll(async () => {
  postgres?.close();
  await redis?.close();
});

const kinds = [
  ...(hasPostgres
    ? [{ kind: "postgres", at: (name: string): string => `${postgres?.url}?schema=${name.replaceAll("-", "_")}` }]
    : []),
  ...(hasRedis ? [{ kind: "redis", at: (name: string): string => `${redis?.url}?prefix=${name}:` }] : []),
];

/** Makes two sessions, one of them finished, and returns their ids. */
async function filled(store: string): Promise<readonly [open: string, finished: string]> {
  const manager = await SessionManager.open({ store, model: "gpt-4o", budget: 4_000 });
  const ids: string[] = [];
  for (const text of ["hello from the open one", "東京の天気を調べてください"]) {
    const session = await manager.create({ taskKey: { task: text } });
    await session.append(text);
    await session.compose({ system: "You help." });
    await session.append({ role: "assistant", parts: [{ type: "text", text: "晴れです。" }] });
    await session.endStep({ usage: { input: 40, output: 5 } });
    ids.push(session.id);
    if (ids.length === 2) await session.finish("completed");
    else await session.close();
  }
  await manager.close();
  return ids as unknown as readonly [string, string];
}

async function fine(...argv: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await windrow(argv);
  expect([argv[0], status, stderr.includes("error")]).toEqual([argv[0], 0, false]);
  return stdout;
}

describe.each(kinds)("the commands on $kind", ({ at }) => {
  it("show, count, search, examine, save, copy, clean and erase its sessions", { timeout: 120_000 }, async () => {
    const store = at(`all-${randomUUID()}`);
    const [open, finished] = await filled(store);
    const folder = await newFolder();
    expect(await fine("view", open, "--store", store)).toContain("hello from the open one");
    expect(JSON.parse(await fine("stats", "--json", "--store", store))).toMatchObject({ total: 2 });
    for (const words of ["天気", "東京の天気", "hello"]) {
      const { hits } = JSON.parse(await fine("search", words, "--json", "--store", store)) as {
        readonly hits: readonly { readonly sessionId: string }[];
      };
      expect(hits.map(({ sessionId }) => sessionId)).toEqual([words === "hello" ? open : finished]);
    }
    await fine("monitor", "--once", "--store", store);
    expect(JSON.parse(await fine("doctor", "--json", "--store", store))).toMatchObject({ findings: [] });
    await fine("backup", join(folder, "saved"), "--running", "--store", store);
    const back = at(`back-${randomUUID()}`);
    await fine("restore", "--all", "--from", join(folder, "saved"), "--to", back);
    const away = join(folder, "away");
    await fine("copy", "--from", back, "--to", away);
    for (const place of [back, away]) {
      expect(await fine("view", finished, "--store", place)).toContain("東京の天気");
    }
    await fine("finish", open, "--error", "given up", "--store", store);
    await fine("cleanup", "--older-than", "0", "--yes", "--store", store);
    await fine("erase", open, finished, "--yes", "--store", back);
    for (const place of [store, back]) {
      expect(JSON.parse(await fine("stats", "--json", "--store", place))).toMatchObject({ total: 0 });
    }
  });
});
