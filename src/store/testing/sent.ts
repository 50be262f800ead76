/**
 * The cases about what a model saw: system prompts and tool definitions, kept as edits, and the windows that usage names. They
 * are whole, masked, and portable.
 */
import assert from "node:assert/strict";
import { cases, secret, everybody, newSession, messageRecord, stateOf, readAll } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { JsonValue } from "../../message/message.ts";
import type { NewRecord } from "../../message/record.ts";
import { ramStore } from "../ram/ram.ts";

/** Larger than a line may hold a value. */
const large = "Rule: keep calm. 静かに。\n".repeat(6_000);

function sentRecords(text: string, description: string): readonly NewRecord[] {
  const timestamp = "2024-01-15T10:30:20.123Z";
  const definitions: JsonValue = [{ name: "read", description, inputSchema: { type: "object" } }];
  return [
    { kind: "edit", type: "system", data: { hash: "0a", text }, timestamp },
    { kind: "edit", type: "tools", data: { hash: "0b", definitions }, timestamp },
  ];
}

const usage: NewRecord = {
  kind: "usage",
  purpose: "turn",
  usage: { input: 10 },
  window: { epoch: 1, last: 7, tokens: 1_200, cached: 900, hash: "01af" },
  timestamp: "2024-01-15T10:30:21.123Z",
};

/** System prompts and tool definitions, and the windows of usage. */
export const sentCases: readonly StoreCase[] = cases("sent", {
  "a system prompt and tools come back whole, whatever their size, and so do edits beside them": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const given = [...sentRecords("short", "Reads."), ...sentRecords(large, large)];
    const stored = await store.append(lock, [messageRecord("1"), ...given]);
    const read = await readAll(store, lock.id, { kind: "edit" });
    assert.deepEqual(read, stored.slice(1));
    assert.deepEqual(
      read.map(({ data }) => data),
      given.map((record) => (record.kind === "edit" ? record.data : undefined)),
    );
  },
  "a secret in them is masked, in a large one too": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    await store.append(lock, sentRecords(`${large}${secret}`, `${secret} ${large}`));
    const read = await readAll(store, lock.id, { kind: "edit" });
    assert.ok(!JSON.stringify(read).includes(secret));
    assert.ok(read.every(({ masks }) => masks?.length === 1));
  },
  "they go into another store and back, and the session is the same": async ({ store }) => {
    const { transfer } = store;
    if (!transfer) return;
    const lock = await store.create(everybody, newSession());
    const [, called] = await store.append(lock, [messageRecord("1"), usage, ...sentRecords(large, large)]);
    await store.finish(lock, stateOf("completed"));
    const other = ramStore();
    const written = await other.transfer.restore(everybody, await transfer.dump(everybody, lock.id));
    const read = await readAll(other, lock.id, { kind: "edit" });
    assert.deepEqual(read, await readAll(store, lock.id, { kind: "edit" }));
    for (const one of [store, other]) assert.deepEqual(await readAll(one, lock.id, { kind: "usage" }), [called]);
    const back = await transfer.restore(everybody, await other.transfer.dump(everybody, lock.id));
    assert.deepEqual(back, { ...written, outcome: "same" });
    await other.close();
  },
});
