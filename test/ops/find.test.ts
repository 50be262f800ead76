/** The session that a name means. */
import { expect, test } from "vitest";
import { erase } from "windrow/ops";
import { findSession } from "../kit/inside/ops.ts";
import { everybody, newSession, ramStore, stateOf } from "../kit/inside/store.ts";

test("`latest` is the session that was written last", async () => {
  const store = ramStore();
  const begin = async (minute: number) =>
    store.create(everybody, { ...newSession(), createdAt: `2026-01-01T00:0${minute}:00.000Z` });
  const run = await begin(1);
  const fork = await begin(2);
  expect((await findSession(store, everybody, "latest")).metadata.uuid).toBe(fork.id);
  await store.setState(run, { ...stateOf("processing"), updatedAt: "2026-01-01T00:04:00.000Z" });
  expect((await findSession(store, everybody, "latest")).metadata.uuid).toBe(run.id);
});

test("what names no session is refused with a code, whatever it is", async () => {
  const store = ramStore();
  for (const name of ["", "abc", "not hexadecimal", 5, null, undefined, {}]) {
    await expect(findSession(store, everybody, name as string)).rejects.toMatchObject({ code: "bad-option" });
    await expect(erase(store, [name as string])).rejects.toMatchObject({ code: "bad-option" });
  }
});
