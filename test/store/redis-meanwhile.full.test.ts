/** A session in Redis that goes, or is made anew, at any moment while it is examined is not told as damaged. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isWindrowError } from "windrow";
import type { Store } from "windrow";
import { redisStore } from "windrow/store/redis";
import { everybody, finishedSession } from "../kit/inside/store.ts";
import { hasRedis } from "../kit/redis.ts";
import { closing, problems, redisHere } from "./stage.ts";

const redis = redisHere();

const time = "2024-03-01T00:00:00.000Z";
const goings: Readonly<Record<string, (store: Store, id: string) => Promise<unknown>>> = {
  "is erased": (store, id) => store.upkeep.erase(everybody, [id]),
  "is trashed": (store, id) => store.upkeep.trash(everybody, [id], time),
  "is erased and made anew": async (store, id) => {
    await store.upkeep.erase(everybody, [id]);
    await finishedSession(store, everybody, undefined, id);
  },
  "is made": (store) => finishedSession(store),
};

/** A look at a store that is told what was found wrong. */
const looks: Readonly<Record<string, (store: Store, id: string) => Promise<readonly string[]>>> = {
  "doctor": (store) => problems(store),
  "doctor that mends": (store) => problems(store, true),
  async "recovery"(store, id) {
    try {
      return (await store.recovery(everybody, id)).map(({ problem }) => problem);
    } catch (error) {
      if (isWindrowError(error, "session-not-found")) return [];
      throw error;
    }
  },
};

const cases = Object.entries(looks).flatMap(([look, run]) =>
  Object.entries(goings).map(([how, go]) => ({ look, run, how, go })),
);

describe.skipIf(!hasRedis)("a session beside a", () => {
  it.each(cases)("$look that $how meanwhile", { timeout: 60_000 }, async ({ run, go }) => {
    const wrong: unknown[] = [];
    for (let at = 1, isPast = false; !isPast; at++) {
      const prefix = `meanwhile-${randomUUID()}:`;
      const other = closing(redisStore({ client: redis.client, prefix }));
      const id = await finishedSession(other);
      let commands = 0;
      const store = closing(
        redisStore({
          prefix,
          client: {
            async call(command, ...args) {
              if (++commands === at) await go(other, id);
              return redis.client.call(command, ...args);
            },
          },
        }),
      );
      const found = await run(store, id);
      // What was mended is no session that was gone.
      const left = await problems(other);
      if (found.length + left.length > 0) wrong.push({ at, found, left });
      isPast = commands < at;
      await store.close();
      await other.close();
    }
    expect(wrong).toEqual([]);
  });
});
