import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "windrow/store/author";
import { systemDisk } from "../kit/inside/disk.ts";
import { everybody, filesStore, messageRecord, sessionWith, stateOf, texts } from "../kit/inside/store.ts";
import { closing, filesFixture } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
let now: number;
let beats: (() => void)[];
const clock: Clock = {
  now: () => now,
  elapsed: () => now,
  every(_milliseconds, run) {
    beats.push(run);
    return () => void (beats = beats.filter((one) => one !== run));
  },
};
beforeEach(async () => {
  fixture = closing(await filesFixture());
  now = Date.parse("2024-01-15T10:30:00.000Z");
  beats = [];
});

function recordOf(fields: object): string {
  const body = JSON.stringify(fields).slice(0, -1);
  return `${body},"crc":"${crc32(body).toString(16).padStart(8, "0")}"}`.padEnd(511) + "\n";
}

const withoutLocks = { ...systemDisk, tryLock: () => undefined, unlock: () => undefined };

describe("a system without kernel locks", () => {
  it("respects a holder that gives signs of life, and takes over from one silent for a minute, with a fence", async () => {
    const { folder } = fixture;
    const holder = closing(filesStore({ folder, clock }, { disk: withoutLocks }));
    const other = closing(filesStore({ folder, clock }, { disk: withoutLocks }));
    const lock = await sessionWith(holder, 2);
    const busy = expect.objectContaining({ code: "session-busy" }) as Error;
    await expect(other.lock(everybody, lock.id)).rejects.toEqual(busy);
    now += 59_000;
    beats[0]!();
    now += 2_000;
    await expect(other.lock(everybody, lock.id)).rejects.toEqual(busy);
    now += 60_001;
    const taken = await other.lock(everybody, lock.id);
    await other.append(taken, [messageRecord("3")]);
    await expect(holder.append(lock, [messageRecord("late")])).rejects.toMatchObject({ code: "fenced" });
    expect(await texts(other, lock.id)).toEqual(["1", "2", "3"]);
  });
});

it("a holder on another host is waited for as long, whatever the kernel says here", async () => {
  const lock = await sessionWith(fixture.store, 1);
  await lock.release();
  const path = join(fixture.folder, "running", lock.id, ".lock");
  const owner = { process_id: 7, hostname: "elsewhere", acquired_at: "", heartbeat_at: "" };
  await writeFile(path, recordOf({ ...owner, generation: 9, boot_id: "b" }));
  const store = closing(filesStore({ folder: fixture.folder, clock }));
  await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({
    code: "session-busy",
    data: { owner: { hostname: "elsewhere" }, retryAfterMs: 60_000 },
  });
  now += 60_001;
  expect((await store.lock(everybody, lock.id)).owner.generation).toBe(10);
});

it("a takeover by force that was cut short keeps nobody out", async () => {
  const lock = await sessionWith(fixture.store, 1);
  await lock.release();
  const path = join(fixture.folder, "running", lock.id, ".lock");
  const {
    released: _released,
    crc: _crc,
    ...fields
  } = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  await writeFile(path, recordOf({ ...fields, process_id: 4_194_305, stealing: true }));
  expect((await fixture.store.holding.holder(everybody, lock.id)).state).toBe("gone");
  const taken = await fixture.store.lock(everybody, lock.id);
  expect(await texts(fixture.store, lock.id)).toEqual(["1"]);
  await taken.release();
});

describe("state.json", () => {
  it("is given up after 5 seconds while another process holds .state.lock, and can be tried again", async () => {
    const store = closing(filesStore({ folder: fixture.folder, clock }));
    const lock = await sessionWith(store, 0);
    const file = await open(join(fixture.folder, "running", lock.id, ".state.lock"), "w+");
    systemDisk.tryLock(file.fd, 0);
    const change = store.setState(lock, stateOf("processing"));
    const refused = change.catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    now += 4_950;
    for (const beat of beats) beat();
    now += 50;
    for (const beat of beats) beat();
    expect(await refused).toMatchObject({ code: "session-busy", data: { timeoutMs: 5_000 } });
    await file.close();
    await store.setState(lock, stateOf("processing"));
    expect((await store.info(everybody, lock.id)).state.status).toBe("processing");
  });

  it("keeps the fields of another writer when it is rewritten", async () => {
    const lock = await sessionWith(fixture.store, 0);
    await lock.release();
    const path = join(fixture.folder, "running", lock.id, "state.json");
    const fields = JSON.parse(await readFile(path, "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...fields, my_tool: { mood: "good" } }));
    const again = await fixture.store.lock(everybody, lock.id);
    await fixture.store.setState(again, stateOf("processing", 4));
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ llm_call_count: 4, my_tool: { mood: "good" } });
  });
});
