/** The cases about the log: records are kept in order, exactly, and without their secrets. */
import assert from "node:assert/strict";
import { cases, everybody, everyKind, everyRecordKind, messageRecord, newSession, readAll, refused } from "./kit.ts";
import { secret, sentRecords, sessionWith, stateOf, texts } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Message, Part } from "../../message/message.ts";
import type { NewRecord, StoredRecord } from "../../message/record.ts";

const impossible = messageRecord("big", { extra: { big: 1n as unknown as number } });

const appending: readonly StoreCase[] = cases("append", {
  "numbers records from 1 within a kind and over the session, and gives them back in the order of the call": async ({
    store,
  }) => {
    const lock = await sessionWith(store, []);
    const first = await store.append(lock, [messageRecord("1")]);
    assert.deepEqual(await store.append(lock, []), []);
    const given = everyKind();
    const stored = await store.append(lock, given);
    assert.deepEqual(
      stored.map(({ kind }) => kind),
      given.map(({ kind }) => kind),
    );
    assertNumbered([...first, ...stored]);
  },
  "every kind comes back with every field, whatever its size": async ({ store }) => {
    const lock = await sessionWith(store, []);
    const given = [...everyKind(), ...sentRecords("short"), ...sentRecords(large)];
    const stored = await store.append(lock, given);
    for (const kind of everyRecordKind) {
      const expected = stored.filter((record) => record.kind === kind);
      assert.deepEqual(await readAll(store, lock.id, { kind }), expected);
    }
    const bare = stored.map(({ seq: _seq, pos: _pos, ...record }) => record);
    assert.deepEqual(bare, given);
  },
  "fifty at once keep their order and one numbering without a gap": async ({ store }) => {
    const lock = await sessionWith(store, []);
    const given = Array.from({ length: 50 }, (_, index): readonly NewRecord[] =>
      index % 7 === 3 ? everyKind() : [messageRecord(`m${index}`)],
    );
    const stored = (await Promise.all(given.map((records) => store.append(lock, records)))).flat();
    assertNumbered(stored);
    const expected = given.flatMap((records) =>
      records.flatMap((one) => (one.kind === "message" ? [one.message] : [])),
    );
    const messages = await readAll(store, lock.id, { kind: "message" });
    assert.deepEqual(
      messages.map(({ message }) => message.id),
      expected.map(({ id }) => id),
    );
    const places = messages.map(({ pos }) => pos);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
  },
  "a call is all or nothing, and one that cannot be stored harms only itself": async ({ store }) => {
    const lock = await sessionWith(store, 1);
    const calls = ["2", "3"].map((text) => store.append(lock, [messageRecord(text)]));
    await refused(() => store.append(lock, [messageRecord("none"), impossible]), "bad-message");
    const last = await store.append(lock, [messageRecord("4")]);
    const stored = [...(await Promise.all(calls)), last].flat();
    assert.deepEqual(
      stored.map(({ seq, pos }) => [seq, pos]),
      [2, 3, 4].map((number) => [number, number]),
    );
    assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4"]);
  },
  "keeps what was given at the time of the call, and changes nothing of it": async ({ store }) => {
    const lock = await sessionWith(store, []);
    const record = messageRecord(`a token ${secret}`);
    const before = structuredClone(record);
    const appended = store.append(lock, [record]);
    assert.deepEqual(record, before);
    (record.message.parts[0] as { text: string }).text = "changed by the host";
    await appended;
    assert.deepEqual(await texts(store, lock.id), ["a token [GITHUB_TOKEN]"]);
    const [read] = await readAll(store, lock.id, { kind: "message" });
    (read!.message.parts[0] as { text: string }).text = "changed by a reader";
    assert.deepEqual(await texts(store, lock.id), ["a token [GITHUB_TOKEN]"]);
  },
});

const exact: readonly StoreCase[] = cases("exact", {
  "text comes back as it was: every script, emoji, controls, line ends, NUL, a lone surrogate, a megabyte": async ({
    store,
  }) => {
    const lock = await sessionWith(store, []);
    const scripts = ["日本語", "中文", "👩‍👩‍👧‍👦 e\u0301", "\ud800 alone \udfff"];
    const given = [...scripts, 'a\nb\r\nc\td\u2028"\\', "\u0000\u0001\u001b[0m", "äx\n".repeat(350_000), "", " "];
    for (const [index, text] of given.entries()) await store.append(lock, [messageRecord(text, { id: `m${index}` })]);
    assert.deepEqual(await texts(store, lock.id), given);
    assert.deepEqual(await texts(store, lock.id, { last: 1 }), [" "]);
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
      messageRecord("", { id: "b", parts: partsWithSecret() }),
      { kind: "call", ...call, timestamp },
      { kind: "tool", ...call, result: secret, status: "error", error: `bad ${secret}`, durationMs: 1, timestamp },
      ...sentRecords(`${large}${secret}`),
    ]);
    await store.setState(lock, { ...stateOf("processing"), error: `failed with ${secret}` });
    const seen: unknown[] = [await store.info(everybody, lock.id)];
    for (const kind of everyRecordKind) seen.push(await readAll(store, lock.id, { kind }));
    assert.ok(!JSON.stringify(seen).includes(secret));
    assert.equal((await texts(store, lock.id))[0], "with [GITHUB_TOKEN] in it");
    const edits = await readAll(store, lock.id, { kind: "edit" });
    assert.ok(edits.every(({ masks }) => masks?.length === 1));
  },
  "a provider's bytes and base64 data are kept exactly, whatever they look like, and a message has a time": async ({
    store,
  }) => {
    const parts: readonly Part[] = [
      { type: "reasoning", text: "hm", signature: secret, opaque: { bytes: secret } },
      { type: "image", mediaType: "image/png", data: secret },
      { type: "opaque", kind: "a/b", data: [secret] },
    ];
    const record = messageRecord("");
    const message: Message = { id: "a1", role: "assistant", parts, extra: { hostField: { keepMe: [true] } } };
    const { id } = await sessionWith(store, [{ ...record, message }]);
    const [read] = await readAll(store, id, { kind: "message" });
    assert.deepEqual(read?.message, { ...message, timestamp: record.timestamp });
  },
});

/** More than a line may hold of one value. */
const large = "Rule: keep calm. 静かに。\n".repeat(6_000);

function partsWithSecret(): readonly Part[] {
  return [
    { type: "reasoning", text: secret },
    { type: "tool-call", callId: "c", name: "run", args: { token: secret }, argsText: `{"token":"${secret}"}` },
    { type: "tool-result", callId: "c", content: [{ type: "text", text: secret }] },
    { type: "image", mediaType: "image/png", url: `https://x/?t=${secret}` },
  ];
}

/** Records are numbered from 1 within their kind, and over the session in any order within a call. */
function assertNumbered(stored: readonly StoredRecord[]): void {
  const isCounted = (numbers: readonly number[]) =>
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
  isCounted(stored.map(({ pos }) => pos).toSorted((a, b) => a - b));
  for (const kind of everyRecordKind) isCounted(stored.filter((one) => one.kind === kind).map(({ seq }) => seq));
}

/** Appended, exact, masked. */
export const logCases: readonly StoreCase[] = [...appending, ...exact, ...masking];
