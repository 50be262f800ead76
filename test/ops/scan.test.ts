import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { scanFolder, scanStore } from "windrow/ops";
import { createMask } from "windrow/store";
import { filesStore, messageRecord, newSession, ramStore } from "../kit/inside/store.ts";
import { newFolder } from "../kit/sessions.ts";
import { secretSamples, textOf } from "../mask/samples.ts";

const mask = createMask();
const open = createMask({ rules: [] });
const samples = Object.entries(secretSamples);
it("finds every kind in a store that was written without a mask, by session, file and line, and never tells it", async () => {
  const folder = await newFolder();
  const store = filesStore({ folder, mask: open });
  const lock = await store.create({}, newSession());
  await store.append(lock, [messageRecord("clean")]);
  for (const [, sample] of samples) await store.append(lock, [messageRecord(textOf(sample))]);
  await lock.release();
  await store.close();
  const done: number[] = [];
  const report = await scanFolder(folder, { mask, onProgress: (count) => done.push(count) });
  const inLog = report.found.filter(({ file }) => file === `running/${lock.id}/messages.jsonl`);
  const file = `running/${lock.id}/messages.jsonl`;
  expect(onceEach(inLog)).toEqual(
    samples.map(([kind], index) => ({ kind, sessionId: lock.id, file, line: index + 2 })),
  );
  expect(done.at(-1)).toBe(report.files);
  for (const [, { secret }] of samples) expect(JSON.stringify(report)).not.toContain(secret);
});

it("looks into what is gzipped or lies aside, and finds nothing in a store that was masked", async () => {
  const folder = await newFolder();
  const store = filesStore({ folder });
  const lock = await store.create({}, newSession());
  for (const [, sample] of samples) await store.append(lock, [messageRecord(textOf(sample))]);
  await lock.release();
  await store.close();
  expect((await scanFolder(folder, { mask })).found).toEqual([]);
  await mkdir(join(folder, "aside"));
  await writeFile(join(folder, "aside", "old.gz"), gzipSync(`first\n${secretSamples["npm-token"]!.secret}\n`));
  expect((await scanFolder(folder, { mask })).found).toEqual([{ kind: "npm-token", file: "aside/old.gz", line: 2 }]);
});

it("reads a store that is no folder record by record", async () => {
  const store = ramStore({ mask: open });
  const lock = await store.create({}, newSession());
  await store.append(lock, [messageRecord("clean"), messageRecord(secretSamples["github-token"]!.secret)]);
  const { found } = await scanStore(store, { mask });
  expect(onceEach(found)).toEqual([{ kind: "github-token", sessionId: lock.id, file: "messages.jsonl", line: 2 }]);
});

it("stops when it is told to", async () => {
  const folder = await newFolder();
  await writeFile(join(folder, "a.txt"), "x\n");
  const signal = AbortSignal.abort();
  await expect(scanFolder(folder, { mask }, signal)).rejects.toMatchObject({ code: "aborted" });
});

/** A line can hold the same secret twice. */
function onceEach<T>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((one) => [JSON.stringify(one), one])).values()];
}
