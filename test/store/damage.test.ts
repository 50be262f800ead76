import { appendFile, readFile, readdir, rename, stat, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Lock, Store } from "windrow";
import { openStore } from "windrow/store";
import {
  everybody,
  everyKind,
  messageRecord,
  newSession,
  readAll,
  sessionWith,
  stateOf,
  texts,
  trashed,
} from "../kit/inside/store.ts";
import { closing, filesFixture } from "../kit/stores.ts";

const five = ["1", "2", "3", "4", "5"];

let fixture: Awaited<ReturnType<typeof filesFixture>>;
let lock: Lock;
let folder: string;
let log: string;
beforeEach(async () => {
  fixture = closing(await filesFixture());
  lock = await sessionWith(fixture.store, 0);
  for (const text of five) await fixture.store.append(lock, [messageRecord(text)]);
  await lock.release();
  folder = join(fixture.folder, "running", lock.id);
  log = join(folder, "messages.jsonl");
});

async function lines(): Promise<string[]> {
  return (await readFile(log, "utf8")).split("\n").slice(0, -1);
}

/** The next record after mending has the number behind the last one that is left, and everything can be read. */
async function continues(store: Store, left: readonly string[]): Promise<Lock> {
  const taken = await store.lock(everybody, lock.id);
  const [next] = await store.append(taken, [messageRecord("next")]);
  expect([next?.seq, next?.pos]).toEqual([left.length + 1, left.length + 1]);
  expect(await texts(store, lock.id)).toEqual([...left, "next"]);
  return taken;
}

async function appended(bytes: string | Buffer): Promise<number> {
  await appendFile(log, bytes);
  return bytes.length;
}

describe("a torn tail is cut off, kept beside the log, and the number is used again", () => {
  const torn: Readonly<Record<string, () => Promise<number>>> = {
    "half a line": async () => {
      const last = (await lines()).at(-1)!;
      await truncate(log, (await stat(log)).size - 20);
      return last.length + 1 - 20;
    },
    "one byte": () => appended("{"),
    "a run of NULs, as ext4 leaves after a power cut": () => appended(Buffer.alloc(300)),
    "a whole line whose checksum fails": async () => {
      const all = await lines();
      const wrong = all.at(-1)!.replace('"content":"5"', '"content":"6"');
      await writeFile(log, `${[...all.slice(0, -1), wrong].join("\n")}\n`);
      return wrong.length + 1;
    },
    "several bad lines": () => appended('garbage\nmore garbage\n{"seq":'),
    "bytes that are no UTF-8": () => appended(Buffer.from([0xff, 0xfe, 0x0a])),
  };

  it.each(Object.keys(torn))("%s", { tags: ["slow"] }, async (name) => {
    const length = await torn[name]!();
    const before = await readFile(log);
    const left = name.startsWith("half") || name.startsWith("a whole") ? ["1", "2", "3", "4"] : five;
    const taken = await continues(fixture.store, left);
    expect(taken.recovery).toMatchObject([
      { file: "messages.jsonl", offset: before.length - length, length, problem: "torn-tail" },
    ]);
    const { quarantine } = taken.recovery[0]!;
    expect(quarantine).toMatch(/^messages\.jsonl\.corrupt-/);
    expect(await readFile(join(folder, quarantine))).toEqual(before.subarray(before.length - length));
    expect(await fixture.store.recovery(everybody, lock.id)).toEqual(taken.recovery);
    for (const line of await lines()) expect(JSON.parse(line)).toHaveProperty("seq");
  });

  it("a last line that only lacks its line end is kept", async () => {
    await truncate(log, (await stat(log)).size - 1);
    const taken = await continues(fixture.store, five);
    expect(taken.recovery).toEqual([]);
  });

  it("an append of several records of which a crash left only some is cut as a whole", async () => {
    const first = await fixture.store.lock(everybody, lock.id);
    await fixture.store.append(first, [messageRecord("6"), messageRecord("7"), messageRecord("8")]);
    await first.release();
    const all = await lines();
    await writeFile(log, `${all.slice(0, 7).join("\n")}\n${all[7]!.slice(0, 30)}`);
    expect(await texts(fixture.store, lock.id)).toEqual(five);
    await continues(fixture.store, five);
  });

  it("a file of nothing but garbage becomes an empty log", async () => {
    await writeFile(log, "no json at all");
    expect((await fixture.store.lock(everybody, lock.id)).recovery).toHaveLength(1);
    expect(await texts(fixture.store, lock.id)).toEqual([]);
  });
});

describe("damage in the middle is stepped over and told, and everything behind it is read", () => {
  type Damage = readonly [name: string, change: (all: string[]) => unknown, gone: string, spans: number];
  const wrongType = '{"seq":4,"role":"user","content":[],"timestamp":"2024-01-15T10:30:01.123Z","token_count":1}';
  const damages: readonly Damage[] = [
    ["a NUL run instead of a line", (all) => (all[1] = "\0".repeat(200)), "2", 1],
    ["a flipped letter", (all) => (all[2] = all[2]!.replace('"content":"3"', '"content":"X"')), "3", 1],
    ["a torn line with the next one welded to it", (all) => all.splice(1, 2, all[1]!.slice(0, 40) + all[2]!), "2", 1],
    ["two whole lines welded together", (all) => all.splice(1, 2, all[1]! + all[2]!), "", 0],
    ["NULs in front of a line", (all) => (all[1] = "\0".repeat(50) + all[1]!), "", 1],
    ["a wrong type", (all) => (all[3] = wrongType), "4", 1],
    ["empty lines and CRLF", (all) => all.splice(2, 1, "", "  ", `${all[2]!}\r`), "", 0],
    ["a missing line", (all) => all.splice(2, 1), "3", 0],
  ];

  it.each(damages)("%s", async (_name, change, gone, spans) => {
    const left = five.filter((text) => text !== gone);
    const all = await lines();
    change(all);
    await writeFile(log, `${all.join("\n")}\n`);
    const before = await readFile(log);
    expect(await texts(fixture.store, lock.id)).toEqual(left);
    expect(await texts(fixture.store, lock.id, { last: 2 })).toEqual(left.slice(-2));
    expect(await texts(fixture.store, lock.id, { from: 4 })).toEqual(left.filter((text) => Number(text) >= 4));
    const told = await fixture.store.recovery(everybody, lock.id);
    expect(told).toHaveLength(spans);
    for (const span of told) {
      expect(span).toMatchObject({ file: "messages.jsonl", problem: "damaged" });
      expect(span.offset + span.length).toBeLessThanOrEqual(before.length);
    }
    const taken = await fixture.store.lock(everybody, lock.id);
    const [next] = await fixture.store.append(taken, [messageRecord("next")]);
    expect([next?.seq, next?.pos]).toEqual([6, 6]);
    expect((await readFile(log)).subarray(0, before.length)).toEqual(before);
    expect(await texts(fixture.store, lock.id)).toEqual([...left, "next"]);
  });
});

it("a reader beside a writer at work ignores the line that is not whole yet, and touches nothing", async () => {
  const other = await fixture.reopen();
  await fixture.store.lock(everybody, lock.id);
  await appendFile(log, '{"seq":6,"role":"assistant","content":"half');
  const size = (await stat(log)).size;
  expect(await texts(other, lock.id)).toEqual(five);
  expect(await texts(other, lock.id, { last: 1 })).toEqual(["5"]);
  expect(await other.recovery(everybody, lock.id)).toEqual([]);
  expect((await stat(log)).size).toBe(size);
  await truncate(log, size - 43);
});

describe("a crash between the steps of finish", () => {
  const completed = (): string => join(fixture.folder, "completed");

  /** A session whose state is final, and which was not moved. */
  async function unmoved(status: "completed" | "failed" | "timeout"): Promise<void> {
    const path = join(folder, "state.json");
    await writeFile(path, (await readFile(path, "utf8")).replace(/"status": "\w+"/, `"status": "${status}"`));
  }

  it("state final, not moved: the next look ends the move", async () => {
    await unmoved("completed");
    const other = await fixture.reopen();
    expect(await other.info(everybody, lock.id)).toMatchObject({ readOnly: true, state: { status: "completed" } });
    expect(await readdir(join(fixture.folder, "running"))).toEqual([]);
    expect(await readdir(join(completed(), lock.id))).not.toContain(".lock");
    expect(await texts(other, lock.id)).toEqual(five);
  });

  it("state final, not moved: a lock ends the move and is refused", async () => {
    await unmoved("failed");
    await expect(fixture.store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "read-only" });
    expect(await readdir(completed())).toEqual([lock.id]);
  });

  it("moved, .lock left behind: the next look removes it", async () => {
    await unmoved("timeout");
    await rename(folder, join(completed(), lock.id));
    expect((await fixture.store.info(everybody, lock.id)).state.status).toBe("timeout");
    expect(await readdir(join(completed(), lock.id))).not.toContain(".lock");
  });
});

it("a state.json that a power cut emptied is counted again from the log", async () => {
  const taken = await fixture.store.lock(everybody, lock.id);
  await fixture.store.append(taken, everyKind());
  await taken.release();
  for (const content of ["", "\0".repeat(200), "{"]) {
    await writeFile(join(folder, "state.json"), content);
    const { state } = await fixture.store.info(everybody, lock.id);
    const counts = { llmCallCount: 1, toolCallCount: 4, totalTokensUsed: 12 };
    expect(state).toMatchObject({ status: "processing", error: null, ...counts });
  }
  await unlink(join(folder, "state.json"));
  const again = await fixture.store.lock(everybody, lock.id);
  await fixture.store.setState(again, stateOf("processing"));
  expect((await fixture.store.info(everybody, lock.id)).state).toEqual(stateOf("processing"));
});

it.each(["failed", "timeout"] as const)("a lost state.json behind %s has its error again", async (status) => {
  const manager = await SessionManager.open({ store: fixture.folder, budget: 10_000 });
  const session = await manager.create();
  await session.append("Build it.");
  await session.finish(status, "the build broke");
  await manager.close();
  const ended = join(fixture.folder, "completed", session.id);
  for (const index of ["kept", "lost"]) {
    await unlink(join(ended, "state.json"));
    if (index === "lost") await unlink(join(fixture.folder, "index.jsonl"));
    const other = await openStore(fixture.folder);
    expect((await other.info(everybody, session.id)).state).toMatchObject({ status, error: "the build broke" });
    await other.close();
    await writeFile(join(ended, "state.json"), "");
  }
});

describe("a power cut that took pages of the last write, and left the end of it", () => {
  /** Ends the session as a crash does, with NULs in the place of what was never synced. */
  async function lose(text: string): Promise<void> {
    const bytes = await readFile(log);
    const from = bytes.indexOf(text.slice(0, 20));
    bytes.fill(0, from, from + 5_000);
    await writeFile(log, bytes);
    const path = join(folder, ".lock");
    await writeFile(path, (await readFile(path, "utf8")).replace('"released":true', '"released":null'));
  }
  async function appendLarge(): Promise<void> {
    const holder = await fixture.store.lock(everybody, lock.id);
    const records = [...large, "last"].map((one) => messageRecord(one));
    await fixture.store.append(holder, records);
    await holder.release();
  }
  const large = ["a", "b"].map((letter) => letter.repeat(6_000)) as [string, string];

  it.each(large)("leaves nothing of that append, which was never acknowledged", async (text) => {
    await appendLarge();
    await lose(text);
    const taken = await continues(fixture.store, five);
    expect(taken.recovery).toMatchObject([{ problem: "torn-tail", file: "messages.jsonl" }]);
    const aside = await readFile(join(folder, taken.recovery[0]!.quarantine), "utf8");
    expect(aside).toContain('"last"');
  });

  it("leaves nothing of appends that shared the write", async () => {
    const holder = await fixture.store.lock(everybody, lock.id);
    await fixture.store.append(holder, [messageRecord("6")]);
    await Promise.all([...large, "last"].map((one) => fixture.store.append(holder, [messageRecord(one)])));
    await holder.release();
    await lose(large[0]);
    const taken = await continues(fixture.store, ["1", "2", "3", "4", "5", "6"]);
    expect(taken.recovery).toMatchObject([{ problem: "torn-tail" }]);
  });

  it("hides nothing where the session was closed in order: then the hole is damage, and what is behind it was kept", async () => {
    await appendLarge();
    const bytes = await readFile(log);
    bytes.fill(0, bytes.indexOf("aaaa"), bytes.indexOf("aaaa") + 5_000);
    await writeFile(log, bytes);
    await fixture.store.lock(everybody, lock.id);
    expect(await texts(fixture.store, lock.id)).toEqual(["1", "2", "3", "4", "5", large[1], "last"]);
  });
});

it.each(['{"mark":5}', '{"mark":{"asideOf":"../x"}}', '{"mark":{"trashedAt":"x"},"listing":{"createdMs":1e300}}', "{"])(
  "a mark that cannot be read hides its session, which its owner brings back: %s",
  async (content) => {
    const { upkeep } = fixture.store;
    await writeFile(join(folder, "mark.json"), content);
    await expect(fixture.store.info(everybody, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
    const [found] = await trashed(fixture.store);
    expect([found?.sessionId, found?.trashedAt]).toEqual([lock.id, undefined]);
    await upkeep.untrash(everybody, lock.id);
    expect(await texts(fixture.store, lock.id)).toEqual(five);
  },
);

it("a mark is put on a session beside its end, and the end stays its holder's", { tags: ["slow"] }, async () => {
  const other = await fixture.reopen();
  for (let round = 0; round < 20; round += 1) {
    const one = await sessionWith(fixture.store, 1);
    const keeping = other.upkeep.keep(everybody, one.id, { keptAt: "2026-01-01T00:00:00.000Z" });
    await Promise.all([keeping, fixture.store.finish(one, { ...stateOf("completed"), status: "completed" })]);
    expect(await other.upkeep.kept(everybody, one.id)).toBeDefined();
    expect((await other.info(everybody, one.id)).location).toBe(join(fixture.folder, "completed", one.id));
  }
});

it("who takes a session removes the drafts of dead processes, and leaves those of living ones to them", async () => {
  const [dead, before] = [".state.json.4194305.3.tmp", `.state.json.${process.pid}.999998.tmp`];
  const living = [`..lock.${process.ppid}.0.tmp`, `..lock.${process.pid}.999999.tmp`];
  for (const name of [dead, before, ...living]) await writeFile(join(folder, name), "{");
  // A process of this number that was there before this one, as in a container.
  await utimes(join(folder, before), 1, 1);
  const path = join(folder, ".lock");
  await writeFile(path, (await readFile(path, "utf8")).replace('"released":true', '"released":null'));
  const taken = await fixture.store.lock(everybody, lock.id);
  expect(taken.owner.generation).toBe(lock.owner.generation + 1);
  expect((await readdir(folder)).filter((name) => name.endsWith(".tmp")).sort()).toEqual(living.sort());
});

it("records of several kinds after a mended tail have one numbering", async () => {
  await appendFile(join(folder, "tools.jsonl"), '{"seq":1,"tool_na');
  const taken = await fixture.store.lock(everybody, lock.id);
  expect(taken.recovery.map((one) => one.file)).toEqual(["tools.jsonl"]);
  const stored = await fixture.store.append(taken, everyKind());
  expect(stored.map((one) => one.pos).sort((a, b) => a - b)).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
  expect(await readAll(fixture.store, lock.id, { kind: "tool" })).toHaveLength(2);
});

it("a line of a hundred megabytes is written, read and stepped over", { tags: ["slow"], timeout: 30_000 }, async () => {
  const big = await fixture.store.create(everybody, newSession());
  const text = "x".repeat(100 * 1024 * 1024);
  await fixture.store.append(big, [messageRecord("before")]);
  await fixture.store.append(big, [messageRecord(text, { id: "big" })]);
  await fixture.store.append(big, [messageRecord("after")]);
  expect(await texts(fixture.store, big.id, { last: 1 })).toEqual(["after"]);
  const [read] = await texts(fixture.store, big.id, { from: 2, limit: 1 });
  expect(read?.length).toBe(text.length);
});
