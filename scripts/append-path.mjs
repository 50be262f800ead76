/**
 * Prints the files of src through which one append to a store of files passes: precise coverage over the unbundled build.
 *
 *   npx tsc -p tsconfig.bench.json && node scripts/append-path.mjs
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./package-files.mjs";

const built = join(root, "dist-bench/src");
const { filesStore } = await import(pathToFileURL(join(built, "store/files/files.js")).href);
const folder = mkdtempSync(join(tmpdir(), "windrow-append-"));
const store = filesStore({ folder });
const session = { uuid: randomUUID(), taskKey: {}, config: {}, createdAt: new Date().toISOString() };
const lock = await store.create({}, session);
const append = (text) => {
  const message = { id: randomUUID(), role: "user", parts: [{ type: "text", text }] };
  return store.append(lock, [{ kind: "message", message, timestamp: new Date().toISOString(), tokenCount: 1 }]);
};
await append("before");
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await inspector.post("Profiler.takePreciseCoverage");
await append("one");
const { result } = await inspector.post("Profiler.takePreciseCoverage");
inspector.disconnect();
await lock.release();
await store.close();
rmSync(folder, { recursive: true });
const prefix = `${pathToFileURL(built).href}/`;
const passed = result
  .filter(
    ({ url, functions }) =>
      url.startsWith(prefix) && functions.some(({ ranges }) => ranges.some((one) => one.count > 0)),
  )
  .map(({ url }) => `src/${url.slice(prefix.length).replace(/\.js$/, ".ts")}`)
  .sort();
console.log(`${passed.join("\n")}\nFiles: ${passed.length}`);
