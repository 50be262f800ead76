/** The session that `latest` means. */
import { expect, test } from "vitest";
import { findSession } from "../kit/inside/ops.ts";
import { everybody, newSession, ramStore, stateOf } from "../kit/inside/store.ts";

test("`latest` is the session that was written last, and never the hidden rounds of a gateway", async () => {
  const store = ramStore();
  const begin = async (minute: number, taskKey: Readonly<Record<string, string | number>> = { task: 1 }) =>
    store.create(everybody, { ...newSession(), taskKey, createdAt: `2026-01-01T00:0${minute}:00.000Z` });
  const run = await begin(1);
  const fork = await begin(2);
  await begin(3, { gateway_recall: 1, tenant: "t" });
  expect((await findSession(store, everybody, "latest")).metadata.uuid).toBe(fork.id);
  await store.setState(run, { ...stateOf("processing"), updatedAt: "2026-01-01T00:04:00.000Z" });
  expect((await findSession(store, everybody, "latest")).metadata.uuid).toBe(run.id);
});
