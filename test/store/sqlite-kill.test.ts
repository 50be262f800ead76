import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isWindrowError } from "../../src/errors.ts";
import type { StoredRecord } from "../../src/message/record.ts";
import type { Lock, Store } from "../../src/store/store.ts";
import { everybody, messageRecord, newSession, readAll } from "../../src/store/testing/kit.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { buildSource } from "../support/build.ts";
import { driver, openDatabase, sqliteFixture } from "./sqlite-fixtures.ts";

let build: Awaited<ReturnType<typeof buildSource>>;
let fixture: Awaited<ReturnType<typeof sqliteFixture>>;
beforeAll(async () => {
  build = await buildSource();
  if (driver) fixture = await sqliteFixture();
}, 60_000);
afterAll(async () => {
  if (driver) await fixture.close();
  await build.remove();
});

/** A process of ours that writes, and what it has said. */
function start(...args: readonly string[]) {
  const script = resolve("test/store/child/sqlite-writer.js");
  const child = spawn(process.execPath, [script, build.folder, fixture.file, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "close");
  return {
    child,
    ended,
    lines: () =>
      said
        .slice(0, said.lastIndexOf("\n") + 1)
        .split("\n")
        .slice(0, -1),
    async until(line: string | RegExp) {
      while (typeof line === "string" ? !said.includes(`${line}\n`) : !line.test(said)) {
        if (child.exitCode !== null) throw new Error(`the writer ended with ${child.exitCode}: ${said}`);
        await Promise.race([once(child.stdout, "data"), ended]);
      }
    },
  };
}

async function newId(): Promise<string> {
  const lock = await fixture.store.create(everybody, newSession());
  await lock.release();
  return lock.id;
}

describe.skipIf(!driver)("a writer that is killed in the middle of its appends", () => {
  it("fifteen times loses nothing that it acknowledged, leaves no gap, and is followed at once", async () => {
    let acknowledged = 0;
    const takeovers: number[] = [];
    for (let session = 0; session < 3; session += 1) {
      const id = await newId();
      for (let round = 0; round < 5; round += 1) {
        const writer = start(id, `r${round}`);
        await writer.until("ready");
        await writer.until(/ .*\n.* .*\n/);
        await sleep(Math.random() * 200);
        await expect(fixture.store.lock(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
        writer.child.kill("SIGKILL");
        await writer.ended;

        expect(await fixture.store.holder?.(everybody, id)).toMatchObject({ state: "gone" });
        const before = performance.now();
        const lock = await fixture.store.lock(everybody, id);
        takeovers.push(performance.now() - before);
        const records = await everyRecord(id);
        expect(records.map((one) => one.pos)).toEqual(records.map((_, index) => index + 1));
        const kept = new Map(records.map((one) => [one.pos, one]));
        for (const line of writer.lines().slice(1)) {
          const [kind, seq, pos, name, size] = line.split(" ");
          const record = kept.get(Number(pos));
          expect(record && summary(record), line).toEqual({ kind, seq: Number(seq), name, size: Number(size) });
          acknowledged += 1;
        }
        await lock.release();
      }
    }
    expect(acknowledged).toBeGreaterThanOrEqual(15);
    const database = openDatabase(fixture.file);
    expect(database.prepare("PRAGMA integrity_check").all()).toMatchObject([{ integrity_check: "ok" }]);
    database.close();
    const slowest = Math.max(...takeovers).toFixed(1);
    console.log(`15 kills of a SQLite writer: ${acknowledged} acknowledged, 0 lost; slowest takeover ${slowest} ms`);
  }, 120_000);
});

describe.skipIf(!driver || process.platform === "win32")(
  "a writer that is stopped in the middle of its appends",
  () => {
    it("loses its session by force, nothing that it acknowledged, and writes nothing more when it goes on", async () => {
      await fixture.store.close();
      const database = openDatabase(fixture.file);
      const taker = sqliteStore({ database });
      database.exec("PRAGMA busy_timeout = 100");
      fixture = { ...fixture, store: taker };
      for (let round = 0; round < 3; round += 1) {
        const id = await newId();
        const writer = start(id, `s${round}`);
        await writer.until("ready");
        while (writer.lines().length < 2) await Promise.race([once(writer.child.stdout, "data"), writer.ended]);
        await sleep(Math.random() * 200);
        const taken = await takeByForce(taker, writer.child, id);
        const [mine] = await taker.append(taken, [messageRecord("mine")]);
        writer.child.kill("SIGCONT");
        await writer.ended;
        expect(writer.lines().at(-1)).toBe("fenced");
        const records = await everyRecord(id);
        expect(records.map((one) => one.pos)).toEqual(records.map((_, index) => index + 1));
        expect(records.at(-1)?.pos).toBe(mine?.pos);
        const acknowledged = writer.lines().filter((line) => line.includes(" "));
        expect(acknowledged.length).toBeGreaterThan(0);
        for (const line of acknowledged) expect(records.length).toBeGreaterThanOrEqual(Number(line.split(" ")[2]));
        await taken.release();
      }
      await taker.close();
      fixture = { ...fixture, store: await fixture.reopen() };
    }, 120_000);
  },
);

/** A process that is stopped in the middle of a transaction keeps the database to itself: it is let go for a moment. */
async function takeByForce(store: Store, child: ChildProcess, id: string): Promise<Lock> {
  for (;;) {
    child.kill("SIGSTOP");
    try {
      await store.unlock?.(everybody, id, { force: true, reason: "it was stopped" });
      return await store.lock(everybody, id);
    } catch (error) {
      if (!isWindrowError(error, "store-unavailable")) throw error;
      child.kill("SIGCONT");
      await sleep(5);
    }
  }
}

describe.skipIf(!driver)("four processes", () => {
  const each = 1_000;

  it("that want one session: one writes its thousand, the others are told who does", async () => {
    const id = await newId();
    const first = start(id, "p0", String(each), "hold");
    await first.until("ready");
    const rivals = [1, 2, 3].map((number) => start(id, `p${number}`, String(each), "no"));
    await Promise.all(rivals.map(({ ended }) => ended));
    await first.until("done");
    first.child.kill("SIGKILL");
    await first.ended;
    for (const rival of rivals) expect(rival.lines()).toEqual([`session-busy ${first.child.pid}`]);
    const records = await readAll(fixture.store, id, { kind: "message" });
    expect(records.map((one) => one.seq)).toEqual(Array.from({ length: each }, (_, index) => index + 1));
    expect(new Set(records.map((one) => one.message.id)).size).toBe(each);
  }, 120_000);

  it("that write a session each: four thousand records, none twice", async () => {
    const ids = [await newId(), await newId(), await newId(), await newId()];
    const writers = ids.map((id, index) => start(id, `w${index}`, String(each)));
    await Promise.all(writers.map(({ ended }) => ended));
    for (const [index, id] of ids.entries()) {
      expect(writers[index]?.lines().at(-1)).toBe("done");
      const records = await readAll(fixture.store, id, { kind: "message" });
      expect(new Set(records.map((one) => one.message.id)).size).toBe(records.length);
      expect(records.length).toBe(each);
      expect(records.map((one) => one.seq)).toEqual(records.map((_, place) => place + 1));
    }
  }, 120_000);
});

async function everyRecord(id: string): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (const kind of ["message", "call", "tool", "edit"] as const) {
    records.push(...(await readAll(fixture.store, id, { kind })));
  }
  return records.sort((a, b) => a.pos - b.pos);
}

function summary(record: StoredRecord): object {
  const { kind, seq } = record;
  if (record.kind !== "message") return { kind, seq, name: "callId" in record ? record.callId : "", size: 0 };
  const part = record.message.parts[0];
  const size = part?.type === "text" && /^x*$/.test(part.text) ? part.text.length : -1;
  return { kind, seq, name: record.message.id, size };
}
