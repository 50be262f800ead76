import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoredRecord } from "windrow/store";
import { everybody, newSession, readAll, sessionWith } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import { filesFixture } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeAll(async () => {
  fixture = await filesFixture();
}, 60_000);
afterAll(async () => {
  await fixture.close();
});

describe("a writer that is killed in the middle of its appends", () => {
  it("twenty times loses nothing that it acknowledged, and leaves no gap", async () => {
    let acknowledged = 0;
    let awaited = 0;
    let mended = 0;
    for (let session = 0; session < 4; session += 1) {
      const { uuid } = newSession();
      await (await fixture.store.create(everybody, newSession({ uuid }))).release();
      for (let round = 0; round < 5; round += 1) {
        const writer = startChild("test/store/child/writer.js", [dist, fixture.folder, uuid, `r${round}`]);
        // The kill comes while the appends after this acknowledgement are under way.
        const least = 3 + ((7 * session + 5 * round) % 11);
        awaited += least;
        await writer.until((lines) => lines.length > least);
        await writer.kill();

        const lock = await fixture.store.lock(everybody, uuid);
        mended += lock.recovery.length;
        expect(lock.recovery.every((one) => one.problem === "torn-tail")).toBe(true);
        const records = await everyRecord(uuid);
        const kept = new Map(records.map((one) => [one.pos, one]));
        expect(records.map((one) => one.pos)).toEqual(records.map((_, index) => index + 1));
        for (const line of writer.lines().slice(1)) {
          const [kind, seq, pos, id, size] = line.split(" ");
          const record = kept.get(Number(pos));
          expect(record && summary(record), line).toEqual({ kind, seq: Number(seq), id, size: Number(size) });
          acknowledged += 1;
        }
        const damaged = (await fixture.store.recovery(everybody, uuid)).filter((one) => one.problem === "damaged");
        expect(damaged).toEqual([]);
        await lock.release();
      }
    }
    expect(acknowledged).toBeGreaterThanOrEqual(awaited);
    console.log(`20 kills: ${acknowledged} acknowledged, 0 lost; ${mended} torn tails mended`);
  }, 120_000);
});

describe("two processes that want one session", () => {
  it("at the same time: exactly one wins, the other is told who did", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      const lock = await sessionWith(fixture.store, 1);
      await lock.release();
      ids.push(lock.id);
    }
    const rivals = [0, 1].map(() => startChild("test/store/child/rival.js", [dist, fixture.folder]));
    try {
      await Promise.all(rivals.map((rival) => rival.line(0)));
      for (const [index, id] of ids.entries()) {
        for (const rival of rivals) rival.tell(id);
        await Promise.all(rivals.map((rival) => rival.line(index + 1)));
      }
      for (const id of ids) {
        const results = rivals.flatMap((rival) =>
          rival
            .lines()
            .filter((line) => line.startsWith(id))
            .map((line) => line.split(" ")),
        );
        const winner = results.find(([, result]) => result === "won");
        const loser = results.find(([, result]) => result === "session-busy");
        expect(winner && loser, JSON.stringify(results)).toBeDefined();
        await expect(fixture.store.lock(everybody, id)).rejects.toMatchObject({
          code: "session-busy",
          data: { owner: { processId: Number(winner?.[2]) } },
        });
      }
    } finally {
      await Promise.all(rivals.map((rival) => rival.kill()));
    }
    for (const id of ids) expect((await fixture.store.lock(everybody, id)).owner.generation).toBeGreaterThan(2);
  }, 30_000);
});

async function everyRecord(id: string): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (const kind of ["message", "call", "tool"] as const)
    records.push(...(await readAll(fixture.store, id, { kind })));
  return records.sort((a, b) => a.pos - b.pos);
}

function summary(record: StoredRecord): object {
  if (record.kind !== "message") {
    return { kind: record.kind, seq: record.seq, id: "callId" in record ? record.callId : "", size: 0 };
  }
  const part = record.message.parts[0];
  const size = part?.type === "text" && /^x*$/.test(part.text) ? part.text.length : -1;
  return { kind: record.kind, seq: record.seq, id: record.message.id, size };
}
