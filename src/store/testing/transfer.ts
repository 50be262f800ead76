/** The cases about sessions on their way from one store to another, which is one in memory. */
import assert from "node:assert/strict";
import {
  cases,
  contents,
  everybody,
  everyKind,
  listedIds,
  messageRecord,
  refused,
  secret,
  sentRecords,
} from "./kit.ts";
import { sessionWith, stateOf, texts, time } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { ramStore } from "../ram/ram.ts";
import type { DumpedLine, Restored, Scope, SessionDump, Store } from "../store.ts";

const foreignLine =
  '{"seq":2,  "role":"user","content":"from afar","timestamp":"2024-01-15T10:31:00.123Z","token_count":3,"mood":"good"}';

/** A summary of a writer that knows no `seq`. */
const foreignSummary =
  '{"summary_id":2,"start_seq":3,"end_seq":4,"summary":"More.","created_at":"2024-01-15T10:32:00.000Z",' +
  '"original_tokens":12000,"summary_tokens":800,"compression_ratio":0.067,"mood":"good"}';

/** The cases of `transfer`. */
export const transferCases: readonly StoreCase[] = cases("transfer", {
  "a session goes into another store with its numbers, times, metadata and state, and is found to be the same": async ({
    store,
  }) => {
    const lock = await sessionWith(store, everyKind(), { user: "me" });
    await store.append(lock, [...everyKind(), ...sentRecords("Rule: keep calm. 静かに。\n".repeat(6_000))]);
    await store.setState(lock, stateOf("processing", 7));
    await lock.release();
    const other = ramStore();
    const written = await restore(other, await dump(store, lock.id));
    assert.deepEqual([written.outcome, written.masked], ["written", 0]);
    assert.deepEqual(await contents(other, lock.id), await contents(store, lock.id));
    assert.deepEqual(await restore(store, await dump(other, lock.id)), { ...written, outcome: "same" });
    await other.close();
  },
  "what came from another store is given out again line by line, also fields that nobody knows": async ({ store }) => {
    const given = await foreignDump();
    const times = { archived_at: time, last_record_at: time };
    const archived = { key: "x", hash: "x", lines: {}, bytes: 1, object_bytes: 1, ...times };
    await restore(store, { ...given, state: { ...given.state, archived } });
    assert.deepEqual(await whole(await dump(store, given.id)), await whole(given));
    assert.deepEqual(await texts(store, given.id), ["hello", "from afar"]);
    const lock = await store.lock(everybody, given.id);
    assert.deepEqual(lock.recovery, []);
    const [next] = await store.append(lock, [messageRecord("next")]);
    assert.deepEqual([next?.seq, next?.pos], [3, 9]);
  },
  "a finished session is finished there too, found to be the same a second time, and never overwritten": async ({
    store,
  }) => {
    const given = await foreignDump("failed");
    const first = await restore(store, given);
    await refused(() => store.lock(everybody, given.id), "read-only");
    assert.deepEqual(await listedIds(store, everybody, { status: "failed" }), [given.id]);
    assert.deepEqual(await restore(store, given), { ...first, outcome: "same" });
    await refused(() => restore(store, followed(given, "messages", foreignLine)), "session-exists");
    await refused(() => restore(store, { ...given, state: { ...given.state, error: "x" } }), "session-exists");
    assert.deepEqual(await whole(await dump(store, given.id)), await whole(given));
  },
  "a restore that fails in the middle leaves nothing, and the next one succeeds": async ({ store }) => {
    const given = await foreignDump();
    await refused(() => restore(store, followed(given, "tools", '{"seq":3}')), "bad-message");
    await refused(async () => store.transfer.restore(everybody, given, AbortSignal.abort()), "aborted");
    await refused(() => store.info(everybody, given.id), "session-not-found");
    assert.deepEqual(await listedIds(store), []);
    assert.equal((await restore(store, given)).outcome, "written");
  },
  "a secret does not come in, and what the mask took out is counted": async ({ store }) => {
    const line = foreignLine.replace("from afar", `with ${secret}`).replace("good", secret);
    const leaky = followed(await foreignDump(), "messages", line);
    assert.equal((await restore(store, leaky)).masked, 1);
    const kept = JSON.stringify(await whole(await dump(store, leaky.id)));
    assert.ok(!kept.includes(secret));
    assert.ok(kept.includes("with [GITHUB_TOKEN]"));
    assert.equal((await restore(store, leaky)).outcome, "same");
  },
  "a session stays with its user and tenant, and one of a newer format is refused": async ({ store }) => {
    const given = await foreignDump();
    const theirs = { ...given, metadata: { ...given.metadata, tenant: "a", user: "me" } };
    await refused(() => restore(store, theirs), "bad-option");
    await refused(() => restore(store, theirs, { tenant: "a", user: "you" }), "bad-option");
    await restore(store, theirs, { tenant: "a" });
    await refused(() => store.info(everybody, given.id), "session-not-found");
    await refused(() => restore(store, given), "session-exists");
    const newer = await foreignDump();
    await refused(() => restore(store, { ...newer, metadata: { ...newer.metadata, format: 99 } }), "format-newer");
    await refused(() => restore(store, { ...given, id: "../x" }), "session-id-invalid");
  },
});

/** A session with lines, and fields of its documents, that Windrow did not write. */
async function foreignDump(status: "processing" | "failed" = "processing"): Promise<SessionDump> {
  const other = ramStore();
  const lock = await sessionWith(other, everyKind().slice(0, 4));
  await other.append(lock, everyKind().slice(5));
  if (status === "failed") await other.finish(lock, stateOf(status));
  else await other.setState(lock, stateOf(status));
  const given = await dump(other, lock.id);
  const metadata = { ...given.metadata, colour: "blue" };
  const own = { ...given, metadata, state: { ...given.state, weather: { sun: true } } };
  const withMessage = followed(own, "messages", foreignLine.replace('"mood"', '"pos":8,"mood"'));
  return followed(withMessage, "summaries", foreignSummary);
}

/** A dump with one line more, behind the first of a log. */
function followed(given: SessionDump, log: DumpedLine["log"], line: string): SessionDump {
  return {
    ...given,
    async *lines() {
      let isAdded = false;
      for await (const one of given.lines()) {
        yield one;
        if (!isAdded && one.log === log) yield { log, line };
        isAdded ||= one.log === log;
      }
    },
  };
}

async function whole(given: SessionDump): Promise<unknown> {
  const lines: DumpedLine[] = [];
  for await (const one of given.lines()) lines.push(one);
  return { ...given, lines };
}

async function dump(store: Store, id: string): Promise<SessionDump> {
  return store.transfer.dump(everybody, id);
}

async function restore(store: Store, given: SessionDump, scope: Scope = everybody): Promise<Restored> {
  return store.transfer.restore(scope, given);
}
