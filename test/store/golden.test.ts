import { readdirSync } from "node:fs";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { everybody, everyKind, listAll, messageRecord, readAll, texts } from "../kit/inside/store.ts";
import { filesFixture } from "../kit/stores.ts";

const golden = new URL("golden/", import.meta.url).pathname;
const [finished, running, newer, seed] = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];

describe.each(readdirSync(golden))("a store written in %s", (version) => {
  let fixture: Awaited<ReturnType<typeof filesFixture>>;
  beforeEach(async () => {
    fixture = await filesFixture();
    await cp(join(golden, version), fixture.folder, { recursive: true });
    // An empty folder is none to git.
    await mkdir(join(fixture.folder, "completed"), { recursive: true });
  });
  afterEach(() => fixture.close());

  it("lists its sessions, and reads every kind of record", async () => {
    expect(await listAll(fixture.store)).toHaveLength(4);
    const [message, ...others] = everyKind().map((record) => {
      if (record.kind !== "usage") return record;
      // Fields that came later: the stores here were written without them.
      const { answerId: _, requestId: __, toolCalls: ___, ...rest } = record;
      const { cacheWriteHour: ____, ...usage } = rest.usage;
      return { ...rest, usage };
    });
    const [first, rich, large] = await readAll(fixture.store, finished, { kind: "message" });
    expect(first).toMatchObject({ ...message, seq: 1, pos: 1 });
    expect(rich?.message.parts).toMatchObject([
      { type: "reasoning", text: "think", signature: "sig" },
      { type: "text", text: "日本語 and 😀" },
      { type: "tool-call", args: { a: [1, null] } },
    ]);
    expect(large?.message.parts).toMatchObject([{ content: "0123456789abcde\n".repeat(4_200) }]);
    const found = [];
    for (const kind of ["call", "tool", "edit", "usage", "summary", "snapshot"] as const) {
      found.push(...(await readAll(fixture.store, finished, { kind })));
    }
    expect(found).toMatchObject(others);
    const { metadata, state } = await fixture.store.info(everybody, finished);
    expect([metadata.user, metadata.format, state.status]).toEqual(["notfolder", 1, "completed"]);
  });

  it("goes on writing the session that was left open", async () => {
    const lock = await fixture.store.lock(everybody, running);
    expect([lock.recovery, lock.owner.generation]).toEqual([[], 2]);
    await fixture.store.append(lock, [messageRecord("three")]);
    expect(await texts(fixture.store, running)).toEqual(["one", "two", "three"]);
  });

  it("reads one of a newer format, with files and fields it does not know, and does not write it", async () => {
    const path = join(fixture.folder, "running", newer, "messages.jsonl");
    const before = await readFile(path);
    expect((await fixture.store.info(everybody, newer)).readOnly).toBe(true);
    expect(await texts(fixture.store, newer)).toEqual(["from the future", "with more"]);
    await expect(fixture.store.lock(everybody, newer)).rejects.toMatchObject({ code: "format-newer" });
    expect(await readFile(path)).toEqual(before);
  });

  it("reads one of seed 001's own writer, where fields and files are missing", async () => {
    const lock = await fixture.store.lock(everybody, seed);
    expect((await fixture.store.info(everybody, seed)).state).toMatchObject({ llmCallCount: 45, toolCallCount: 0 });
    const [next] = await fixture.store.append(lock, [messageRecord("more")]);
    expect([next?.seq, next?.pos]).toEqual([3, 3]);
    expect(await texts(fixture.store, seed)).toEqual(["You are", "Hello", "more"]);
  });
});
