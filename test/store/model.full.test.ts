import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, it } from "vitest";
import { systemClock } from "windrow/store/author";
import { askerOf, filesEngine, openDatabase as openShare, placeOf, postgresEngine } from "../kit/inside/store.ts";
import { redisEngine, sqliteEngine } from "../kit/inside/store.ts";
import { systemArchives } from "../kit/inside/disk.ts";
import type { Engine } from "../kit/inside/store.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { hasRedis } from "../kit/redis.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { asModelled } from "./model.ts";
import { postgresHere, redisHere } from "./stage.ts";

/** Cases of some twenty calls each. */
const cases = 100;

const [postgres, redis] = [postgresHere(), redisHere()];
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Engines, and how an empty one is opened. */
const engines: Readonly<Record<string, readonly [isHere: boolean, open: () => Promise<Engine>]>> = {
  files: [
    true,
    async () => {
      const folder = await temporaryFolder();
      folders.push(folder);
      return filesEngine(folder, { durability: "strict", clock: systemClock, disk: systemArchives });
    },
  ],
  SQLite: [
    driver !== undefined,
    async () => {
      const folder = await temporaryFolder();
      folders.push(folder);
      return sqliteEngine(await openShare(join(folder, "contexts.db"), driver!, true), systemClock);
    },
  ],
  Postgres: [
    hasPostgres,
    async () => {
      const [location, schema] = ["postgres:", `model_${randomUUID().replaceAll("-", "")}`];
      const asker = askerOf(postgres.pool, { location, owned: false });
      return postgresEngine({ asker, schema, location, now: undefined, create: true });
    },
  ],
  Redis: [
    hasRedis,
    async () =>
      redisEngine(
        placeOf({ client: redis.client, prefix: `model-${randomUUID()}:` }, { location: "redis:", owned: false }),
      ),
  ],
};

describe.skipIf(process.platform !== "linux")("the session store, as a model says it", () => {
  for (const [name, [isHere, open]] of Object.entries(engines)) {
    it.skipIf(!isHere)(`over ${name}`, () => fc.assert(asModelled(open), { numRuns: cases }), 300_000);
  }
});
