/** The cases about sessions on their way from one store to another, which is one in memory. */
import assert from "node:assert/strict";
import {
  cases,
  secret,
  everybody,
  newSession,
  messageRecord,
  everyRecordKind,
  everyKind,
  stateOf,
  readAll,
  texts,
  listAll,
  refused,
  time,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { ramStore } from "../ram/ram.ts";
import type { DumpedLine, Restored, SessionDump, Store } from "../store.ts";

const foreignLine =
  '{"seq":2,  "role":"user","content":"from afar","timestamp":"2024-01-15T10:31:00.123Z","token_count":3,"mood":"good"}';

/** A summary of a writer that knows no `seq`. */
const foreignSummary =
  '{"summary_id":2,"start_seq":3,"end_seq":4,"summary":"More.","created_at":"2024-01-15T10:32:00.000Z",' +
  '"original_tokens":12000,"summary_tokens":800,"compression_ratio":0.067,"mood":"good"}';

/** The cases of `transfer`. */
export const transferCases: readonly StoreCase[] = cases("transfer", {
  "a session goes out and into another store with its numbers, times, metadata and state, and can be written on":
    async ({ store }) => {
      const lock = await store.create({ user: "me" }, newSession());
      await store.append(lock, everyKind());
      await store.append(lock, everyKind());
      await store.setState(lock, stateOf("processing", 7));
      await lock.release();
      const other = ramStore();
      const outcome = await restore(other, await dump(store, lock.id));
      assert.deepEqual([outcome.outcome, outcome.masked], ["written", 0]);
      for (const kind of everyRecordKind) {
        assert.deepEqual(await readAll(other, lock.id, { kind }), await readAll(store, lock.id, { kind }));
      }
      const [there, here] = [await other.info(everybody, lock.id), await store.info(everybody, lock.id)];
      assert.deepEqual([there.metadata, there.state], [here.metadata, here.state]);
      await other.close();
    },
  "what came from another store is given out again line by line, also fields that nobody knows": async ({ store }) => {
    const given = await foreignDump();
    const archived = {
      key: "x",
      hash: "x",
      lines: {},
      bytes: 1,
      object_bytes: 1,
      archived_at: time,
      last_record_at: time,
    };
    await restore(store, { ...given, state: { ...given.state, archived } });
    const kept = await dump(store, given.id);
    assert.deepEqual([kept.metadata, kept.state], [given.metadata, given.state]);
    assert.deepEqual(await linesOf(kept), await linesOf(given));
    assert.deepEqual(await texts(store, given.id), ["hello", "from afar"]);
    const lock = await store.lock(everybody, given.id);
    assert.deepEqual(lock.recovery, []);
    const [next] = await store.append(lock, [messageRecord("next")]);
    assert.deepEqual([next?.seq, next?.pos], [3, 9]);
  },
  "a finished session is finished there too, and is found by status": async ({ store }) => {
    const given = await foreignDump("failed");
    await restore(store, given);
    assert.equal((await store.info(everybody, given.id)).readOnly, true);
    await refused(() => store.lock(everybody, given.id), "read-only");
    assert.equal((await listAll(store, everybody, { status: "failed" })).length, 1);
  },
  "a second time it is found to be the same; one that differs is never overwritten": async ({ store }) => {
    const given = await foreignDump();
    const first = await restore(store, given);
    assert.deepEqual(await restore(store, given), { ...first, outcome: "same" });
    const longer = { ...given, lines: () => followed(given, { log: "messages", line: foreignLine }) };
    await refused(() => restore(store, longer), "session-exists");
    await refused(() => restore(store, { ...given, state: { ...given.state, error: "x" } }), "session-exists");
    assert.deepEqual(await linesOf(await dump(store, given.id)), await linesOf(given));
  },
  "a restore that fails in the middle leaves nothing, and the next one succeeds": async ({ store }) => {
    const given = await foreignDump();
    const broken = { ...given, lines: () => followed(given, { log: "tools", line: '{"seq":3}' }) };
    await refused(() => restore(store, broken), "bad-message");
    await refused(() => store.info(everybody, given.id), "session-not-found");
    assert.deepEqual(await listAll(store), []);
    const stop = new AbortController();
    stop.abort();
    await refused(async () => store.transfer.restore(everybody, given, stop.signal), "aborted");
    await refused(() => store.info(everybody, given.id), "session-not-found");
    assert.equal((await restore(store, given)).outcome, "written");
  },
  "a secret does not come in, and what the mask took out is counted": async ({ store }) => {
    const given = await foreignDump();
    const line = foreignLine.replace("from afar", `with ${secret}`).replace("good", secret);
    const leaky = { ...given, lines: () => followed(given, { log: "messages", line }) };
    assert.equal((await restore(store, leaky)).masked, 1);
    const kept = JSON.stringify(await linesOf(await dump(store, given.id)));
    assert.ok(!kept.includes(secret));
    assert.ok(kept.includes("with [GITHUB_TOKEN]"));
    assert.equal((await restore(store, leaky)).outcome, "same");
  },
  "a session stays with its user and tenant, and one of a newer format is refused": async ({ store }) => {
    const given = await foreignDump();
    const theirs = { ...given, metadata: { ...given.metadata, tenant: "a", user: "me" } };
    await refused(async () => store.transfer.restore(everybody, theirs), "bad-option");
    await refused(async () => store.transfer.restore({ tenant: "a", user: "you" }, theirs), "bad-option");
    await store.transfer.restore({ tenant: "a" }, theirs);
    await refused(() => store.info(everybody, given.id), "session-not-found");
    await refused(() => restore(store, given), "session-exists");
    const newer = { ...(await foreignDump()), metadata: { ...given.metadata, format: 99 } };
    await refused(() => restore(store, newer), "format-newer");
    await refused(() => restore(store, { ...given, id: "../x" }), "session-id-invalid");
  },
});

/** A session with a line, and fields of its documents, that Windrow did not write. */
async function foreignDump(status: "processing" | "failed" = "processing"): Promise<SessionDump> {
  const other = ramStore();
  const lock = await other.create(everybody, newSession());
  await other.append(lock, everyKind().slice(0, 4));
  await other.append(lock, everyKind().slice(5));
  if (status === "failed") await other.finish(lock, stateOf(status));
  else await other.setState(lock, stateOf(status));
  const given = await dump(other, lock.id);
  const place = { log: "messages", line: foreignLine.replace('"mood"', '"pos":8,"mood"') } as const;
  return {
    id: given.id,
    metadata: { ...given.metadata, colour: "blue" },
    state: { ...given.state, weather: { sun: true } },
    async *lines() {
      for await (const one of given.lines()) {
        yield one;
        if (one.log === "messages") yield place;
        if (one.log === "summaries") yield { log: "summaries", line: foreignSummary };
      }
    },
  };
}

async function* followed(given: SessionDump, more: DumpedLine): AsyncGenerator<DumpedLine> {
  let added = false;
  for await (const one of given.lines()) {
    yield one;
    if (!added && one.log === more.log) yield more;
    added ||= one.log === more.log;
  }
}

async function linesOf(given: SessionDump): Promise<readonly DumpedLine[]> {
  const lines: DumpedLine[] = [];
  for await (const one of given.lines()) lines.push(one);
  return lines;
}

async function dump(store: Store, id: string): Promise<SessionDump> {
  return store.transfer.dump(everybody, id);
}

async function restore(store: Store, given: SessionDump): Promise<Restored> {
  return store.transfer.restore(everybody, given);
}
