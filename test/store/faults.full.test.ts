import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  everybody,
  everyKind,
  filesStore,
  messageRecord,
  newSession,
  sessionWith,
  stateOf,
  texts,
} from "../kit/inside/store.ts";
import { closing, filesFixture, temporaryFolder } from "../kit/stores.ts";

const faults = vi.hoisted(() => ({ syncs: 0, torn: 0, calls: [] as string[], duringSync: () => {} }));

// The system's calls, each of which can be made to fail a given number of times.
vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<Record<"fdatasync" | "writeSync", (...values: unknown[]) => unknown>>();
  const fault = (code: string) => Object.assign(new Error(`${code}: injected`), { code });
  return {
    ...real,
    fdatasync(file: number, done: (error: Error | null) => void) {
      faults.calls.push(`sync ${file}`);
      faults.duringSync();
      if (faults.syncs === 0) return real.fdatasync(file, done);
      faults.syncs -= 1;
      return process.nextTick(done, fault("EIO"));
    },
    writeSync(file: number, bytes: Buffer, ...rest: never[]) {
      if (faults.torn === 0 || bytes.length === 512 || typeof bytes === "string")
        return real.writeSync(file, bytes, ...rest);
      faults.torn -= 1;
      real.writeSync(file, bytes.subarray(0, bytes.length >> 1));
      throw fault("ENOSPC");
    },
  };
});

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeEach(async () => {
  faults.syncs = 0;
  faults.torn = 0;
  faults.calls = [];
  faults.duringSync = () => {};
  fixture = closing(await filesFixture());
});

describe("a write that fails half way", () => {
  it("acknowledges nothing, leaves nothing in the file, and the next append succeeds", async () => {
    const lock = await sessionWith(fixture.store, 2);
    const log = join(fixture.folder, "running", lock.id, "messages.jsonl");
    const before = await readFile(log);
    faults.torn = 1;
    await expect(fixture.store.append(lock, [messageRecord("lost")])).rejects.toMatchObject({
      code: "not-durable",
      data: { reason: "ENOSPC" },
    });
    expect(await readFile(log)).toEqual(before);
    const [next] = await fixture.store.append(lock, [messageRecord("3")]);
    expect([next?.seq, next?.pos]).toEqual([3, 3]);
    expect(await texts(fixture.store, lock.id)).toEqual(["1", "2", "3"]);
  });

  it("takes back what the same append wrote to other files", async () => {
    const lock = await sessionWith(fixture.store, 1);
    const folder = join(fixture.folder, "running", lock.id);
    faults.torn = 1;
    const [message, ...others] = everyKind();
    const rest = fixture.store.append(lock, [...others, message!]);
    await expect(rest).rejects.toMatchObject({ code: "not-durable" });
    expect((await stat(join(folder, "tools.jsonl"))).size).toBe(0);
    expect(await texts(fixture.store, lock.id)).toEqual(["1"]);
    expect((await fixture.store.append(lock, everyKind())).map((one) => one.pos).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });

  it("of a state takes back no line that was appended in the same turn", async () => {
    const lock = await sessionWith(fixture.store, 1);
    const state = join(fixture.folder, "running", lock.id, "state.json");
    await rm(state);
    await mkdir(state);
    const [appended, changed] = await Promise.allSettled([
      fixture.store.append(lock, [messageRecord("2")]),
      fixture.store.setState(lock, stateOf("processing")),
    ]);
    expect(appended).toMatchObject({ value: [{ seq: 2, pos: 2 }] });
    expect(changed).toMatchObject({ reason: { code: "not-durable" } });
    expect(await fixture.store.append(lock, [messageRecord("3")])).toMatchObject([{ seq: 3, pos: 3 }]);
    await rm(state, { recursive: true });
    expect(await texts(fixture.store, lock.id)).toEqual(["1", "2", "3"]);
  });
});

describe("a sync that fails", () => {
  it("is not retried on the same handle: the file is opened anew and cut back", async () => {
    const lock = await sessionWith(fixture.store, 2);
    faults.calls = [];
    faults.syncs = 1;
    await expect(fixture.store.append(lock, [messageRecord("lost")])).rejects.toMatchObject({ code: "not-durable" });
    const [next] = await fixture.store.append(lock, [messageRecord("3")]);
    expect([next?.seq, next?.pos]).toEqual([3, 3]);
    expect(faults.calls).toHaveLength(2);
    expect(faults.calls[0]).not.toBe(faults.calls[1]);
    expect(await texts(fixture.store, lock.id)).toEqual(["1", "2", "3"]);
  });

  it("again and again acknowledges nothing and keeps what was acknowledged before", async () => {
    const lock = await sessionWith(fixture.store, 2);
    faults.syncs = 5;
    for (let count = 0; count < 5; count += 1) {
      await expect(fixture.store.append(lock, [messageRecord("lost")])).rejects.toMatchObject({ code: "not-durable" });
    }
    const other = await fixture.reopen();
    expect(await texts(other, lock.id)).toEqual(["1", "2"]);
    await fixture.store.append(lock, [messageRecord("3")]);
    await lock.release();
    expect((await other.lock(everybody, lock.id)).recovery).toEqual([]);
    expect(await texts(other, lock.id)).toEqual(["1", "2", "3"]);
  });
});

describe("what is synced when", () => {
  it("strict: each append before it is acknowledged, once for all that came together", async () => {
    const lock = await sessionWith(fixture.store, 0);
    faults.calls = [];
    await fixture.store.append(lock, [messageRecord("1")]);
    expect(faults.calls).toHaveLength(1);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => fixture.store.append(lock, [messageRecord(String(index))])),
    );
    expect(faults.calls.length).toBeLessThanOrEqual(4);
  });

  it("group: no append while it is made, but every log before the state", async () => {
    const clock = { now: () => Date.now(), every: () => () => {} };
    const store = filesStore({ folder: fixture.folder, durability: "group", clock });
    const lock = await sessionWith(store, 3);
    expect(faults.calls).toHaveLength(0);
    await store.setState(lock, stateOf("processing"));
    expect(faults.calls).toHaveLength(1);
    await store.setState(lock, stateOf("processing", 2));
    expect(faults.calls).toHaveLength(1);
    await store.close();
  });
});

describe("a disk that is full", () => {
  it("refuses what does not fit, keeps what was acknowledged, and goes on with what fits", async ({ skip }) => {
    const folder = await temporaryFolder();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], { stdio: "ignore" });
    } catch {
      console.log("skipped: a small file system cannot be mounted here");
      await rm(folder, { recursive: true });
      return skip();
    }
    try {
      const store = filesStore({ folder });
      const lock = await store.create(everybody, newSession());
      const kept: string[] = [];
      const append = async (text: string) => {
        await store.append(lock, [messageRecord(text, { id: "m" })]);
        kept.push(text);
      };
      const refusals: unknown[] = [];
      for (let count = 0; count < 40; count += 1) {
        await append(`${count} ${"x".repeat(20_000)}`).catch((error: { code?: string; data?: { reason?: string } }) => {
          refusals.push([error.code, error.data?.reason]);
        });
      }
      expect(refusals.length).toBeGreaterThan(0);
      for (const one of refusals) expect(one).toEqual(["not-durable", "ENOSPC"]);
      expect(kept.length).toBeGreaterThan(2);
      await append("small");
      expect(await texts(store, lock.id)).toEqual(kept);
      await store.close();
      const again = filesStore({ folder });
      expect((await again.lock(everybody, lock.id)).recovery).toEqual([]);
      expect(await texts(again, lock.id)).toEqual(kept);
      await again.close();
    } finally {
      execFileSync("umount", ["-l", folder]);
      await rm(folder, { recursive: true });
    }
  });
});

describe("a finish that fails while the store is closed", () => {
  it("tells its caller, and leaves the session released and to be gone on with", async () => {
    const lock = await sessionWith(fixture.store, 2);
    faults.torn = 1;
    const ending = fixture.store.finish(lock, { ...stateOf("completed"), status: "completed" });
    const closing = fixture.store.close();
    await expect(ending).rejects.toMatchObject({ code: "not-durable" });
    await closing;
    expect(faults.torn).toBe(0);

    const later = filesStore({ folder: fixture.folder });
    const again = await later.lock(everybody, lock.id);
    await later.append(again, [messageRecord("three")]);
    expect(await texts(later, lock.id)).toHaveLength(3);
    await later.close();
  });
});
