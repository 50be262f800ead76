/** Several managers on one database in one process, other processes beside it: nothing acknowledged is lost. */
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "windrow/store";
import { dist } from "../kit/build.ts";
import { startManagers } from "../kit/managers.ts";
import type { Acknowledged, Managers } from "../kit/managers.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { driver, openDatabase } from "../kit/sqlite-stores.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, "all.db");
});
afterEach(() => rm(folder, { recursive: true }));

const start = (name: string): Managers => startManagers(dist, `sqlite:${file}`, name);

function windrow(...args: readonly string[]): Promise<unknown> {
  return promisify(execFile)(process.execPath, [join(dist, "cli/main.js"), ...args]);
}

/** Everything acknowledged is there, once, and in its order; the database is whole. */
async function expectAll(acknowledged: readonly Acknowledged[]): Promise<void> {
  const database = openDatabase(file);
  const integrity = database.prepare("PRAGMA integrity_check").all();
  database.close();
  expect(integrity).toMatchObject([{ integrity_check: "ok" }]);
  const store = await openStore(`sqlite:${file}`);
  const told = new Map<string, Acknowledged[]>();
  for (const one of acknowledged) told.set(one.session, [...(told.get(one.session) ?? []), one]);
  const found: string[] = [];
  for (const [session, messages] of told) {
    for await (const { message } of store.read({ tenant: messages[0]!.tenant }, session, { kind: "message" })) {
      const [part] = message.parts;
      if (part?.type === "text") found.push(part.text);
    }
  }
  await store.close();
  const wanted = [...told.values()].flat().map(({ text }) => text);
  expect(found.filter((text) => wanted.includes(text))).toEqual(wanted);
}

/** What a process does with its managers, before anything is written and behind its first messages. */
const cases: readonly (readonly [string, readonly object[], readonly string[]])[] = [
  ["one manager", [{ do: "open", tenant: "acme" }], ["acme"]],
  [
    "two managers",
    [
      { do: "open", tenant: "acme" },
      { do: "open", tenant: "beta" },
    ],
    ["acme", "beta"],
  ],
  [
    "two managers, the second closed again",
    [
      { do: "open", tenant: "acme" },
      { do: "pass", tenant: "beta" },
    ],
    ["acme"],
  ],
];

describe.skipIf(!driver)("a process beside which a command runs and another process writes", () => {
  describe.each(cases)("with %s", (_name, opening, tenants) => {
    it.each(["is killed", "closes in order"])("loses nothing when it %s", { timeout: 120_000 }, async (end) => {
      const process = start("first");
      await process.tell(...opening, ...tenants.map((tenant) => ({ do: "append", tenant, count: 5 })));
      await windrow("stats", "--store", `sqlite:${file}`, "--tenant", "acme");
      const other = start("other");
      await Promise.all([
        other.tell({ do: "open", tenant: "gamma" }, { do: "append", tenant: "gamma", count: 200 }),
        process.tell(...tenants.map((tenant) => ({ do: "append", tenant, count: 20 }))),
      ]);
      await (end === "is killed" ? process.kill() : process.end());
      await windrow("stats", "--store", `sqlite:${file}`, "--tenant", "acme");
      await other.end();
      expect([...process.failures(), ...other.failures()]).toEqual([]);
      const acknowledged = [...process.acknowledged(), ...other.acknowledged()];
      expect(acknowledged).toHaveLength(200 + 25 * tenants.length);
      await expectAll(acknowledged);
    });
  });
});
