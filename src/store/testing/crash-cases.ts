/**
 * Runnable cases of the crashes that a durable store survives: a process of its own writes, is killed without warning or
 * stopped and passed over, and what it was told is safe is looked for. Needs a system with signals (no Windows).
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConformanceCase } from "../../conformance.ts";
import { everybody, everyRecordKind, listedIds, messageRecord, readAll, refused, sessionWith } from "./kit.ts";
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

const cases: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  "killed again and again while it makes, writes and finishes sessions: what was acknowledged is there, all of it once":
    (stage) => killed(stage, { rounds: 10, most: 40 }),
  "killed while it writes messages of two megabytes": (stage) => killed(stage, { rounds: 3, most: 6, size: 2_000_000 }),
  "while it lives the session is busy, and says by whom; killed, it is taken over, with a higher generation": async ({
    store,
    start,
  }) => {
    const id = await newId(store);
    const victim = start("live", id, "a");
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
  "stopped, passed over by force, and let go on: it is refused as fenced, and nothing of it is seen": async ({
    store,
    start,
  }) => {
    const id = await newId(store);
    const victim = start("obey", id, "old");
    await victim.until("taken");
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
    assert.deepEqual(names, ["old-m-1", "new-1", "new-2"]);
    const edits = await readAll(store, id, { kind: "edit" });
    assert.deepEqual(
      edits.map(({ type }) => type),
      ["unlocked"],
    );
  },
};

/** The crash cases of a durable, shared store. Each takes a second or two. */
export function storeCrashCases(target: CrashTarget): readonly ConformanceCase[] {
  return Object.entries(cases).map(([name, run]) => ({
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
  const lock = await sessionWith(store, 0);
  await lock.release();
  return lock.id;
}

/** How often a process is killed, the most that it says until then, in lines, and the size of its messages. */
interface Killing {
  readonly rounds: number;
  readonly most: number;
  readonly size?: number;
}

/** Kills processes at any moment of their sessions' lives; each goes on where the one before died. */
async function killed({ store, start }: Stage, { rounds, most, size }: Killing): Promise<void> {
  let id: string | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const victim = start("live", id, `r${round}`, size);
    await victim.until("", 2 + Math.floor(Math.random() * most));
    await sleep(Math.random() * 30);
    await victim.kill();
    id = await assertKept(store, victim);
  }
}

/** Looks for all that a dead process said of its sessions, and takes over the one that it wrote. @returns its id */
async function assertKept(store: Store, victim: Victim): Promise<string | undefined> {
  const lines = victim.lines().map((line) => line.split(" "));
  const listed = await listedIds(store);
  assert.equal(new Set(listed).size, listed.length);
  let unfinished: string | undefined;
  for (const id of new Set(lines.map(([, session = ""]) => session))) {
    const own = lines.filter(([, session]) => session === id);
    // A making that was not acknowledged is whole, or never was.
    if (own.every(([word]) => word === "creating") && !listed.includes(id)) continue;
    const { status, llmCallCount } = (await store.info(everybody, id)).state;
    const told = Math.max(0, ...own.map(([word, , calls]) => (word === "kept" ? 0 : Number(calls ?? 0))));
    assert.ok(llmCallCount === told || llmCallCount === told + 1, `state ${llmCallCount}, acknowledged ${told}`);
    if (own.some(([word]) => word === "finished")) assert.equal(status, "completed");
    if (status === "completed") await refused(() => store.lock(everybody, id), "read-only");
    else {
      await (await store.lock(everybody, id)).release();
      unfinished = id;
    }
    await assertRecords(store, id, own);
  }
  return unfinished;
}

/** The records of a session are numbered without a gap, calls are whole, and all that was acknowledged is there. */
async function assertRecords(store: Store, id: string, told: readonly (readonly string[])[]): Promise<void> {
  const found = new Map<number, StoredRecord>();
  let several = 0;
  for (const kind of everyRecordKind) {
    const records = await readAll(store, id, { kind });
    assert.deepEqual(
      records.map(({ seq }) => seq),
      records.map((_, index) => index + 1),
    );
    for (const record of records) {
      found.set(record.pos, record);
      if (record.kind === "message" && record.message.id.includes("several")) several += 1;
    }
  }
  assert.deepEqual(
    [...found.keys()].sort((a, b) => a - b),
    Array.from(found, (_, index) => index + 1),
    "the places have no gap",
  );
  assert.equal(several % 3, 0, "three messages were one call");
  for (const [word, , kind, seq, pos, name] of told) {
    if (word !== "kept") continue;
    const record = found.get(Number(pos));
    assert.ok(record, `record ${pos} was acknowledged and is lost`);
    assert.deepEqual([record.kind, record.seq], [kind, Number(seq)]);
    if (record.kind === "message")
      assert.equal(record.message.id, name, `record ${pos} is another than was acknowledged`);
  }
}
