/** A path with a slip in it is told, not taken for an empty store, and no store is made there. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { driver } from "../store/sqlite-fixtures.ts";
import { newFolder, windrow } from "./stage.ts";

const id = "3f2b1c0a-1111-4111-8111-111111111111";
const commands = [
  ["view", "latest"],
  ["stats"],
  ["usage", "--agent", "windrow", "--no-cache"],
  ["logs"],
  ["top", "--once"],
  ["search", "word"],
  ["compose", "latest", "--budget", "9000"],
  ["compact", "latest"],
  ["monitor", "--once"],
  ["doctor", "--mend"],
  ["scan"],
  ["unlock", id],
  ["cleanup"],
  ["keep", id],
  ["archive", id],
  ["erase", id, "--yes"],
  ["export", id],
];

it.each(commands)("windrow %s", async (...argv) => {
  const base = await newFolder();
  for (const scheme of ["", ...(driver ? ["sqlite:"] : [])]) {
    const path = join(base, "contxts");
    const { status, stdout, stderr } = await windrow([...argv, "--store", `${scheme}${path}`]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("store-unavailable");
    expect(stderr).toContain(path);
    expect(existsSync(path)).toBe(false);
  }
});
