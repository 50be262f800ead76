/** `windrow audit`. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { AuditEntry } from "windrow/store";
import { json, newFolder, put, windrow } from "./stage.ts";

async function stage(): Promise<{ readonly store: string; readonly config: string; readonly id: string }> {
  const folder = await newFolder();
  const store = `${folder}/data`;
  const manager = await SessionManager.open({ store, user: "alice", audit: true });
  const session = await manager.create();
  await session.append("hello");
  await manager.close();
  const config = await put(folder, "windrow.config.yaml", "store: ./data\naudit: true\naccess: { admins: [root] }\n");
  return { store, config, id: session.id };
}

async function entriesOf(argv: readonly string[], user: string): Promise<readonly AuditEntry[]> {
  const { entries } = await json<{ readonly entries: readonly AuditEntry[] }>(["audit", ...argv], {
    WINDROW_USER: user,
  });
  return entries;
}

it("tells an admin who did what, and a user what they did themselves", async () => {
  const { config, id } = await stage();
  const own = await windrow(["view", id, "--config", config], { WINDROW_USER: "alice" });
  expect(own.status, own.stderr).toBe(0);
  const other = await windrow(["view", id, "--config", config], { WINDROW_USER: "mallory" });
  expect(other.status).toBe(1);
  const all = await entriesOf(["--config", config, "--admin", "--session", id], "root");
  expect(all.some(({ who, file, action }) => who === "alice" && action === "read" && file === "messages.jsonl")).toBe(
    true,
  );
  expect(all.filter(({ who }) => who === "mallory")).toMatchObject([{ action: "read", error: "session-not-found" }]);
  const mine = await entriesOf(["--config", config], "mallory");
  expect(new Set(mine.map(({ who }) => who))).toEqual(new Set(["mallory"]));
  expect(await entriesOf(["--config", config, "--admin", "--action", "create"], "root")).toHaveLength(1);
  expect(await entriesOf(["--config", config, "--admin", "--to", "2020-01-01"], "root")).toEqual([]);
});

it("prints a table", async () => {
  const { store, id } = await stage();
  const { stdout } = await windrow(["audit", "--store", store]);
  expect(stdout).toMatch(new RegExp(`UTC +alice +create +${id} +metadata.json\n`));
  expect(stdout).toMatch(/\d+ accesses\n$/);
});
