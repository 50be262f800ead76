/** docs/writing-an-adapter.md, followed to the letter by a stranger: outside the repository, with Node's own test runner. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installPacked } from "../kit/packed.ts";

const text = readFileSync("docs/writing-an-adapter.md", "utf8");
const files = new Map(
  [...text.matchAll(/^```js file=(\S+)\n([\s\S]*?)^```$/gm)].map(([, name, code]) => [name!, code!]),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-stranger-"));
  await installPacked(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it("has an adapter that passes its tests under node --test", async () => {
  expect([...files.keys()]).toEqual(["parley.mjs", "windrow-parley.mjs", "windrow-parley.test.mjs"]);
  for (const [name, code] of files) await writeFile(join(folder, name), code);
  const { passed, failed, output } = await nodeTest();
  expect(failed, output).toBe(0);
  expect(passed).toBe(10);
});

it.each([
  ["loses a call's own fields", "...keep(parley, rest),", ""],
  ["journals no answer", "[...request.messages, answer]", "request.messages"],
  ["starts no tool", "conversation.startTool(", "void ("],
])("has a test that finds an adapter out which %s", async (_fault, from, to) => {
  const adapter = files.get("windrow-parley.mjs")!;
  expect(adapter.split(from)).toHaveLength(2);
  for (const [name, code] of files) await writeFile(join(folder, name), code);
  await writeFile(join(folder, "windrow-parley.mjs"), adapter.replace(from, to));
  expect((await nodeTest()).failed).toBeGreaterThan(0);
});

async function nodeTest(): Promise<{ readonly passed: number; readonly failed: number; readonly output: string }> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const values = ["--test", "--test-reporter=tap", "windrow-parley.test.mjs"];
  const output = await promisify(execFile)(process.execPath, values, { cwd: folder, env }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(output)?.[1] ?? Number.NaN);
  return { passed: count("pass"), failed: count("fail"), output };
}
