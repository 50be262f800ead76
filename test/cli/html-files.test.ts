/** `view --html` and `replay --html`: the file that is written, and the one that is not overwritten. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileDataId, pageFolder, unpackFile } from "../kit/inside/viewer.ts";
import type { FileData } from "../kit/inside/viewer.ts";
import { seedId, seedSession } from "./seed-example.ts";
import { newFolder, put, windrow } from "./stage.ts";

/** The data of a file; undefined where the page of this checkout is not built, which the command says. */
async function dataIn(path: string): Promise<FileData | undefined> {
  const html = await readFile(path, "utf8").catch(() => "");
  const [, block] = new RegExp(`id="${fileDataId}">([^<]*)<`).exec(html) ?? [];
  return block === undefined ? undefined : unpackFile(block);
}

describe("an HTML file", () => {
  it("holds the session that view names", async () => {
    const store = await newFolder();
    await seedSession(store);
    const file = join(await newFolder(), "session.html");
    const { status, stdout, stderr } = await windrow(["view", "latest", "--html", file, "--store", store]);
    const data = await dataIn(file);
    expect([status, stdout, stderr].join(" ")).toContain(data ? `session ${seedId}` : `${pageFolder()}: install`);
    expect(data?.sessions[0]?.session.id ?? seedId).toBe(seedId);
  });

  it("holds a row for each strategy of a replay", { tags: ["slow"] }, async () => {
    const file = join(await newFolder(), "replay.html");
    const argv = ["replay", "fixtures/demo-session.jsonl", "-s", "none,adaptive", "-b", "6k", "--html", file, "--json"];
    const { status, stdout } = await windrow(argv);
    const data = await dataIn(file);
    expect(status).toBe(data ? 0 : 1);
    const rows = data?.sessions[0]?.rows.map(({ replay }) => replay?.name) ?? ["as recorded", "none", "adaptive"];
    expect(rows).toEqual(["as recorded", "none", "adaptive"]);
    expect(data === undefined || stdout.includes('"html"')).toBe(true);
  });

  it("is not written over another file", async () => {
    const store = await newFolder();
    await seedSession(store);
    const file = await put(await newFolder(), "kept.html", "kept");
    for (const argv of [
      ["view", "latest", "--store", store],
      ["replay", "fixtures/demo-session.jsonl"],
    ]) {
      const { status, stderr } = await windrow([...argv, "--html", file]);
      expect([status, stderr]).toEqual([2, expect.stringContaining("not overwritten")]);
    }
    expect(await readFile(file, "utf8")).toBe("kept");
  });
});
