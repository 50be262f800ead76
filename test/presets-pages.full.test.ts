/** docs/presets/: each design as its authors would use it, run by a stranger: what it prints is what the page shows. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPacked } from "./kit/packed.ts";
import { presetNames } from "windrow/window";

const pages = readdirSync("docs/presets").map((page) => {
  const text = readFileSync(join("docs/presets", page), "utf8");
  const [, code = "", printed = ""] = /^```js run\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/m.exec(text) ?? [];
  return { page, text, code, printed };
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-pages-"));
  await installPacked(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(pages)("$page", ({ page, text, code, printed }) => {
  it("prints what it shows", { timeout: 60_000 }, async () => {
    expect(code).not.toBe("");
    const file = join(folder, page.replace(/\.md$/, ".mjs"));
    await writeFile(file, code);
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
    expect(stdout).toBe(printed);
  });

  it("has its numbers in docs/presets.md", () => {
    const anchors = [...text.matchAll(/presets\.md#([\w-]+)/g)].map(([, anchor]) => anchor);
    expect(anchors).toHaveLength(1);
    expect(readFileSync("docs/presets.md", "utf8")).toContain(`\n### ${anchors[0]}\n`);
  });
});

it("has a page for every preset", () => {
  const names = pages.map(({ page }) => page.replace(/\.md$/, ""));
  expect([...new Set(presetNames.map((name) => name.replace(/^openstarry-.*/, "openstarry")))].toSorted()).toEqual(
    names,
  );
});
