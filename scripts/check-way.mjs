/**
 * Prints through how many files and functions of src an append, a composition between two epochs, and ten steps with an
 * epoch pass in a session over a store of files: precise coverage over the unbundled build. Warm: each was done before.
 *
 *   npx tsc -p tsconfig.bench.json && node scripts/check-way.mjs [--files]
 *
 * `--files` lists the files with the functions that ran. Exit status 1 if one of the three passes more files than its limit.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./package-files.mjs";

/** The most files of src on each way. */
const limits = { append: 20, compose: 16, steps: 60 };
const isListing = process.argv.includes("--files");
const source = `${pathToFileURL(join(root, "dist-bench/src")).href}/`;
const { SessionManager } = await import(`${source}index.js`);
const folder = mkdtempSync(join(tmpdir(), "windrow-way-"));
const manager = await SessionManager.open({ store: folder, budget: 16_000 });
const session = await manager.create();
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");

const user = (text) => ({ role: "user", parts: [{ type: "text", text }] });
let calls = 0;
async function step() {
  const callId = `call-${++calls}`;
  const args = { path: `src/part-${calls}.ts` };
  const call = { type: "tool-call", callId, name: "read_file", args };
  await session.append({ role: "assistant", parts: [{ type: "text", text: `Reading part ${calls}.` }, call] });
  const run = await session.startTool({ callId, name: "read_file", args });
  await run.finish(Array.from({ length: 300 }, (_, line) => `export const value${line} = ${calls * line};`).join("\n"));
  const { tokens } = await session.compose();
  await session.endStep({ usage: { input: tokens, output: 40 } });
}
async function steps() {
  const { epoch } = session.stats();
  for (let count = 0; count < 10; count++) await step();
  if (session.stats().epoch === epoch) throw new Error("Ten steps opened no epoch.");
}
const ways = {
  append: () => session.append(user("The tests of the parser fail since yesterday.")),
  compose: () => session.compose(),
  steps,
};

await session.append(user("Why does the build fail?"));
await steps();
for (const way of Object.values(ways)) await way();
let isLong = false;
for (const [name, way] of Object.entries(ways)) {
  const passed = await covered(way);
  const functions = [...passed.values()].flat().length;
  isLong ||= passed.size > limits[name];
  console.log(`${name}: ${passed.size} files (at most ${limits[name]}), ${functions} functions`);
  if (isListing) for (const [file, names] of passed) console.log(`  ${file}: ${names.join(", ")}`);
}
await manager.close();
rmSync(folder, { recursive: true });
process.exitCode = isLong ? 1 : 0;

/** The files through which work passes, each with the functions that ran. */
async function covered(work) {
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await inspector.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  await inspector.post("Profiler.stopPreciseCoverage");
  const files = result
    .filter(({ url }) => url.startsWith(source))
    .map(({ url, functions }) => {
      const ran = functions.filter(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0);
      return [`src/${url.slice(source.length, -".js".length)}.ts`, ran.map(({ functionName }) => functionName)];
    });
  return new Map(files.filter(([, names]) => names.length > 0).sort(([one], [other]) => (one < other ? -1 : 1)));
}
