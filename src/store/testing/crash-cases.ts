/**
 * Runnable cases of the crashes that a durable store survives: a process of its own writes, is killed without warning or
 * stopped and passed over, and what it was told is safe is looked for. Needs a system with signals (no Windows).
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConformanceCase } from "../../conformance.ts";
import { everybody, everyRecordKind, listAll, messageRecord, newSession, readAll, refused } from "./kit.ts";
import { isWindrowError } from "../../errors.ts";
import type { StoredRecord } from "../../message/record.ts";
import type { Store } from "../store.ts";
import { startVictim } from "./victim.ts";
import type { Victim } from "./victim.ts";

/** A durable store, for processes of their own. */
export interface CrashTarget {
  /**
   * The URL of a module that exports `open(where: string): Promise<Store>`. The processes that are killed import it, and
   * so does the case: a plain JavaScript file.
   */
  readonly module: string;
  /** Makes room for a store, empty: what `open` is called with, and how it is removed. */
  readonly place: () => Promise<{ readonly where: string; readonly remove: () => Promise<void> }>;
}

/** The store of a case, and its processes. */
interface Stage {
  readonly store: Store;
  /** Starts a process that does a task (crash-child.ts) with a session. */
  readonly start: (task: string, id?: string, prefix?: string, size?: number) => Victim;
}

type CrashCase = readonly [name: string, run: (stage: Stage) => Promise<void>];

const cases: readonly CrashCase[] = [
  [
    "killed ten times while it appends, three calls at a time: what was acknowledged is there, numbered without a gap",
    async ({ store, start }) => {
      const id = await newId(store);
      for (let round = 0; round < 10; round += 1) {
        const victim = start("append", id, `r${round}`);
        await victim.until("kept", 3);
        await sleep(Math.random() * 60);
        await victim.kill();
        await assertKept(store, id, victim);
      }
    },
  ],
  [
    "killed while it appends messages of two megabytes",
    async ({ store, start }) => {
      const id = await newId(store);
      for (let round = 0; round < 3; round += 1) {
        const victim = start("append", id, `r${round}`, 2_000_000);
        await victim.until("kept", 2);
        await sleep(Math.random() * 60);
        await victim.kill();
        await assertKept(store, id, victim);
      }
    },
  ],
  [
    "killed while it appends several records in a call: those of a kind are there together or not at all",
    async ({ store, start }) => {
      const id = await newId(store);
      for (let round = 0; round < 5; round += 1) {
        const victim = start("several", id, `r${round}`);
        await victim.until("kept", 5);
        await sleep(Math.random() * 60);
        await victim.kill();
        await assertKept(store, id, victim);
        const messages = (await readAll(store, id, { kind: "message" })).map(({ message }) => message.id);
        const mine = messages.filter((name) => name.startsWith(`r${round}-`));
        assert.equal(mine.length % 3, 0, "three messages were one call");
      }
    },
  ],
  [
    "while it lives the session is busy, and says by whom; killed, it is taken over, with a higher generation",
    async ({ store, start }) => {
      const id = await newId(store);
      const victim = start("append", id, "a");
      await victim.until("kept");
      const refusal = await store.lock(everybody, id).then(
        () => undefined,
        (error: unknown) => error,
      );
      await victim.assertAlive();
      assert.ok(isWindrowError(refusal, "session-busy"), `session-busy was expected, not ${String(refusal)}`);
      const owner = refusal.data["owner"] as { readonly processId?: number } | undefined;
      assert.equal(owner?.processId, victim.child.pid);
      const before = await readAll(store, id, { kind: "message", limit: 1 });
      assert.equal(before.length, 1, "it can be read meanwhile");
      await victim.kill();
      const lock = await store.lock(everybody, id);
      assert.ok(lock.owner.generation > 1);
      await store.append(lock, [messageRecord("next")]);
      await lock.release();
    },
  ],
  [
    "killed while its status changes: the state is the newest that was acknowledged, or the one after it",
    async ({ store, start }) => {
      const id = await newId(store);
      const victim = start("state", id);
      await victim.until("state", 3);
      await sleep(Math.random() * 30);
      await victim.kill();
      const told = Number(victim.lines().at(-1)?.split(" ")[1]);
      const { llmCallCount } = (await store.info(everybody, id)).state;
      assert.ok(llmCallCount === told || llmCallCount === told + 1, `state ${llmCallCount}, acknowledged ${told}`);
    },
  ],
  [
    "killed around the end of a session: it is finished or it is not, whole in either case",
    async ({ store, start }) => {
      for (let round = 0; round < 8; round += 1) {
        const id = await newId(store);
        const victim = start("finish", id, "f");
        await victim.until("kept");
        if (round % 4 === 0) await victim.until("finished");
        await sleep(round % 4);
        await victim.kill();
        const isTold = victim.lines().includes("finished");
        const { state } = await store.info(everybody, id);
        assert.ok(!isTold || state.status === "completed", "a finish that was acknowledged holds");
        assert.equal((await listAll(store)).filter(({ metadata }) => metadata.uuid === id).length, 1);
        if (state.status === "completed") {
          await refused(() => store.lock(everybody, id), "read-only");
          assert.equal((await readAll(store, id, { kind: "message" })).length, 1);
        } else await assertKept(store, id, victim);
      }
    },
  ],
  [
    "killed while it makes sessions: what was acknowledged is there; what was not is whole, or can be made again",
    async ({ store, start }) => {
      const victim = start("create");
      await victim.until("created", 3);
      await sleep(Math.random() * 30);
      await victim.kill();
      for (const line of victim.lines()) {
        const [word, id = ""] = line.split(" ");
        if (word === "created") assert.equal((await store.info(everybody, id)).metadata.uuid, id);
      }
      const [, last = ""] = victim.lines().at(-1)?.split(" ") ?? [];
      const listed = (await listAll(store)).map(({ metadata }) => metadata.uuid);
      if (listed.includes(last)) {
        const lock = await store.lock(everybody, last);
        await store.append(lock, [messageRecord("1")]);
        await lock.release();
      }
      assert.equal(new Set(listed).size, listed.length);
    },
  ],
  [
    "stopped, passed over by force, and let go on: it is refused as fenced, and nothing of it is seen",
    async ({ store, start }) => {
      const id = await newId(store);
      const victim = start("obey", id, "old");
      await victim.until("ready");
      victim.child.stdin.write("go\n");
      await victim.until("kept");
      victim.child.kill("SIGSTOP");
      await store.holding.unlock(everybody, id, { force: true, reason: "it hangs" });
      const lock = await store.lock(everybody, id);
      await store.append(lock, [messageRecord("new", { id: "new-1" })]);
      victim.child.kill("SIGCONT");
      victim.child.stdin.write("go\n");
      await victim.until("refused fenced");
      await store.append(lock, [messageRecord("new", { id: "new-2" })]);
      await lock.release();
      await victim.kill();
      const names = (await readAll(store, id, { kind: "message" })).map(({ message }) => message.id);
      assert.deepEqual(names, ["old-1", "new-1", "new-2"]);
      const edits = await readAll(store, id, { kind: "edit" });
      assert.deepEqual(
        edits.map(({ type }) => type),
        ["unlocked"],
      );
    },
  ],
];

/** The crash cases of a durable, shared store. Each takes a second or two. */
export function storeCrashCases(target: CrashTarget): readonly ConformanceCase[] {
  return cases.map(([name, run]) => ({
    group: "crash",
    name,
    async run() {
      const { open } = (await import(target.module)) as { readonly open: (where: string) => Promise<Store> };
      const { where, remove } = await target.place();
      const victims: Victim[] = [];
      const store = await open(where);
      const start = (task: string, id = "", prefix = "", size = 100) => {
        const victim = startVictim(target.module, where, task, id, prefix, String(size));
        victims.push(victim);
        return victim;
      };
      try {
        await run({ store, start });
      } finally {
        for (const victim of victims) await victim.kill();
        await store.close();
        await remove();
      }
    },
  }));
}

async function newId(store: Store): Promise<string> {
  const session = newSession();
  const lock = await store.create(everybody, session);
  await lock.release();
  return session.uuid;
}

/** Takes the session over and looks for every record that the dead process told of. */
async function assertKept(store: Store, id: string, victim: Victim): Promise<void> {
  const lock = await store.lock(everybody, id);
  await lock.release();
  const found = new Map<number, StoredRecord>();
  for (const kind of everyRecordKind) {
    const records = await readAll(store, id, { kind });
    assert.deepEqual(
      records.map(({ seq }) => seq),
      records.map((_, index) => index + 1),
    );
    for (const record of records) found.set(record.pos, record);
  }
  assert.deepEqual(
    [...found.keys()].sort((a, b) => a - b),
    Array.from(found, (_, index) => index + 1),
    "the places have no gap",
  );
  for (const line of victim.lines()) {
    const [word, kind, seq, pos, name] = line.split(" ");
    if (word !== "kept" || pos === undefined) continue;
    const record = found.get(Number(pos));
    assert.ok(record, `record ${pos} was acknowledged and is lost`);
    assert.deepEqual([record.kind, record.seq], [kind, Number(seq)]);
    if (record.kind === "message") assert.equal(record.message.id, name);
  }
}
