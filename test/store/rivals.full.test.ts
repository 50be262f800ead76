/** Four processes on one store: to one session exactly one of them writes; to four, all of them. */
import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { systemDisk } from "../kit/inside/disk.ts";
import { everybody, filesStore, messageRecord, newSession, readAll, sessionWith } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import { filesFixture } from "../kit/stores.ts";
import { driver, sqliteFixture } from "../kit/sqlite-stores.ts";
import { closing } from "./stage.ts";

const appends = 1_000;

/** A process that waits for `go`, then tells its outcome in one line, and lets go at `end`. */
async function start(url: string, id: string, prefix: string) {
  const child = startChild("test/store/child/appender.js", [dist, url, id, prefix, String(appends)]);
  await child.line(0);
  return { pid: child.pid, go: () => child.tell("go"), outcome: () => child.line(1), end: child.end };
}

async function newSessionIn(store: Store): Promise<string> {
  const lock = await sessionWith(store, 0);
  await lock.release();
  return lock.id;
}

async function idsOf(store: Store, id: string): Promise<readonly string[]> {
  const records = await readAll(store, id, { kind: "message" });
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  return records.map(({ message }) => message.id);
}

describe.each([
  ["files", filesFixture, (folder: string) => folder],
  ["sqlite", sqliteFixture, (folder: string) => `sqlite:${folder}/contexts.db`],
] as const)("four processes, %s", (name, open, urlOf) => {
  it.skipIf(name === "sqlite" && !driver).each([1, 4])(
    "on sessions, %i: one writes each, whole, and the others are told who does",
    { timeout: 60_000 },
    async (count) => {
      const fixture = closing(await open());
      const ids = await Promise.all(Array.from({ length: count }, () => newSessionIn(fixture.store)));
      const idOf = (place: number): string => ids[place % count]!;
      const rivals = await Promise.all([0, 1, 2, 3].map((at) => start(urlOf(fixture.folder), idOf(at), `p${at}`)));
      for (const rival of rivals) rival.go();
      const outcomes = await Promise.all(rivals.map((rival) => rival.outcome()));
      await Promise.all(rivals.map((rival) => rival.end()));
      const winners = [...rivals.keys()].filter((at) => outcomes[at] === `wrote ${appends}`);
      expect(new Set(winners.map(idOf))).toEqual(new Set(ids));
      for (const winner of winners) {
        const written = await idsOf(fixture.store, idOf(winner));
        expect([written.length, new Set(written).size]).toEqual([appends, appends]);
        expect(written.every((one) => one.startsWith(`p${winner}-`))).toBe(true);
        const others = outcomes.filter((_, at) => at !== winner && idOf(at) === idOf(winner));
        expect(new Set(others)).toEqual(new Set(others.map(() => `session-busy ${rivals[winner]?.pid}`)));
        expect(others).toHaveLength(4 / count - 1);
      }
    },
  );
});

it("nobody finds or takes a session that another one is just making in a folder", async () => {
  const fixture = closing(await filesFixture());
  const uuid = "01020304-0506-4708-890a-0b0c0d0e0f10";
  const codes: unknown[] = [];
  const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;
  const disk = {
    ...systemDisk,
    async sync(file: number) {
      await systemDisk.sync(file);
      if (codes.length > 30) return;
      codes.push(await fixture.store.lock(everybody, uuid).catch(codeOf));
      codes.push(await fixture.store.info(everybody, uuid).then(() => "found", codeOf));
    },
  };
  await newSessionIn(fixture.store);
  const slow = closing(filesStore({ folder: fixture.folder }, { disk }));
  const lock = await slow.create(everybody, newSession({ uuid }));
  await slow.append(lock, [messageRecord("one")]);
  await lock.release();
  expect(codes.length).toBeGreaterThan(6);
  const known = ["session-not-found", "session-busy", "found"];
  expect(codes.filter((code) => !known.includes(String(code)))).toEqual([]);
  expect((await readAll(fixture.store, uuid, { kind: "message" })).map(({ message }) => message.id)).toEqual(["m-one"]);
});
