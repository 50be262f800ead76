/** The cases about exactness: text, parts and times come back as they were given. */
import assert from "node:assert/strict";
import { cases, everybody, newSession, messageRecord, readAll, texts, refused } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Message, Part } from "../../message/message.ts";

/** The cases of records that come back as they were. */
export const exactCases: readonly StoreCase[] = cases("exact", {
  "text comes back as it was: every script, emoji, controls, line ends, NUL, a lone surrogate": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const given = [
      "日本語",
      "中文",
      "👩‍👩‍👧‍👦 e\u0301",
      'a\nb\r\nc\td\u2028"\\',
      "\u0000\u0001\u001b[0m",
      "\ud800 alone \udfff",
      "",
      " ",
    ];
    for (const [index, text] of given.entries()) await store.append(lock, [messageRecord(text, { id: `m${index}` })]);
    assert.deepEqual(await texts(store, lock.id), given);
  },
  "an owner whose name has half a character or a NUL has no session, and every other name has its own": async ({
    store,
  }) => {
    const id = newSession().uuid;
    for (const name of ["half \ud800", "\udc00", "nul \0"]) {
      for (const owner of [{ user: name }, { tenant: name }, { tenant: "alpha", user: name }])
        await refused(() => store.create(owner, newSession({ uuid: id })), "bad-option");
    }
    for (const user of ["\ufffd", "日本語 👩‍👩‍👧‍👦", "a\nb"]) {
      const lock = await store.create({ user }, newSession());
      await store.append(lock, [messageRecord("one")]);
      assert.equal((await store.info({ user }, lock.id)).metadata.user, user);
      await refused(() => store.info({ user: "half \ud800" }, lock.id), "session-not-found");
    }
  },
  "a message of a megabyte, and one after it": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const long = "äx\n".repeat(350_000);
    await store.append(lock, [messageRecord(long, { id: "long" })]);
    await store.append(lock, [messageRecord("short")]);
    assert.deepEqual(await texts(store, lock.id), [long, "short"]);
    assert.deepEqual(await texts(store, lock.id, { last: 1 }), ["short"]);
  },
  "every part, in every mixture, with the provider's bytes untouched": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const messages = mixtures().map((parts, index): Message => ({
      id: `m${index}`,
      role: index % 2 === 0 ? "assistant" : "tool",
      parts,
      timestamp: "2024-01-15T10:30:01.123Z",
      status: "interrupted",
      model: "a-model",
      usage: { input: 1, cacheRead: 0 },
      extra: { hostField: { keepMe: [true] } },
    }));
    await store.append(
      lock,
      messages.map((message) => ({ ...messageRecord(""), message })),
    );
    const read = await readAll(store, lock.id, { kind: "message" });
    assert.deepEqual(
      read.map((record) => record.message),
      messages,
    );
  },
  "a message without a time has the record's": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const { timestamp: _timestamp, ...message } = messageRecord("x").message;
    await store.append(lock, [{ ...messageRecord("x"), message }]);
    const [read] = await readAll(store, lock.id, { kind: "message" });
    assert.equal(read?.message.timestamp, messageRecord("x").timestamp);
  },
});

function mixtures(): readonly (readonly Part[])[] {
  const text: Part = { type: "text", text: "some text" };
  const call: Part = {
    type: "tool-call",
    callId: "c1",
    name: "run",
    args: { camelKey: null },
    argsText: "{",
    opaque: 1,
  };
  const result: Part = { type: "tool-result", callId: "c1", name: "run", content: "done", isError: false };
  const rich: Part = {
    type: "tool-result",
    callId: "c2",
    content: [
      { type: "image", mediaType: "image/png", url: "https://x/y.png", width: 1, height: 2 },
      { type: "text", text: "a" },
      text,
    ],
    opaque: { some_Key: [] },
  };
  const reasoning: Part = { type: "reasoning", text: "", signature: "c2ln", opaque: { providerKey: null } };
  const file: Part = { type: "file", mediaType: "text/plain", name: "a.txt", data: "YQ==" };
  const opaque: Part = { type: "opaque", kind: "x/y", data: { camelKey: 1, snake_key: 2 } };
  const empty: Part = { type: "text", text: "" };
  return [
    [],
    [text],
    [call],
    [result],
    [text, call, { ...call, callId: "c2" }],
    [call, text],
    [text, text, empty],
    [empty],
    [reasoning, text, call],
    [result, { ...result, callId: "c2" }, rich],
    [rich, text],
    [{ ...text, opaque: "x" }],
    [file, opaque, result, call, reasoning],
  ];
}
