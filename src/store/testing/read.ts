/** The cases about reading: ranges, tails and limits of a log, and sessions that change while they are read. */
import assert from "node:assert/strict";
import { cases, everybody, everyKind, everyRecordKind, finishedSession, listedIds, messageRecord } from "./kit.ts";
import { readAll, refused, sessionWith, texts, time } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { isWindrowError } from "../../errors.ts";
import type { ReadQuery, Scope, Store } from "../store.ts";

type Range = Omit<ReadQuery, "kind">;

const querying: readonly StoreCase[] = cases("read", {
  "an empty session, and a kind that has no records, give nothing": async ({ store }) => {
    const lock = await sessionWith(store, 0);
    for (const kind of everyRecordKind) assert.deepEqual(await readAll(store, lock.id, { kind, last: 3 }), []);
  },
  "ranges, tails and limits are right at every place of a long log of short and long lines": async ({ store }) => {
    const given = Array.from({ length: 120 }, (_, index) => `${index + 1} ${"x".repeat((index % 10) ** 4)}`);
    const records = given.map((text, index) => messageRecord(text, { id: `m${index}` }));
    const { id } = await sessionWith(store, records);
    for (const range of ranges()) {
      const { from = 0, to = 120, last, limit } = range;
      const within = given.slice(Math.max(0, from - 1), to);
      const expected = last === undefined ? within.slice(0, limit) : within.slice(Math.max(0, within.length - last));
      assert.deepEqual(await texts(store, id, range), expected, JSON.stringify(range));
    }
  },
  "a query that makes no sense is refused": async ({ store }) => {
    const { id } = await sessionWith(store, 1);
    for (const range of [{ last: 1, limit: 1 }, { from: -1 }, { last: 1.5 }])
      await refused(() => texts(store, id, range), "bad-option");
  },
  "can be left early, and goes on while the session is written": async ({ store }) => {
    const lock = await sessionWith(store, 5);
    for await (const record of store.read(everybody, lock.id, { kind: "message" })) {
      if (record.seq === 2) break;
      await store.append(lock, [messageRecord("6")]);
    }
    assert.deepEqual(await texts(store, lock.id, { last: 1 }), ["6"]);
    assert.deepEqual(await store.recovery(everybody, lock.id), []);
  },
});

/** Queries about the ends and the middle of a log of 120 lines, and beyond it. */
function ranges(): readonly Range[] {
  const places = [0, 11, 120, 121];
  const spans: readonly Range[] = [
    ...[{}, { from: 11, to: 60 }, { from: 60, to: 61 }, { from: 61, to: 60 }],
    ...places.flatMap((place) => [{ from: place }, { to: place }]),
  ];
  const counts = [0, 2, 121].flatMap((count) => [{ last: count }, { limit: count }]);
  return spans.flatMap((span) => [span, ...counts.map((one) => ({ ...span, ...one }))]);
}

const tenant: Scope = { tenant: "alpha" };
const mine: Scope = { ...tenant, user: "me" };

/** More messages than a store reads at once at first. */
const count = 100;

/** Repetitions of a text in its session's last message; the second makes it too large for a line of the file store. */
const repetitions = [1, 20_000] as const;

/** What happens to a session while it is read, by name. */
const goings: Readonly<Record<string, (store: Store, id: string) => Promise<unknown>>> = {
  "is put into the trash": ({ upkeep }, id) => upkeep.trash(mine, [id], time),
  "goes into the trash and comes back": async ({ upkeep }, id) => {
    await upkeep.trash(mine, [id], time);
    await upkeep.untrash(mine, id);
  },
  "is put aside": ({ upkeep }, id) => upkeep.putAside(mine, id),
  "is put aside and made anew": async (store, id) => {
    await store.upkeep.putAside(mine, id);
    await ended(store, mine, "anew", 2 * count, 1, id);
  },
  "is erased": ({ upkeep }, id) => upkeep.erase(mine, [id]),
  "is erased and made anew by another user": async (store, id) => {
    await store.upkeep.erase(mine, [id]);
    await ended(store, { ...tenant, user: "you" }, "anew", 2 * count, 1, id);
  },
};

/** How a session is read: each gives text that tells its records. */
const readers: readonly ((store: Store, id: string) => AsyncGenerator<string>)[] = [
  async function* (store, id) {
    for await (const { message } of store.read(mine, id, { kind: "message" })) yield brief(JSON.stringify(message));
  },
  async function* (store, id) {
    for await (const { line } of (await store.transfer.dump(mine, id)).lines()) yield brief(line);
  },
];

const going: readonly StoreCase[] = Object.entries(goings).flatMap(([how, go]) =>
  cases("read", {
    [`of a session that ${how} meanwhile gives all of it, or says that it is not there`]: async ({ store }) => {
      for (const [read, repeated] of readers.flatMap((one) => repetitions.map((many) => [one, many] as const))) {
        const id = await ended(store, mine, "old", count, repeated);
        const { lines: whole } = await readBeside(read(store, id), async () => undefined);
        const { lines, isWhole } = await readBeside(read(store, id), () => go(store, id));
        assert.deepEqual(lines, whole.slice(0, lines.length));
        if (isWhole) assert.equal(lines.length, whole.length, "the reading ended with a part of its session");
      }
      for (const id of await listedIds(store, tenant)) assert.deepEqual(await store.recovery(tenant, id), []);
    },
  }),
);

/** A line as far as it differs from others. */
function brief(line: string): string {
  return `${line.length} ${line.slice(0, 200)}`;
}

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

/** A session that ended, with records of every kind. */
function ended(store: Store, scope: Scope, text: string, messages: number, repeated: number, uuid?: string) {
  const records = Array.from({ length: messages }, (_, index) => messageRecord(`${text} ${index}`));
  return finishedSession(store, scope, [...records, messageRecord(text.repeat(repeated)), ...everyKind()], uuid);
}

/** Queried, and read while the session goes. */
export const readCases: readonly StoreCase[] = [...querying, ...going];
