/** What the benchmarks of the stores share: folders, records, the bare loop they are measured beside, child processes. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MessageRecord } from "../../src/message/record.ts";
import { encodeRecord } from "../../src/store/format/record.ts";
import { filesStore } from "../../src/store/files/files.ts";
import { lineText, numberedLine } from "../../src/store/format/lines.ts";

/** Bytes of a line beside the text. */
const overheadBytes = 236;

/** Runs a benchmark in a folder of its own on the disk of the working folder, and removes it. */
export async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(process.cwd(), "bench-store-"));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A message whose line has about so many bytes. */
export function messageRecord(number: number, lineBytes: number): MessageRecord {
  const timestamp = "2026-01-15T10:30:01.123Z";
  const words = "some words of an agent's history ";
  const text = words.repeat(Math.ceil(lineBytes / words.length)).slice(0, Math.max(1, lineBytes - overheadBytes));
  const parts = [{ type: "text", text }] as const;
  return {
    kind: "message",
    message: { id: `m${number}`, role: "user", parts, timestamp },
    tokenCount: Math.round(text.length / 4),
    timestamp,
  };
}

/** Writes and syncs a second: a line of so many bytes, again and again, each synced before the next. */
export function bareLoop(folder: string, lineBytes: number, count: number): number {
  const line = Buffer.alloc(lineBytes, "x");
  const file = openSync(join(folder, randomUUID()), "a");
  const before = performance.now();
  for (let done = 0; done < count; done += 1) {
    writeSync(file, line);
    fdatasyncSync(file);
  }
  const seconds = (performance.now() - before) / 1_000;
  closeSync(file);
  return count / seconds;
}

/** Makes a closed session whose message log has so many bytes, in lines of 1 KB; returns its id. */
export async function sizedSession(folder: string, bytes: number): Promise<string> {
  const store = filesStore({ folder });
  const uuid = randomUUID();
  const lock = await store.create({}, { uuid, taskKey: {}, config: {}, createdAt: new Date().toISOString() });
  await store.close();
  const text = lineText(encodeRecord(messageRecord(1, 1_024)));
  const file = openSync(join(folder, "running", lock.id, "messages.jsonl"), "a");
  try {
    let seq = 0;
    for (let written = 0; written < bytes;) {
      const lines: Buffer[] = [];
      for (let line = 0; line < 4_096 && written < bytes; line += 1) {
        seq += 1;
        const one = Buffer.from(`${numberedLine(text, seq, seq)}\n`);
        written += one.length;
        lines.push(one);
      }
      writeSync(file, Buffer.concat(lines));
    }
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  return uuid;
}

/** Runs a script of `bench/store/child/` in a process of its own and reads the JSON it prints. */
export function child<T>(script: string, given: object): T {
  const path = fileURLToPath(new URL(`child/${script}.js`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", path, JSON.stringify(given)], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`${script} failed: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** A figure with so many digits behind the point. */
export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** Sizes of logs that reads are measured on. */
export const logSizes: readonly { readonly name: string; readonly bytes: number }[] = [
  { name: "1 MB", bytes: 1e6 },
  { name: "100 MB", bytes: 100e6 },
  { name: "1 GB", bytes: 1e9 },
];
