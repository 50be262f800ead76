/** The engine of docs/memory.md passes the contract, from the tarball, as a reader saves it. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { installPacked } from "../kit/packed.ts";

it("the engine over HTTP of docs/memory.md passes memoryConformance", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "windrow-memory-page-"));
  try {
    await installPacked(folder);
    const page = await readFile("docs/memory.md", "utf8");
    const files = [...page.matchAll(/^```js file=(\S+)\n([\s\S]*?)^```$/gm)];
    expect(files.map(([, name]) => name)).toEqual(["http-memory.mjs", "http-memory.test.mjs"]);
    for (const [, name = "", code = ""] of files) await writeFile(join(folder, name), code);
    const { NODE_OPTIONS: _, ...env } = process.env;
    const run = ["--test", "--test-reporter=tap", "http-memory.test.mjs"];
    const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: folder, env });
    expect(stdout).toMatch(/# pass 9\n/);
    expect(stdout).toMatch(/# fail 0\n/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
