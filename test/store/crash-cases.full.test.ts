/** The shipped crash cases, as a stranger runs them: from the compiled package, with a module of one's own. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeCrashCases } from "windrow/testing";
import type { ConformanceCase, CrashTarget } from "windrow/testing";
import { dist } from "../kit/build.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { driver } from "../kit/sqlite-stores.ts";

let folder: string;
let server: TestPostgres | undefined;
let redis: TestRedis | undefined;
let built: { readonly storeCrashCases: typeof storeCrashCases };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-crash-cases-"));
  built = (await import(pathToFileURL(join(dist, "store/testing/conformance.js")).href)) as typeof built;
  if (hasPostgres) server = await startPostgres();
  if (hasRedis) redis = await startRedis();
}, 60_000);
afterAll(async () => {
  server?.close();
  await redis?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A module that opens a store; `open` is its body, with `where` and `windrow`. */
async function target(name: string, open: string): Promise<CrashTarget> {
  const path = join(folder, `${name}.mjs`);
  const windrow = pathToFileURL(join(dist, "access/open.js")).href;
  const code = `import * as windrow from ${JSON.stringify(windrow)};\nexport async function open(where) { ${open} }\n`;
  await writeFile(path, code);
  return {
    module: pathToFileURL(path).href,
    async place() {
      const where = await mkdtemp(join(folder, `${name}-`));
      return { where, remove: () => rm(where, { recursive: true }) };
    },
  };
}

// The list of names is the same whatever the target.
const names = storeCrashCases({ module: "", place: () => Promise.reject(new Error("not used")) }).map(
  ({ name }) => name,
);
const caseOf = (of: CrashTarget, name: string): ConformanceCase =>
  built.storeCrashCases(of).find((one) => one.name === name)!;

describe.skipIf(process.platform === "win32")("crash cases", () => {
  it.each(names)(
    "files: %s",
    async (name) => {
      await expect(
        caseOf(await target("files", "return windrow.openStore(where);"), name).run(),
      ).resolves.toBeUndefined();
    },
    60_000,
  );

  it.skipIf(!driver).each(names)(
    "sqlite: %s",
    async (name) => {
      await expect(
        caseOf(await target("sqlite", "return windrow.openStore(`sqlite:${where}/contexts.db`);"), name).run(),
      ).resolves.toBeUndefined();
    },
    60_000,
  );

  it.skipIf(!hasPostgres).each(names)(
    "postgres: %s",
    async (name) => {
      const { module } = await target("postgres", "return windrow.openStore(where);");
      const place: CrashTarget["place"] = async () => ({
        where: `${server?.url}?schema=crash_${randomUUID().replaceAll("-", "")}&max=3`,
        remove: () => Promise.resolve(),
      });
      await expect(caseOf({ module, place }, name).run()).resolves.toBeUndefined();
    },
    60_000,
  );

  it.skipIf(!hasRedis).each(names)(
    "redis: %s",
    async (name) => {
      const { module } = await target("redis", "return windrow.openStore(where);");
      const place: CrashTarget["place"] = async () => ({
        where: `${redis?.url}?prefix=crash-${randomUUID()}:`,
        remove: () => Promise.resolve(),
      });
      await expect(caseOf({ module, place }, name).run()).resolves.toBeUndefined();
    },
    60_000,
  );

  it("find out a store that acknowledges before it has written", async () => {
    const open = `
      const store = await windrow.openStore(where);
      const eager = async (lock, records) => {
        const last = eager.last ?? { seq: 0, pos: 0 };
        eager.last = { seq: last.seq + 1, pos: last.pos + 1 };
        setTimeout(() => store.append(lock, records), 50);
        return [{ ...records[0], ...eager.last }];
      };
      const others = { get: (of, name) => (name === "append" ? eager : of[name]?.bind?.(of) ?? of[name]) };
      return new Proxy(store, others);`;
    await expect(caseOf(await target("eager", open), names[0]!).run()).rejects.toThrow(/is lost|no gap|deep-equal/);
  }, 60_000);
});
