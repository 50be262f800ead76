/** The cases about the log: records are read back in order, exactly, and without their secrets. */
import assert from "node:assert/strict";
import {
  cases,
  secret,
  everybody,
  newSession,
  messageRecord,
  everyRecordKind,
  everyKind,
  readAll,
  texts,
  sessionWith,
  refused,
  stateOf,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Part } from "../../message/message.ts";
import type { NewRecord, StoredRecord } from "../../message/record.ts";
import { readCases } from "./read.ts";
import { exactCases } from "./exact.ts";
import { sentCases } from "./sent.ts";

const appending: readonly StoreCase[] = cases("append", {
  "numbers records from 1 within a kind and over the session, and gives them back in the order of the call": async ({
    store,
  }) => {
    const lock = await store.create(everybody, newSession());
    const [first] = await store.append(lock, [messageRecord("1")]);
    assert.deepEqual([first?.seq, first?.pos], [1, 1]);
    const given = everyKind();
    const stored = await store.append(lock, given);
    assert.deepEqual(
      stored.map((record) => record.kind),
      given.map((record) => record.kind),
    );
    assert.deepEqual(
      stored.map((record) => record.seq),
      [2, 1, 1, 2, 1, 1, 1, 1],
    );
    assert.deepEqual(
      stored.map((record) => record.pos).sort((a, b) => a - b),
      [2, 3, 4, 5, 6, 7, 8, 9],
    );
  },
  "every kind comes back with every field": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const stored = await store.append(lock, everyKind());
    for (const kind of everyRecordKind) {
      const expected = stored.filter((record) => record.kind === kind);
      assert.deepEqual(await readAll(store, lock.id, { kind }), expected);
    }
    const bare = stored.map(({ seq: _seq, pos: _pos, ...record }) => record);
    assert.deepEqual(bare, everyKind());
  },
  "fifty at once keep their order and one numbering without a gap": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const given = Array.from({ length: 50 }, (_, index): readonly NewRecord[] =>
      index % 7 === 3 ? everyKind() : [messageRecord(`m${index}`)],
    );
    const stored = (await Promise.all(given.map((records) => store.append(lock, records)))).flat();
    assertNumbered(stored);
    const expected = given
      .flat()
      .filter((record) => record.kind === "message")
      .map((record) => record.message.id);
    const messages = await readAll(store, lock.id, { kind: "message" });
    assert.deepEqual(
      messages.map((record) => record.message.id),
      expected,
    );
    assert.deepEqual(
      messages.map((record) => record.pos),
      [...messages.map((record) => record.pos)].sort((a, b) => a - b),
    );
  },
  "nothing appended is nothing": async ({ store }) => {
    const lock = await sessionWith(store, 1);
    assert.deepEqual(await store.append(lock, []), []);
    const [next] = await store.append(lock, [messageRecord("2")]);
    assert.equal(next?.pos, 2);
  },
  "a call is all or nothing: one record that cannot be stored refuses them all, and the next call succeeds": async ({
    store,
  }) => {
    const lock = await sessionWith(store, 1);
    const impossible = messageRecord("big", { extra: { big: 1n as unknown as number } });
    await refused(() => store.append(lock, [messageRecord("2"), impossible]), "bad-message");
    assert.deepEqual(await texts(store, lock.id), ["1"]);
    const [next] = await store.append(lock, [messageRecord("2")]);
    assert.deepEqual([next?.seq, next?.pos], [2, 2]);
  },
  "a bad call among good ones at the same time harms only itself": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const impossible = messageRecord("big", { extra: { big: 1n as unknown as number } });
    const calls = ["1", "2", "3"].map((text) => store.append(lock, [messageRecord(text)]));
    await refused(() => store.append(lock, [impossible]), "bad-message");
    assertNumbered((await Promise.all(calls)).flat());
    assert.deepEqual(await texts(store, lock.id), ["1", "2", "3"]);
  },
  "keeps what was given at the time of the call, and changes nothing of it": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const record = messageRecord(`a token ${secret}`);
    const before = structuredClone(record);
    const appended = store.append(lock, [record]);
    assert.deepEqual(record, before);
    (record.message.parts[0] as { text: string }).text = "changed by the host";
    await appended;
    assert.equal((await texts(store, lock.id))[0]?.startsWith("a token"), true);
    const [read] = await readAll(store, lock.id, { kind: "message" });
    (read!.message.parts[0] as { text: string }).text = "changed by a reader";
    assert.equal((await texts(store, lock.id))[0]?.startsWith("a token"), true);
  },
});
const masking: readonly StoreCase[] = cases("mask", {
  "a secret never comes back: not in a message, a call, a result, an edit, the metadata or the state": async ({
    store,
  }) => {
    const lock = await store.create(everybody, newSession({ taskKey: { key: secret }, config: { [secret]: secret } }));
    const timestamp = "2024-01-15T10:30:20.123Z";
    const call = { callId: "c", toolName: "run", arguments: { nested: [{ token: secret }] } };
    await store.append(lock, [
      messageRecord(`with ${secret} in it`, { extra: { note: secret } }),
      messageRecord("", { id: "b", parts: mixturesWithSecret() }),
      { kind: "call", ...call, timestamp },
      { kind: "tool", ...call, result: secret, status: "error", error: `bad ${secret}`, durationMs: 1, timestamp },
      { kind: "edit", type: "pin", data: { text: secret }, timestamp },
    ]);
    await store.setState(lock, { ...stateOf("processing"), error: `failed with ${secret}` });
    const seen: unknown[] = [await store.info(everybody, lock.id)];
    for (const kind of everyRecordKind) seen.push(await readAll(store, lock.id, { kind }));
    assert.ok(!JSON.stringify(seen).includes(secret));
    assert.equal((await texts(store, lock.id))[0], "with [GITHUB_TOKEN] in it");
  },
  "a provider's bytes and base64 data are kept exactly, whatever they look like": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const parts: readonly Part[] = [
      { type: "reasoning", text: "hm", signature: secret, opaque: { bytes: secret } },
      { type: "image", mediaType: "image/png", data: secret },
      { type: "opaque", kind: "a/b", data: [secret] },
    ];
    await store.append(lock, [messageRecord("", { role: "assistant", parts })]);
    const [read] = await readAll(store, lock.id, { kind: "message" });
    assert.deepEqual(read?.message.parts, parts);
  },
});

function mixturesWithSecret(): readonly Part[] {
  return [
    { type: "reasoning", text: secret },
    { type: "tool-call", callId: "c", name: "run", args: { token: secret }, argsText: `{"token":"${secret}"}` },
    { type: "tool-result", callId: "c", content: [{ type: "text", text: secret }] },
    { type: "image", mediaType: "image/png", url: `https://x/?t=${secret}` },
  ];
}

function assertNumbered(stored: readonly StoredRecord[]): void {
  const positions = stored.map((record) => record.pos).sort((a, b) => a - b);
  assert.deepEqual(
    positions,
    stored.map((_, index) => index + 1),
  );
  for (const kind of new Set(stored.map((record) => record.kind))) {
    const numbers = stored.filter((record) => record.kind === kind).map((record) => record.seq);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
  }
}

/** Appended, read back, masked. */
export const logCases: readonly StoreCase[] = [...appending, ...exactCases, ...readCases, ...masking, ...sentCases];
