import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isWindrowError } from "windrow";
import type { Lock, Store } from "windrow";
import type { StoredRecord } from "windrow/store";
import { everybody, messageRecord, newSession, readAll, sqliteStore } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import type { Child } from "../kit/child.ts";
import { driver, openDatabase, sqliteFixture } from "../kit/sqlite-stores.ts";

let fixture: Awaited<ReturnType<typeof sqliteFixture>>;
beforeAll(async () => {
  if (driver) fixture = await sqliteFixture();
}, 60_000);
afterAll(async () => {
  if (driver) await fixture.close();
});

function start(...args: readonly string[]): Child {
  return startChild("test/store/child/sqlite-writer.js", [dist, fixture.file, ...args]);
}

async function newId(): Promise<string> {
  const lock = await fixture.store.create(everybody, newSession());
  await lock.release();
  return lock.id;
}

describe.skipIf(!driver)("a writer that is killed in the middle of its appends", () => {
  it("fifteen times loses nothing that it acknowledged, leaves no gap, and is followed at once", async () => {
    let acknowledged = 0;
    let awaited = 0;
    for (let session = 0; session < 3; session += 1) {
      const id = await newId();
      for (let round = 0; round < 5; round += 1) {
        const writer = start(id, `r${round}`);
        // The kill comes while the appends after this acknowledgement are under way.
        const least = 3 + ((7 * session + 5 * round) % 11);
        awaited += least;
        await writer.until((lines) => lines.length > least);
        await expect(fixture.store.lock(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
        await writer.kill();

        expect(await fixture.store.holding?.holder(everybody, id)).toMatchObject({ state: "gone" });
        const lock = await fixture.store.lock(everybody, id);
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
    expect(acknowledged).toBeGreaterThanOrEqual(awaited);
    const database = openDatabase(fixture.file);
    expect(database.prepare("PRAGMA integrity_check").all()).toMatchObject([{ integrity_check: "ok" }]);
    database.close();
    console.log(`15 kills of a SQLite writer: ${acknowledged} acknowledged, 0 lost`);
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
        await writer.until((lines) => lines.length >= 2 + 7 * round);
        const taken = await takeByForce(taker, writer, id);
        const [mine] = await taker.append(taken, [messageRecord("mine")]);
        writer.signal("SIGCONT");
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

/** A process that is stopped in the middle of a transaction keeps the database to itself: it goes on until it is done. */
async function takeByForce(store: Store, writer: Child, id: string): Promise<Lock> {
  for (;;) {
    const acknowledged = writer.lines().length;
    writer.signal("SIGSTOP");
    try {
      await store.holding?.unlock(everybody, id, { force: true, reason: "it was stopped" });
      return await store.lock(everybody, id);
    } catch (error) {
      if (!isWindrowError(error, "store-unavailable")) throw error;
      writer.signal("SIGCONT");
      await writer.until((lines) => lines.length > acknowledged);
    }
  }
}

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
