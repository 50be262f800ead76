import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, it } from "vitest";
import { systemClock } from "windrow/store/author";
import { openDatabase as openShare, sqliteEngine } from "../kit/inside/store.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { asModelled } from "./model.ts";

/** Cases of some thirty calls each. */
const cases = 170;

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

describe.skipIf(!driver || process.platform !== "linux")("the session store, as a model says it", () => {
  it("over SQLite", async () => {
    const open = async () => {
      const folder = await temporaryFolder();
      folders.push(folder);
      return sqliteEngine(await openShare(join(folder, "contexts.db"), driver!, true), systemClock);
    };
    await fc.assert(asModelled(open), { numRuns: cases });
  }, 300_000);
});
