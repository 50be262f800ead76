/** docs/writing-an-engine.md, followed to the letter by a stranger: outside the repository, with Node's own test runner. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPacked } from "../kit/packed.ts";
import { driver } from "../kit/sqlite-stores.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-stranger-"));
  await installPacked(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
}, 60_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("docs/writing-an-engine.md", () => {
  const text = readFileSync("docs/writing-an-engine.md", "utf8");
  const files = [...text.matchAll(/^```js file=(\S+)\n([\s\S]*?)^```$/gm)];

  it("has an engine that passes the suite under node --test, and that is found out when it is broken", async () => {
    expect(files.map(([, name]) => name)).toEqual(["map-engine.mjs", "map-engine.test.mjs"]);
    for (const [, name, code] of files) await writeFile(join(folder, name!), code!);
    const good = await nodeTest();
    expect(good.failed, good.output).toBe(0);
    expect(good.passed).toBeGreaterThan(60);

    const engine = files[0]![2]!;
    expect(engine).toContain("session?.revision !== at");
    await writeFile(join(folder, "map-engine.mjs"), engine.replace("session?.revision !== at", "!session"));
    expect((await nodeTest()).failed).toBeGreaterThan(0);
  });
});

describe("the suite under node --test", () => {
  it("passes for every store that windrow/store opens here", { timeout: 120_000 }, async () => {
    const targets = ["ram:", "files", ...(driver ? ["sqlite:files.db"] : [])];
    const code = `
      import { mkdtempSync, rmSync } from "node:fs";
      import { join } from "node:path";
      import { describe, it } from "node:test";
      import { openStore } from "windrow/store";
      import { register, storeConformance } from "windrow/testing";

      for (const target of ${JSON.stringify(targets)}) {
        const fixture = async () => {
          const folder = mkdtempSync(join(import.meta.dirname, "store-"));
          const stores = [];
          const reopen = async () => {
            stores.push(await openStore(target.replace("files", join(folder, "files"))));
            return stores.at(-1);
          };
          const close = async () => {
            for (const store of stores) await store.close();
            rmSync(folder, { recursive: true });
          };
          return { store: await reopen(), reopen, close };
        };
        const probe = await fixture();
        const { capabilities } = probe.store;
        await probe.close();
        describe(target, () => register(storeConformance(capabilities, fixture), { describe, it }));
      }
    `;
    await writeFile(join(folder, "all-stores.test.mjs"), code);
    const { failed, passed, output } = await nodeTest("all-stores.test.mjs");
    expect(failed, output).toBe(0);
    expect(passed).toBeGreaterThan(targets.length * 30);
  });
});

async function nodeTest(
  file = "map-engine.test.mjs",
): Promise<{ readonly passed: number; readonly failed: number; readonly output: string }> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const values = ["--test", "--test-reporter=tap", file];
  const output = await promisify(execFile)(process.execPath, values, { cwd: folder, env }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(output)?.[1] ?? Number.NaN);
  return { passed: count("pass"), failed: count("fail"), output };
}
