/** `windrow search`, as it is typed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { newFolder, windrow } from "./stage.ts";

let folder: string;
let id: string;

beforeEach(async () => {
  folder = await newFolder();
  const manager = await SessionManager.open({ store: folder, user: "ann" });
  const session = await manager.create();
  id = session.id;
  await session.append("The deploy \u001b[31mfailed\u001b[0m with 认证 errors");
  await session.finish("failed", "no access");
  await manager.close();
});

it("shows where the words stand, and that they are still in the window", async () => {
  const { status, stdout, stderr } = await windrow(["search", "认证", "--store", folder]);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain(`${id}  The deploy (31mfailed (0m with 认证 errors  failed  ann  `);
  expect(stdout).toContain("  [1] user, in the window: The deploy ");
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toMatch(/\n1 message\.\n$/);
});

it("ends with 1 where nothing is found, also by another user or status", async () => {
  for (const more of [["absent"], ["deploy", "--user", "bob"], ["deploy", "--status", "completed"]]) {
    const { status, stdout } = await windrow(["search", ...more, "--store", folder]);
    expect(status, more.join(" ")).toBe(1);
    expect(stdout).toContain("Nothing found");
  }
});

it("writes nothing with --no-index", async () => {
  const { status } = await windrow(["search", "deploy", "--no-index", "--store", folder]);
  expect(status).toBe(0);
  expect(existsSync(join(folder, "search-index"))).toBe(false);
});
