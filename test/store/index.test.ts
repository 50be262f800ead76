import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { systemDisk } from "../kit/inside/disk.ts";
import type { Disk } from "../kit/inside/disk.ts";
import { everybody, filesStore, listAll, newSession, sessionWith, stateOf } from "../kit/inside/store.ts";
import { closing, filesFixture } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeEach(async () => void (fixture = closing(await filesFixture())));

const ids = (sessions: Awaited<ReturnType<typeof listAll>>): readonly string[] =>
  sessions.map((one) => one.metadata.uuid).sort();

describe("the index of all sessions", () => {
  it("has a line for each that was made and each that ended, 0600", async () => {
    const lock = await sessionWith(fixture.store, 1);
    await fixture.store.finish(lock, stateOf("failed"));
    const lines = (await readFile(join(fixture.folder, "index.jsonl"), "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { uuid: lock.id, created_at: "2024-01-15T10:30:00.123Z" },
      { uuid: lock.id, status: "failed" },
    ]);
  });

  it("is never the truth: missing, damaged, too short or too long, the list is the same", async () => {
    const made = [await sessionWith(fixture.store, 1), await sessionWith(fixture.store, 1)];
    await fixture.store.finish(made[0]!, stateOf("completed"));
    const path = join(fixture.folder, "index.jsonl");
    const expected = made.map((one) => one.id).sort();
    const whole = readFileSync(path);
    const damages: readonly (() => void)[] = [
      () => rmSync(path),
      () => writeFileSync(path, Buffer.alloc(300)),
      () => writeFileSync(path, whole.subarray(0, 90)),
      () =>
        writeFileSync(path, `${whole.toString()}{"uuid":"${randomUUID()}","created_at":"2024-01-01T00:00:00.000Z"}\n`),
    ];
    for (const damage of damages) {
      damage();
      for (const store of [fixture.store, await fixture.reopen()]) {
        expect(ids(await listAll(store))).toEqual(expected);
        expect(await listAll(store, everybody, { status: "completed" })).toHaveLength(1);
      }
    }
    expect(await fixture.store.checkup.rebuildIndex()).toBe(2);
    expect(ids(await listAll(await fixture.reopen()))).toEqual(expected);
  });

  it("does not hide a session that came or went behind its back", async () => {
    const lock = await sessionWith(fixture.store, 0);
    expect(await listAll(fixture.store)).toHaveLength(1);
    const other = closing(filesStore({ folder: fixture.folder }));
    await other.create(everybody, newSession());
    expect(await listAll(fixture.store)).toHaveLength(2);
    rmSync(join(fixture.folder, "running", lock.id), { recursive: true });
    expect(await listAll(fixture.store)).toHaveLength(1);
  });

  it("serves lists that are asked for at the same time", async () => {
    const made = [await sessionWith(fixture.store, 1), await sessionWith(fixture.store, 1)].map(({ id }) => id);
    const store = await fixture.reopen();
    const lists = await Promise.all([listAll(store), listAll(store), listAll(store)]);
    for (const list of lists) expect(ids(list)).toEqual([...made].sort());
  });

  it("that is cut within a line while it is read takes no more room than it had", async () => {
    const made = [await sessionWith(fixture.store, 1), await sessionWith(fixture.store, 1)].map(({ id }) => id);
    const path = join(fixture.folder, "index.jsonl");
    await appendFile(path, "x".repeat(100_000));
    const { size } = statSync(path);
    let largest = 0;
    const disk: Disk = {
      ...systemDisk,
      readLater(file, bytes, ...place) {
        largest = Math.max(largest, bytes.length);
        truncateSync(path, 10);
        return systemDisk.readLater(file, bytes, ...place);
      },
    };
    const store = closing(filesStore({ folder: fixture.folder }, { disk }));
    expect(ids(await listAll(store))).toEqual([...made].sort());
    expect(largest).toBeLessThanOrEqual(size);
  });

  it("leaves the others in their order where a line has a time that is none", async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => sessionWith(fixture.store, 0)));
    const times = made.map((_, place) => (place % 3 === 1 ? "none" : `2026-01-0${1 + (place % 9)}T00:00:00.000Z`));
    const lines = made.map(({ id }, place) => `${JSON.stringify({ uuid: id, created_at: times[place] })}\n`);
    writeFileSync(join(fixture.folder, "index.jsonl"), lines.join(""));
    const store = closing(filesStore({ folder: fixture.folder }));
    const listed = (await listAll(store)).map(
      ({ metadata }) => times[made.findIndex(({ id }) => id === metadata.uuid)],
    );
    const timed = times.filter((time) => time !== "none");
    expect(listed).toEqual([...timed.sort().reverse(), "none", "none", "none", "none"]);
  });

  it("saves looking into every session once it was read", { tags: ["slow"] }, async () => {
    const one = await sessionWith(fixture.store, 0);
    const metadata = readFileSync(join(fixture.folder, "running", one.id, "metadata.json"), "utf8");
    const lines: string[] = [];
    for (let count = 0; count < 3_000; count += 1) {
      const id = randomUUID();
      const folder = join(fixture.folder, "completed", id);
      mkdirSync(folder);
      writeFileSync(join(folder, "metadata.json"), metadata.replace(one.id, id));
      lines.push(`{"uuid":"${id}","created_at":"2024-01-16T00:00:00.000Z","user":"somebody","status":"completed"}\n`);
    }
    // Damage and a line longer than what is read at once hide nothing around them.
    lines.splice(1_000, 0, '{"uuid":"torn\n', "\n", `{"uuid":"${randomUUID()}","user":"${"å".repeat(400_000)}"}\n`);
    await appendFile(join(fixture.folder, "index.jsonl"), lines.join(""));
    let read = 0;
    const disk = { ...systemDisk, readFile: (path: string) => ((read += 1), systemDisk.readFile(path)) };
    const store = closing(filesStore({ folder: fixture.folder }, { disk }));
    // A folder that has just changed is looked into again.
    const past = new Date("2024-01-16T00:00:00.000Z");
    for (const name of ["running", "completed"]) utimesSync(join(fixture.folder, name), past, past);
    await listAll(store, everybody, { limit: 1 });
    expect(read).toBeLessThan(100);
    read = 0;
    expect(await listAll(store, everybody, { status: "processing", limit: 20 })).toEqual([]);
    expect(read).toBeLessThan(5);
  });
});
