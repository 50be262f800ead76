/** The cases about a session that goes while it is read. A store without upkeep passes them as it is. */
import assert from "node:assert/strict";
import { isWindrowError } from "../../errors.ts";
import { everybody, messageRecord, newSession, sessionWith, stateOf } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { withUpkeep } from "./upkeep.ts";
import type { Store } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";

const time = "2024-03-01T00:00:00.000Z";

/** More than a store reads at once at first. */
const count = 100;

/** A session goes, by name. */
const goings = {
  "trashed": async (_store, upkeep, id) => upkeep.trash(everybody, [id], time),
  "erased": async (_store, upkeep, id) => upkeep.erase(everybody, [id]),
  "trashed and brought back": async (_store, upkeep, id) => {
    await upkeep.trash(everybody, [id], time);
    await upkeep.untrash(everybody, id);
  },
  "trashed and made anew": async (store, upkeep, id) => {
    await upkeep.trash(everybody, [id], time);
    await makeAnew(store, id);
  },
  "erased and made anew": async (store, upkeep, id) => {
    await upkeep.erase(everybody, [id]);
    await makeAnew(store, id);
  },
} satisfies Readonly<Record<string, (store: Store, upkeep: Upkeep, id: string) => Promise<unknown>>>;

/** How a session is read, by name: each gives the texts of its messages. */
const readings = {
  async *read(store, id) {
    for await (const { message } of store.read(everybody, id, { kind: "message" })) yield JSON.stringify(message);
  },
  async *dump(store, id) {
    const dump = await store.transfer?.dump(everybody, id);
    for await (const { line } of dump?.lines() ?? []) yield line;
  },
} satisfies Readonly<Record<string, (store: Store, id: string) => AsyncGenerator<string>>>;

/** The cases of `upkeep` about sessions that go while they are read. */
export const midwayCases: readonly StoreCase[] = Object.entries(goings).map(([how, go]) => ({
  group: "upkeep",
  name: `who reads a session that is ${how} meanwhile gets all of it, or is told that it is not there`,
  run: withUpkeep(async (upkeep, store) => {
    for (const [name, read] of Object.entries(readings)) {
      if (name === "dump" && !store.transfer) continue;
      const lock = await sessionWith(store, count);
      await store.finish(lock, stateOf("completed"));
      const { lines, isWhole } = await readBeside(read(store, lock.id), () => go(store, upkeep, lock.id));
      const others = lines.filter((line) => line.includes("anew")).length;
      assert.equal(others, 0, `a ${name} went on with another session`);
      if (isWhole) assert.equal(lines.length, count, `a ${name} ended with a part of its session`);
    }
  }),
}));

/** Reads to the end, or until the session is not found; calls back behind the first line. */
async function readBeside(
  reading: AsyncGenerator<string>,
  go: () => Promise<unknown>,
): Promise<{ readonly lines: readonly string[]; readonly isWhole: boolean }> {
  const lines: string[] = [];
  try {
    for await (const line of reading) {
      if (lines.push(line) === 1) await go();
    }
    return { lines, isWhole: true };
  } catch (error) {
    if (!isWindrowError(error, "session-not-found")) throw error;
    return { lines, isWhole: false };
  }
}

async function makeAnew(store: Store, uuid: string): Promise<void> {
  const lock = await store.create(everybody, newSession({ uuid }));
  const records = Array.from({ length: 2 * count }, (_, index) => messageRecord(`anew ${index}`));
  await store.append(lock, records);
  await store.finish(lock, stateOf("completed"));
}
