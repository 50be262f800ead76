import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  everybody,
  everyKind,
  everyRecordKind,
  forkSession,
  messageRecord,
  readAll,
  sessionWith,
  texts,
} from "../kit/inside/store.ts";
import { filesFixture, ramFixture } from "../kit/stores.ts";
import { closing } from "./stage.ts";

describe.each([
  ["ram", ramFixture],
  ["files", filesFixture],
])("a fork in %s", (_name, open) => {
  it("has everything up to a message, says where it comes from, and goes on by itself", async () => {
    const fixture = closing(await open());
    const { store } = fixture;
    const lock = await sessionWith(store, 100);
    await store.append(lock, everyKind());
    await store.append(lock, [messageRecord("too late"), ...everyKind().slice(1)]);
    const options = { uuid: randomUUID(), createdAt: "2024-01-16T10:30:00.000Z" };
    const fork = await forkSession(store, everybody, lock.id, { ...options, at: 101 });
    expect((await store.info(everybody, fork.id)).metadata).toMatchObject({
      forkedFrom: { uuid: lock.id, at: 101 },
      createdAt: options.createdAt,
    });
    for (const kind of everyRecordKind) {
      const count = { message: 101, tool: 2, usage: 0 }[kind as string] ?? 1;
      const shared = (await readAll(store, lock.id, { kind })).slice(0, count).map(({ pos: _pos, ...one }) => one);
      const copied = await readAll(store, fork.id, { kind });
      expect(
        copied.map(({ pos: _pos, ...one }) => one),
        kind,
      ).toEqual(shared);
    }
    await store.append(fork, [messageRecord("its own")]);
    expect(await texts(store, fork.id, { last: 1 })).toEqual(["its own"]);
    expect(await texts(store, lock.id, { last: 1 })).toEqual(["too late"]);
    const missing = forkSession(store, everybody, lock.id, { ...options, uuid: randomUUID(), at: 103 });
    await expect(missing).rejects.toMatchObject({ code: "not-found" });
  });
});
