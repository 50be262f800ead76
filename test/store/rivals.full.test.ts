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
  it.skipIf(name === "sqlite" && !driver)(
    "and one session: one writes, three are told who does",
    async () => {
      const fixture = closing(await open());
      const id = await newSessionIn(fixture.store);
      const rivals = await Promise.all([1, 2, 3, 4].map((one) => start(urlOf(fixture.folder), id, `p${one}`)));
      for (const rival of rivals) rival.go();
      const outcomes = await Promise.all(rivals.map((rival) => rival.outcome()));
      const winner = outcomes.indexOf(`wrote ${appends}`);
      const busy = `session-busy ${rivals[winner]?.pid}`;
      expect(outcomes.filter((_, index) => index !== winner)).toEqual([busy, busy, busy]);
      await Promise.all(rivals.map((rival) => rival.end()));
      const ids = await idsOf(fixture.store, id);
      expect(ids).toHaveLength(appends);
      expect(new Set(ids).size).toBe(appends);
      expect(ids.every((one) => one.startsWith(`p${winner + 1}-`))).toBe(true);
    },
    60_000,
  );

  it.skipIf(name === "sqlite" && !driver)(
    "and four sessions: 4,000 records, none twice, none lost",
    async () => {
      const fixture = closing(await open());
      const sessions = await Promise.all([1, 2, 3, 4].map(() => newSessionIn(fixture.store)));
      const writers = await Promise.all(sessions.map((id, index) => start(urlOf(fixture.folder), id, `p${index}`)));
      for (const writer of writers) writer.go();
      expect(await Promise.all(writers.map((writer) => writer.outcome()))).toEqual(Array(4).fill(`wrote ${appends}`));
      await Promise.all(writers.map((writer) => writer.end()));
      const all: string[] = [];
      for (const [index, id] of sessions.entries()) {
        const ids = await idsOf(fixture.store, id);
        expect(ids.every((one) => one.startsWith(`p${index}-`))).toBe(true);
        all.push(...ids);
      }
      expect([all.length, new Set(all).size]).toEqual([4 * appends, 4 * appends]);
    },
    60_000,
  );
});

it("nobody finds, takes or makes a session that another one is just making in a folder", async () => {
  const fixture = closing(await filesFixture());
  const uuid = "01020304-0506-4708-890a-0b0c0d0e0f10";
  const codes: unknown[] = [];
  const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;
  const disk = {
    ...systemDisk,
    async sync(file: number) {
      await systemDisk.sync(file);
      if (codes.length > 30) return;
      codes.push(
        ...(await Promise.all([
          fixture.store.lock(everybody, uuid).catch(codeOf),
          fixture.store.create(everybody, newSession({ uuid })).catch(codeOf),
        ])),
      );
      codes.push(await fixture.store.info(everybody, uuid).then(() => "found", codeOf));
    },
  };
  await newSessionIn(fixture.store);
  const slow = filesStore({ folder: fixture.folder }, { disk });
  const lock = await slow.create(everybody, newSession({ uuid }));
  await slow.append(lock, [messageRecord("one")]);
  await lock.release();
  expect(codes.length).toBeGreaterThan(8);
  const known = ["session-not-found", "session-busy", "session-exists", "found"];
  expect(codes.filter((code) => !known.includes(String(code)))).toEqual([]);
  expect((await readAll(fixture.store, uuid, { kind: "message" })).map(({ message }) => message.id)).toEqual(["m-one"]);
  await slow.close();
});
