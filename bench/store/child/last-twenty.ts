/** Reads the newest 20 messages of a session, in turn with the least work that could do it. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { filesStore } from "../../../src/store/files/files.ts";
import { median } from "../../bench.ts";

const { folder, id } = JSON.parse(process.argv[2] ?? "{}") as { readonly folder: string; readonly id: string };
const store = filesStore({ folder });

function floor(): number {
  const before = performance.now();
  const file = openSync(join(folder, "running", id, "messages.jsonl"), "r");
  const { size } = fstatSync(file);
  const bytes = Buffer.allocUnsafe(24_576);
  const length = readSync(file, bytes, 0, bytes.length, Math.max(0, size - bytes.length));
  const lines = bytes.toString("utf8", 0, length).split("\n").slice(-21, -1);
  const parsed = lines.map((line) => JSON.parse(line) as object);
  closeSync(file);
  if (parsed.length !== 20) throw new Error("20 lines were expected");
  return 1_000 * (performance.now() - before);
}

async function lastTwenty(): Promise<number> {
  const before = performance.now();
  let count = 0;
  for await (const _record of store.read({}, id, { kind: "message", last: 20 })) count += 1;
  if (count !== 20) throw new Error("20 records were expected");
  return 1_000 * (performance.now() - before);
}

await lastTwenty();
globalThis.gc?.();
const before = process.memoryUsage.rss();
let highest = before;
for (let round = 0; round < 20; round += 1) {
  await lastTwenty();
  highest = Math.max(highest, process.memoryUsage.rss());
}
const samples: number[] = [];
const floors: number[] = [];
for (let round = 0; round < 330; round += 1) {
  floors.push(floor());
  samples.push(await lastTwenty());
}
await store.close();
const warm = (taken: readonly number[]): number => median(taken.slice(30));
const megabytes = (highest - before) / 1e6;
console.log(JSON.stringify({ microseconds: warm(samples), floor: warm(floors), megabytes }));
