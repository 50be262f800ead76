/** Commands over all sessions, where one of them is damaged, cannot be written, or is larger than memory. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { everybody, filesStore, messageRecord, newSession, stateOf } from "../kit/inside/store.ts";
import { windrow as run } from "./stage.ts";

let folder: string;
let store: string;
let ids: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "windrow-damaged-"));
  store = join(folder, "store");
  ids = [];
  const opened = filesStore({ folder: store, durability: "group" });
  for (const name of ["one", "two", "three"]) {
    const lock = await opened.create(everybody, newSession());
    await opened.append(lock, [messageRecord(`a needle in ${name} ${"and hay ".repeat(200)}`)]);
    await opened.finish(lock, stateOf("completed"));
    await opened.upkeep.compress!(everybody, lock.id);
    ids.push(lock.id);
  }
  await opened.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function windrow(...words: readonly string[]): Promise<{ status: number; out: string; error: string }> {
  const { status, stdout, stderr } = await run([...words, "--store", store], { NO_COLOR: "1" });
  return { status, out: stdout, error: stderr };
}

describe("a session that cannot be read is one finding, and the others go on", () => {
  beforeEach(() => writeFileSync(join(store, "completed", ids[0]!, "messages.jsonl.gz"), "nothing of it is left"));

  it.each([
    ["stats", ["stats"], "2"],
    ["search", ["search", "needle"], "2 messages"],
    ["scan", ["scan"], "files"],
    ["logs", ["logs", "--level", "DEBUG"], "Message #1"],
  ])("%s", { tags: ["slow"] }, async (_name, words, shown) => {
    const { status, out, error } = await windrow(...words);
    expect(status).toBe(1);
    expect(out).toContain(shown);
    expect(error).toContain(ids[0]);
    expect(error).toContain("messages.jsonl.gz");
    expect(error.trimEnd().split("\n")).toHaveLength(1);
  });

  it("backup copies the others, cleanup leaves it where it is, and view says why", async () => {
    const backup = await windrow("backup", join(folder, "backups"));
    expect([backup.status, backup.out]).toEqual([1, expect.stringMatching(/2 written .* 1 failed/)]);
    const cleaned = await windrow("cleanup", "--older-than", "0", "--yes");
    expect([cleaned.status, readdirSync(join(store, "completed"))]).toEqual([1, [ids[0]]]);
    expect(await windrow("view", ids[0]!)).toMatchObject({
      status: 1,
      error: expect.stringContaining("store-corrupt"),
    });
  });
});

it("a session whose metadata is damaged is not left out without a word", async () => {
  writeFileSync(join(store, "completed", ids[0]!, "metadata.json"), '{"uuid":');
  for (const words of [["stats"], ["search", "needle"], ["logs"]]) {
    expect(await windrow(...words)).toMatchObject({ status: 1, error: expect.stringContaining(ids[0]!) as string });
  }
});

describe.skipIf(process.platform === "win32")("a store that cannot be written", () => {
  /** Runs as a user who may only read: root is let through by every mode. */
  async function asReader<T>(work: () => Promise<T>): Promise<T> {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      return await work();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }

  function modes(forFolders: number, forFiles: number): void {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? forFolders : forFiles);
    }
    chmodSync(folder, forFolders);
  }

  const reading = [
    ...[
      ["search", "needle"],
      ["search", "needle", "--no-index"],
      ["view", "latest"],
      ["export", "latest"],
    ],
    ...[["logs"], ["stats"], ["top", "--once"], ["scan"], ["audit"]],
  ];

  it.each([true, false])("gives the same answers as another (with an index: %s)", async (withIndex) => {
    if (withIndex) await windrow("search", "needle");
    const before: Awaited<ReturnType<typeof windrow>>[] = [];
    for (const words of reading) before.push(await windrow(...words, ...(withIndex ? [] : noIndex(words))));
    modes(0o555, 0o444);
    const names = readdirSync(store, { recursive: true }).length;
    const after = await asReader(async () => {
      const all = [];
      for (const words of reading) all.push(await windrow(...words));
      return all;
    });
    expect(readdirSync(store, { recursive: true })).toHaveLength(names);
    modes(0o755, 0o644);
    const timeless = (all: typeof before): unknown =>
      JSON.parse(JSON.stringify(all).replaceAll(/\d\d:\d\d:\d\d UTC/g, ""));
    expect(timeless(after)).toEqual(timeless(before));
  });

  function noIndex(words: readonly string[]): readonly string[] {
    return words[0] === "search" && !words.includes("--no-index") ? ["--no-index"] : [];
  }

  it("refuses by name what must write", async () => {
    modes(0o555, 0o444);
    const { status, error } = await asReader(() => windrow("archive", "latest", "--undo"));
    modes(0o755, 0o644);
    expect([status, error]).toEqual([1, expect.stringContaining("store-unavailable")]);
  });
});

it("a file that unpacks to more than the limit is refused, and the option that raises it is named", async () => {
  const line = `{"role":"user","content":"${"a".repeat(20)}"}\n`;
  const bomb = join(folder, "bomb.jsonl.gz");
  writeFileSync(bomb, gzipSync(line.repeat(600_000)));
  const good = join(folder, "good.jsonl");
  writeFileSync(good, line.repeat(3));
  const { status, out } = await windrow("import", bomb, good);
  expect(status).toBe(1);
  expect(out).toMatch(/bomb\.jsonl\.gz\s+input-too-large: .*--max-entries/);
  expect(out).toMatch(/imported\s+3/);
  const few = await windrow("import", good, "--max-entries", "2");
  expect([few.status, few.out]).toEqual([1, expect.stringContaining("input-too-large")]);
  const short = await windrow("import", good, "--max-bytes", "100");
  expect([short.status, short.out]).toEqual([1, expect.stringContaining("--max-bytes")]);
  expect(readFileSync(bomb).length).toBeLessThan(1_000_000);
});
