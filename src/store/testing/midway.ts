/** The cases about a session that goes while it is read. */
import assert from "node:assert/strict";
import { cases, time, messageRecord, finishedSession, everyKind } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { isWindrowError } from "../../errors.ts";
import type { Scope, Store } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";

const mine: Scope = { tenant: "alpha", user: "me" };
const yours: Scope = { tenant: "alpha", user: "you" };

/** More than a store reads at once at first. */
const count = 100;

/** Repetitions of a text in its session's last message; the second makes it too large for a line of the file store. */
const repetitions = [1, 20_000] as const;

/** A session of mine goes, by name. */
const goings = {
  "trashed": async (_store, upkeep, id) => upkeep.trash(mine, [id], time),
  "erased": async (_store, upkeep, id) => upkeep.erase(mine, [id]),
  "put aside": async (_store, upkeep, id) => upkeep.putAside(mine, id),
  "trashed and brought back": async (_store, upkeep, id) => {
    await upkeep.trash(mine, [id], time);
    await upkeep.untrash(mine, id);
  },
  "erased and made anew": async (store, upkeep, id) => {
    await upkeep.erase(mine, [id]);
    await ended(store, mine, "anew", 2 * count, 1, id);
  },
  "erased and made anew by another user": async (store, upkeep, id) => {
    await upkeep.erase(mine, [id]);
    await ended(store, yours, "anew", 2 * count, 1, id);
  },
  "put aside and made anew": async (store, upkeep, id) => {
    await upkeep.putAside(mine, id);
    await ended(store, mine, "anew", 2 * count, 1, id);
  },
} satisfies Readonly<Record<string, (store: Store, upkeep: Upkeep, id: string) => Promise<unknown>>>;

/** How a session is read, by name: each gives text that tells its records. */
const readings = {
  async *read(store, id) {
    for await (const { message } of store.read(mine, id, { kind: "message" })) yield JSON.stringify(message);
  },
  async *dump(store, id) {
    const dump = await store.transfer.dump(mine, id);
    for await (const { line } of dump.lines()) yield line;
  },
} satisfies Readonly<Record<string, (store: Store, id: string) => AsyncGenerator<string>>>;

/** The cases of `upkeep` about sessions that go while they are read. */
export const midwayCases: readonly StoreCase[] = Object.entries(goings).flatMap(([how, go]) =>
  cases("upkeep", {
    [`who reads a session that is ${how} meanwhile gets all of it, or is told that it is not there`]: async ({
      upkeep,
      store,
    }) => {
      const readers = Object.entries(readings).flatMap((one) =>
        repetitions.map((repeated) => [...one, repeated] as const),
      );
      for (const [name, read, repeated] of readers) {
        const id = await ended(store, mine, "old", count, repeated);
        const { lines: whole } = await readBeside(read(store, id), async () => undefined);
        const { lines, isWhole } = await readBeside(read(store, id), () => go(store, upkeep, id));
        assert.ok(lines.length <= whole.length, `a ${name} went on with another session`);
        for (const [index, line] of lines.entries()) {
          assert.equal(line.slice(0, 200), whole[index]?.slice(0, 200), `a ${name} went on with another session`);
          assert.equal(line.length, whole[index]?.length, `a ${name} cut what it read`);
        }
        if (isWhole) assert.equal(lines.length, whole.length, `a ${name} ended with a part of its session`);
        for (const scope of [mine, yours]) assert.deepEqual(await recoveryOf(store, scope, id), []);
      }
    },
  }),
);

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

async function recoveryOf(store: Store, scope: Scope, id: string): Promise<readonly unknown[]> {
  try {
    return await store.recovery(scope, id);
  } catch (error) {
    if (!isWindrowError(error, "session-not-found")) throw error;
    return [];
  }
}

/** A session that ended, with records of every kind. */
function ended(store: Store, scope: Scope, text: string, messages: number, repeated: number, uuid?: string) {
  const records = Array.from({ length: messages }, (_, index) => messageRecord(`${text} ${index}`));
  return finishedSession(store, scope, [...records, messageRecord(text.repeat(repeated)), ...everyKind()], uuid);
}
