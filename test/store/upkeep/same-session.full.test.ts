/** Sessions of a file store that move, or are made anew under their id, while something is done with them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { systemDisk } from "../../kit/inside/disk.ts";
import { alone, finishedSession, messageRecord, newSession, stateOf } from "../../kit/inside/store.ts";
import { newFolder, removeFolders } from "../archive/kinds.ts";
import { opened } from "../stage.ts";

afterAll(removeFolders);

const me: Scope = { user: "me" };
const you: Scope = { user: "you" };
const keptAt = "2024-03-01T00:00:00.000Z";

async function newStore(): Promise<{ readonly folder: string; readonly store: Store }> {
  const folder = join(await newFolder(), "store");
  return { folder, store: await opened(folder) };
}

/** Work that waits for the upkeep of another process, which does something meanwhile. */
async function beside<T>(folder: string, work: () => Promise<T>, other: () => Promise<unknown>): Promise<T> {
  let waiting: Promise<T> | undefined;
  await alone(folder, systemDisk, async () => {
    waiting = work();
    waiting.catch(() => undefined);
    // Whoever looks before it waits has looked by then.
    await new Promise((resolve) => setImmediate(resolve));
    await other();
  });
  return waiting!;
}

describe("the mark of a session", () => {
  it("is set and taken away also where the session ends meanwhile", async () => {
    const { folder, store } = await newStore();
    const { upkeep } = await opened(folder);
    for (const isKept of [false, true]) {
      const lock = await store.create(me, newSession());
      if (isKept) await upkeep.keep(me, lock.id, { keptAt });
      await beside(
        folder,
        async () => (isKept ? upkeep.unkeep(me, lock.id) : upkeep.keep(me, lock.id, { keptAt })),
        () => store.finish(lock, stateOf("completed")),
      );
      expect(await store.upkeep.kept(me, lock.id)).toEqual(isKept ? undefined : { keptAt });
    }
  });

  it("never lands on a session that another owner made anew under the id", async () => {
    const { folder, store } = await newStore();
    const other = await opened(folder);
    const id = await finishedSession(store, me);
    const keeping = beside(
      folder,
      () => store.upkeep.keep(me, id, { keptAt, reason: "mine" }),
      async () => {
        // As another process erases it.
        rmSync(join(folder, "completed", id), { recursive: true });
        await finishedSession(other, you, undefined, id);
      },
    );
    await expect(keeping).rejects.toMatchObject({ code: "session-not-found" });
    expect(await store.upkeep.kept(you, id)).toBeUndefined();
  });
});

it("a making that was killed before its draft had metadata leaves nothing behind a doctor and an erasure", async () => {
  const { folder, store } = await newStore();
  const id = await finishedSession(store, me, [messageRecord("SECRETTEXT")]);
  const draft = join(folder, "running", `.making-${id}`);
  mkdirSync(draft);
  writeFileSync(join(draft, "messages.jsonl"), readFileSync(join(folder, "completed", id, "messages.jsonl")));
  for await (const _ of store.checkup.examine({ mend: true })) void _;
  expect(readdirSync(join(folder, "running"))).toEqual([]);
  await store.upkeep.erase(me, [id]);
  const left = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  expect(left.filter((name) => readFileSync(join(folder, name), "utf8").includes("SECRETTEXT"))).toEqual([]);
});
