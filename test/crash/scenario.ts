/** A session that is written while the power or the process may go at any step, and what must be true afterwards. */
import assert from "node:assert/strict";
import { isWindrowError } from "windrow";
import type { Lock, Store } from "windrow";
import type { RecordKind, SessionStatus, StoredRecord } from "windrow/store";
import type { Clock, NewRecord } from "windrow/store/author";
import type { Disk } from "../kit/inside/disk.ts";
import { everybody, filesStore, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import type { Choose } from "./crash-disk.ts";
import { CrashDisk } from "./crash-disk.ts";

/** One thing the writer does. */
export type Step =
  | { readonly do: "append"; readonly sizes: readonly number[]; readonly tools: boolean; readonly wait: boolean }
  | { readonly do: "state"; readonly status: "processing" | "compressing" }
  | { readonly do: "reopen" }
  | { readonly do: "finish" };

/** What the writer was told is safe. */
export interface Promised {
  readonly id: string;
  created: boolean;
  finished: boolean;
  readonly records: StoredRecord[];
}

const memoryBase = "/base";
const timestamp = "2024-01-15T10:30:01.123Z";
const clock: Clock = { now: () => Date.parse(timestamp), every: () => () => undefined, elapsed: () => 0 };
const kinds: readonly RecordKind[] = ["message", "call", "tool", "usage", "summary", "snapshot", "edit"];

/** Chance from a number: the same number, the same choices. */
export function chance(seed: number): Choose {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** How a session is written. */
export interface WriteOptions {
  readonly base?: string;
  /** Called whenever something more was promised. */
  readonly onPromise?: (promised: Promised) => void;
}

/** Writes a session on a disk that may die; returns what was promised until then. */
export async function write(
  disk: Disk,
  steps: readonly Step[],
  { base = memoryBase, onPromise = () => undefined }: WriteOptions = {},
): Promise<Promised> {
  const session = newSession();
  const promised: Promised = { id: session.uuid, created: false, finished: false, records: [] };
  const store = filesStore({ folder: base, clock }, { disk });
  const open: Promise<unknown>[] = [];
  let usages = 0;
  let count = 0;
  let lock: Lock | undefined;
  const append = (records: readonly NewRecord[]): Promise<void> => {
    const done = store.append(lock!, records).then((stored) => {
      promised.records.push(...stored);
      onPromise(promised);
    });
    open.push(done.catch(() => undefined));
    return done;
  };
  try {
    lock = await store.create(everybody, session);
    promised.created = true;
    onPromise(promised);
    for (const step of steps) {
      if (step.do === "append") {
        const records: NewRecord[] = step.sizes.map((size) => messageRecord(text(size, count), { id: `n${count++}` }));
        const call = { callId: `c${count}`, toolName: "run", arguments: {}, timestamp };
        if (step.tools)
          records.push({ kind: "call", ...call }, { kind: "tool", ...call, status: "success", durationMs: 1 });
        // Without it, appends that do not wait share a write.
        if (step.tools || step.wait) {
          records.push({ kind: "usage", purpose: "turn", usage: { input: 1 }, timestamp });
          usages += 1;
        }
        const done = append(records);
        if (step.wait) await done;
        else done.catch(() => undefined);
      } else if (step.do === "state") {
        await store.setState(lock, stateOf<SessionStatus>(step.status, usages));
      } else if (step.do === "reopen") {
        await lock.release();
        lock = await store.lock(everybody, session.uuid);
      } else {
        await store.finish(lock, stateOf("completed", usages));
        promised.finished = true;
        onPromise(promised);
        break;
      }
    }
  } catch (error) {
    if (!(disk instanceof CrashDisk) || disk.stepsLeft > 0) throw error;
  }
  await Promise.all(open);
  if (!(disk instanceof CrashDisk)) await store.close();
  return promised;
}

/**
 * What must be true on the disk that came back. Throws where it is not.
 *
 * @returns how many records are there
 */
export async function verify(disk: Disk, promised: Promised, base = memoryBase): Promise<number> {
  const store = filesStore({ folder: base, clock }, { disk });
  const { id } = promised;
  if (!promised.created) {
    await store.info(everybody, id).catch((error: unknown) => assert.ok(isWindrowError(error), String(error)));
    await store.close();
    return 0;
  }
  const info = await store.info(everybody, id);
  const places = ["running", "completed"].filter((folder) => disk.exists(`${base}/${folder}/${id}`));
  assert.equal(places.length, 1, `the session is in ${places.join(" and ") || "no folder"}`);
  if (promised.finished) assert.equal(info.state.status, "completed");
  let lock: Lock | undefined;
  try {
    lock = await store.lock(everybody, id);
  } catch (error) {
    assert.ok(isWindrowError(error, "read-only"), String(error));
    assert.ok(disk.exists(`${base}/completed/${id}`), "a finished session is in completed/");
  }
  const found = await everyRecord(store, id);
  assert.deepEqual(
    found.map((one) => one.pos),
    found.map((_, index) => index + 1),
    "pos has no gap",
  );
  for (const record of promised.records)
    assert.deepEqual(found[record.pos - 1], record, `record ${record.pos} is lost`);
  const damaged = (await store.recovery(everybody, id)).filter((one) => one.problem === "damaged");
  assert.deepEqual(damaged, [], "no damaged line is left");
  const calls = found.filter((one) => one.kind === "usage").length;
  const { state } = await store.info(everybody, id);
  assert.ok(state.llmCallCount <= calls || state.lastActivity === "state_rebuilt", "the state is ahead of its log");
  if (!lock) await store.close();
  else {
    const [next] = await store.append(lock, [messageRecord("afterwards")]);
    assert.equal(next?.pos, found.length + 1);
    await store.close();
    const again = filesStore({ folder: base, clock }, { disk });
    assert.deepEqual((await again.lock(everybody, id)).recovery, [], "mending once is enough");
    assert.equal((await everyRecord(again, id)).length, found.length + 1);
    await again.close();
  }
  return found.length;
}

/** Writes, cuts the power (or only kills the process), and verifies; returns whether the power went in the middle. */
export async function crash(disk: CrashDisk, steps: readonly Step[], stopAt: number, seed: number): Promise<void> {
  disk.stepsLeft = stopAt;
  const promised = await write(disk, steps);
  const choose = chance(seed);
  const after = choose(5) === 0 ? disk.afterKill() : disk.afterPowerCut(choose);
  await verify(after, promised);
}

function text(size: number, seed: number): string {
  return `${seed} `.repeat(Math.ceil(size / 2)).slice(0, size);
}

async function everyRecord(store: Store, id: string): Promise<readonly StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (const kind of kinds) found.push(...(await readAll(store, id, { kind })));
  return found.sort((a, b) => a.pos - b.pos);
}
