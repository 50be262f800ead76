/** Finished sessions in an archive: read on, brought back, erased, and never lost, whatever is killed. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, inject, it } from "vitest";
import { SessionManager } from "windrow";
import type { Scope, Store } from "windrow";
import { doctor, search, stats, viewSession } from "windrow/ops";
import {
  everybody,
  finishedSession,
  messageRecord,
  newSession,
  readAll,
  refused,
  stateOf,
  summaryOf,
} from "../../kit/inside/store.ts";
import { startChild } from "../../kit/child.ts";
import { newArchive, objectsIn, storeKinds } from "./kinds.ts";
import { opened } from "../stage.ts";
import { held } from "../../kit/stores.ts";

/** A session that ended, with lines of several logs. */
async function finished(store: Store, turns = 6, scope: Scope = everybody): Promise<string> {
  const manager = await SessionManager.open({ store, budget: 4_000, ...scope });
  const session = await manager.create({ taskKey: { task: "archive" } });
  for (let turn = 0; turn < turns; turn++) {
    await session.append(`question ${turn} about the heron`);
    await session.compose();
    const call = { type: "tool-call", callId: `c${turn}`, name: "look", args: {} } as const;
    await session.append({ role: "assistant", parts: [call] });
    await (await session.startTool(call)).finish(`result ${turn} ${"x".repeat(3_000)}`);
    await session.endStep({ usage: { input: 100, output: 5 } });
  }
  await session.finish("completed");
  return session.id;
}

async function contents(store: Store, id: string, scope: Scope = everybody): Promise<unknown> {
  const dump = await store.transfer.dump(scope, id);
  const records = [];
  for (const kind of ["message", "call", "tool", "usage", "summary", "snapshot", "edit"] as const) {
    records.push(await readAll(store, id, { kind }, scope));
  }
  return { records, metadata: dump.metadata, state: dump.state, summary: await summaryOf(dump) };
}

/** Has a process work that is killed at a step; says where it was killed, or undefined where it came to its end. */
async function killed(...args: readonly string[]): Promise<string | undefined> {
  const process_ = startChild("test/store/child/archiver.js", [inject("dist"), ...args]);
  const how = await process_.ended;
  const [said = ""] = process_.lines();
  const isExpected = how === 0 ? said === "done" : how === "SIGKILL" && said.startsWith("killed");
  if (!isExpected) throw new Error(`ended with ${how}: ${said}`);
  return how === 0 ? undefined : said;
}

async function isThere(store: Store, id: string): Promise<boolean> {
  const before = await contents(store, id).catch(() => undefined);
  return before !== undefined;
}

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an archive beside ${kind.name}`, () => {
    /** A store with an archive beside it, each in a place of its own. */
    async function beside() {
      const [address, archive] = [await kind.address(), await newArchive()];
      return { address, archive, store: await opened(address, { archive }) };
    }

    it("takes a finished session, and everything reads it on, to the byte", async () => {
      const { archive, store } = await beside();
      const id = await finished(store);
      const before = await contents(store, id);
      const done = await store.archiving!.archive(everybody, id);
      const { mark } = done;
      expect(done).toMatchObject({ sessionId: id, outcome: "archived" });
      expect(mark.objectBytes).toBeLessThan(mark.bytes);
      expect(objectsIn(archive)).toEqual([join(id, mark.key.split("/")[1] ?? "")]);
      expect(await contents(store, id)).toEqual(before);
      // The object is the very lines, behind a head that names their hash and counts.
      const [head = "", ...lines] = gunzipSync(readFileSync(join(archive, mark.key)))
        .toString("utf8")
        .split("\n");
      expect(JSON.parse(head)).toMatchObject({ windrow_archive: 1, id, hash: mark.hash, bytes: mark.bytes });
      expect(lines.slice(0, -1)).toHaveLength(mark.lines);
      const dumped = [];
      for await (const { line } of (await store.transfer.dump(everybody, id)).lines()) dumped.push(line);
      expect(lines.slice(0, -1)).toEqual(dumped);

      const listed = [];
      for await (const { metadata, state } of store.list(everybody))
        listed.push([metadata.uuid, state.status, state.archived]);
      expect(listed).toEqual([[id, "completed", mark]]);
      expect((await search(store, { query: "heron" })).hits[0]?.sessionId).toBe(id);
      expect((await viewSession(store, everybody, id)).messages).toBeDefined();
      expect((await stats(store)).users).toMatchObject([{ sessions: 1 }]);
      expect(await store.recovery(everybody, id)).toEqual([]);
      const manager = await SessionManager.open({ store, budget: 4_000 });
      await expect(manager.resume(id)).rejects.toMatchObject({ code: "read-only" });
      const viewed = await manager.resume(id, { readOnly: true });
      expect((await viewed.compose()).messages.length).toBeGreaterThan(0);
    });

    it("is told where it is missing, and nothing is erased or overwritten without it", async () => {
      const { address, store } = await beside();
      const id = await finished(store);
      const before = await contents(store, id);
      const dump = await store.transfer.dump(everybody, id);
      await store.archiving!.archive(everybody, id);
      const bare = await opened(address);
      const refused = { code: "session-archived" };
      await expect(readAll(bare, id, { kind: "message" })).rejects.toMatchObject(refused);
      await expect(readAll(bare, id, { kind: "edit" })).rejects.toMatchObject(refused);
      await expect(bare.transfer.dump(everybody, id)).rejects.toMatchObject(refused);
      await expect(bare.transfer.restore(everybody, dump)).rejects.toMatchObject(refused);
      await expect(bare.upkeep.erase(everybody, [id])).rejects.toMatchObject(refused);
      await expect(bare.create(everybody, newSession({ uuid: id }))).rejects.toMatchObject({ code: "session-exists" });
      expect((await bare.info(everybody, id)).state).toMatchObject({
        status: "completed",
        archived: { hash: expect.any(String) },
      });
      expect((await doctor(bare)).findings.filter(({ severity }) => severity === "damage")).toEqual([]);
      expect(await contents(store, id)).toEqual(before);
      expect((await store.transfer.restore(everybody, dump)).outcome).toBe("same");
    });

    it("gives a session back, whole, when it is asked to, and when a closed one is resumed", async () => {
      const { address, archive, store } = await beside();
      const id = await finished(store);
      const before = await contents(store, id);
      await store.archiving!.archive(everybody, id);
      await store.archiving!.unarchive(everybody, id);
      expect([await contents(store, id), objectsIn(archive)]).toEqual([before, []]);
      const bare = await opened(address);
      expect(await contents(bare, id)).toEqual(before);
      await bare.close();

      const lock = await store.create(everybody, newSession());
      for (let turn = 0; turn < 5; turn++) await store.append(lock, [messageRecord(`turn ${turn}`)]);
      await store.setState(lock, { ...stateOf("closed"), llmCallCount: 0, toolCallCount: 0 });
      await lock.release();
      const first = await store.archiving!.archive(everybody, lock.id);
      const manager = await SessionManager.open({ store, budget: 4_000 });
      const session = await manager.resume(lock.id);
      await session.append("and on");
      await session.close();
      const texts = (await readAll(store, lock.id, { kind: "message" })).map(({ message }) => message.parts[0]);
      expect(texts).toHaveLength(6);
      expect((await store.info(everybody, lock.id)).state.archived).toBeUndefined();
      expect(objectsIn(archive)).toEqual([]);
      // Archived again it has another object.
      await session.close();
      const again = await store.lock(everybody, lock.id);
      await store.setState(again, { ...stateOf("closed"), llmCallCount: 0, toolCallCount: 0 });
      await again.release();
      const second = await store.archiving!.archive(everybody, lock.id);
      expect(second.mark.key).not.toBe(first.mark.key);
      expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(6);
    });

    it("refuses what is not at rest, what is kept, and what lacks records", async () => {
      const { archive, store } = await beside();
      const lock = await held(store, "one");
      await expect(store.archiving!.archive(everybody, lock.id)).rejects.toMatchObject({ code: "session-busy" });
      await lock.release();
      await expect(store.archiving!.archive(everybody, lock.id)).rejects.toMatchObject({ code: "bad-option" });
      const id = await finished(store);
      await store.upkeep.keep(everybody, id, { keptAt: new Date().toISOString() });
      await expect(store.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "bad-option" });
      await refused(() => store.archiving!.archive({ tenant: "acme" }, id), "session-not-found");
      expect(objectsIn(archive)).toEqual([]);
    });

    it("keeps tenants and users apart, and erases a session's objects with it", async () => {
      const { archive, store } = await beside();
      const alice = { tenant: "acme", user: "alice" };
      const [hers, his] = [
        await finished(store, 2, alice),
        await finished(store, 2, { tenant: "../acme", user: "bob" }),
      ];
      const { mark } = await store.archiving!.archive(alice, hers);
      const { mark: other } = await store.archiving!.archive({ tenant: "../acme" }, his);
      expect([mark.key.split("/")[0], other.key.split("/")[0]]).toEqual(["tenant=acme", "tenant=..%2Facme"]);
      const missing = { code: "session-not-found" };
      await expect(readAll(store, hers, { kind: "message" }, { tenant: "../acme" })).rejects.toMatchObject(missing);
      await expect(readAll(store, hers, { kind: "message" }, { tenant: "acme", user: "bob" })).rejects.toMatchObject(
        missing,
      );
      await expect(store.upkeep.erase({ tenant: "../acme" }, [hers])).rejects.toMatchObject(missing);
      // What a write that was cut short left goes too.
      writeFileSync(join(archive, "tenant=acme", hers, ".draft.1.tmp"), "heron");
      const [receipt] = await store.upkeep.erase(alice, [hers]);
      const place = receipt?.places.find(({ kind: where }) => where === "archive");
      expect(place).toMatchObject({ count: 2, bytes: mark.objectBytes + 5 });
      expect(objectsIn(archive)).toHaveLength(1);
      expect(existsSync(join(archive, "tenant=acme", hers))).toBe(false);
      await expect(store.info(alice, hers)).rejects.toMatchObject(missing);
      expect(await readAll(store, his, { kind: "message" }, { tenant: "../acme" })).toHaveLength(6);
    });

    const names = [
      ["of 28 characters that are nine bytes each", "株式会社".repeat(7)],
      ["longer than a name of a file", "x".repeat(260)],
      ["longer than a name of an object", "x".repeat(2_000)],
      ["of two points", ".."],
      ["with a slash", "Ünï/cö de"],
    ] as const;
    it.each(names)("takes, reads and erases sessions of a tenant whose name is %s", async (_how, tenant) => {
      const { archive, store } = await beside();
      const scope = { tenant };
      const [lies, goes] = [await finishedSession(store, scope), await finishedSession(store, scope)];
      expect((await store.archiving!.archive(scope, goes)).outcome).toBe("archived");
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await readAll(store, goes, { kind: "message" }, scope)).toHaveLength(1);
      const [erased] = await store.upkeep.erase(scope, [lies, goes]);
      const counts = erased?.places.filter((one) => one.kind === "archive").map(({ count }) => count);
      expect([counts, objectsIn(archive)]).toEqual([[0, 1], []]);
      expect(await store.upkeep.unerased(scope)).toEqual([]);
      await expect(store.info(scope, lies)).rejects.toMatchObject({ code: "session-not-found" });
    });

    it("tells an object that is damaged, changed or gone, and never gives out a wrong record", async () => {
      const { address, archive, store } = await beside();
      const [one, two] = [await finished(store), await finished(store)];
      const marks = [await store.archiving!.archive(everybody, one), await store.archiving!.archive(everybody, two)];
      await store.close();
      const [first, second] = marks.map(({ mark }) => join(archive, mark.key));
      const whole = readFileSync(first!);
      const corrupt = { code: "store-corrupt" };
      const bytes = Buffer.from(whole);
      bytes[Math.floor(bytes.length / 2)]! ^= 1;
      for (const wrong of [bytes, whole.subarray(0, -9), readFileSync(second!), Buffer.from("{}")]) {
        writeFileSync(first!, wrong);
        const again = await opened(address, { archive });
        await expect(readAll(again, one, { kind: "message" })).rejects.toMatchObject(corrupt);
        await expect(again.archiving!.unarchive(everybody, one)).rejects.toMatchObject(corrupt);
      }
      writeFileSync(first!, whole);
      const mended = await opened(address, { archive });
      await mended.archiving!.unarchive(everybody, one);
    });

    it.each(["archive", "unarchive"])("loses nothing, killed at every step: %s", { timeout: 200_000 }, async (task) => {
      const [address, archive] = [await kind.address(), await newArchive()];
      const store = await opened(address, { archive });
      const died: string[] = [];
      for (let step = 1, said: string | undefined = ""; said !== undefined; step++) {
        const id = await finished(store, 1);
        const before = await contents(store, id);
        if (task !== "archive") await store.archiving!.archive(everybody, id);
        said = await killed(address, archive, id, task, String(step));
        died.push(said ?? "done");
        expect(await contents(store, id)).toEqual(before);
        // What was begun is ended by the next, in either direction.
        await store.archiving!.archive(everybody, id);
        expect((await store.info(everybody, id)).state.archived?.key).toBeDefined();
        expect(await contents(store, id)).toEqual(before);
        await store.archiving!.unarchive(everybody, id);
        expect(await contents(store, id)).toEqual(before);
        await store.upkeep.erase(everybody, [id]);
        expect(objectsIn(archive)).toEqual([]);
      }
      expect(died.length).toBeGreaterThan(4);
    });

    it("erases a session and its object whole, killed at every step", { timeout: 200_000 }, async () => {
      const { address, archive, store } = await beside();
      const died: string[] = [];
      for (let step = 1, said: string | undefined = ""; said !== undefined; step++) {
        const id = await finished(store, 1);
        await store.archiving!.archive(everybody, id);
        said = await killed(address, archive, id, "erase", String(step));
        died.push(said ?? "done");
        // It is there, whole, or its erasure is known to be under way, or it is gone everywhere.
        const left = (await isThere(store, id)) || (await store.upkeep.unerased(everybody)).length > 0;
        if (left) await store.upkeep.erase(everybody, [id]);
        expect([await isThere(store, id), await store.upkeep.unerased(everybody)]).toEqual([false, []]);
        expect(objectsIn(archive)).toEqual([]);
      }
      expect(died.length).toBeGreaterThan(4);
    });

    it("is read whole, or has to be read again, while it goes back and forth", { timeout: 180_000 }, async () => {
      const { address, archive, store } = await beside();
      const id = await finished(store, 60);
      const [reader, other] = [await opened(address, { archive }), await opened(address, { archive })];
      const messages = (await readAll(store, id, { kind: "message" })).length;
      const { hash } = await summaryOf(await store.transfer.dump(everybody, id));
      let moving = true;
      let moves = 0;
      const move = async (): Promise<void> => {
        for (; moves < 12; moves++) {
          if (moves % 2 === 0) await store.archiving!.archive(everybody, id);
          else await other.archiving!.unarchive(everybody, id);
        }
        moving = false;
      };
      let reads = 0;
      const moved = ({ code }: { readonly code?: unknown }): unknown => code;
      const read = async (): Promise<void> => {
        for (; moving; reads++) {
          // Reads of a store of files may never wait for anything, and the moves are in the same process.
          await nextTurn();
          const count = readAll(reader, id, { kind: "message" }).then(({ length }) => length);
          expect([messages, "session-archived"]).toContain(await count.catch(moved));
          expect(await readAll(reader, id, { kind: "edit", last: 1 })).toHaveLength(1);
          const dumped = reader.transfer.dump(everybody, id).then(async (dump) => (await summaryOf(dump)).hash);
          expect([hash, "session-archived"]).toContain(await dumped.catch(moved));
        }
      };
      await Promise.all([move(), read(), read()]);
      expect(reads).toBeGreaterThan(3);
    });
  });
}
