import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { openStore } from "windrow/store";
import { register, storeConformance, storeCrashCases } from "windrow/testing";
import { fired } from "../kit/kit.mjs";

const ownSqlite = process.env.WINDROW_SQLITE === "own";
const counted = {};

it("the package is the packed one", () =>
  assert.match(import.meta.resolve("windrow/store"), /\/store\/node_modules\//));

if (ownSqlite) {
  it("node:sqlite is there", () => assert.ok(process.getBuiltinModule("node:sqlite").DatabaseSync));
}

/** Registers cases, and counts those that ran through. */
function count(name, cases) {
  counted[name] = 0;
  const counting = cases.map((one) => ({
    ...one,
    run: async (...given) => (await one.run(...given), counted[name]++),
  }));
  describe(name, () => register(counting, { describe, it }));
}

const sqlite = (folder) => `sqlite:${folder}/contexts.db`;
const targets = ownSqlite ? { sqlite } : { ram: () => "ram:", files: (folder) => folder, sqlite };

for (const [name, urlOf] of Object.entries(targets)) {
  const open = async () => {
    const folder = mkdtempSync(join(tmpdir(), "windrow-stranger-"));
    const stores = [];
    const reopen = async () => {
      stores.push(await openStore(urlOf(folder)));
      return stores.at(-1);
    };
    const close = async () => {
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    };
    return { store: await reopen(), reopen, close };
  };
  const probe = await open();
  const { capabilities } = probe.store;
  await probe.close();
  count(name, storeConformance(capabilities, open));
  if (!capabilities.durable) continue;
  const place = async () => {
    const folder = mkdtempSync(join(tmpdir(), "windrow-stranger-"));
    return { where: urlOf(folder), remove: async () => rmSync(folder, { recursive: true }) };
  };
  const target = { module: import.meta.resolve("./store.mjs"), place };
  count(`${name} killed`, storeCrashCases(target));
}

const { version } = JSON.parse(readFileSync(new URL("node_modules/windrow/package.json", import.meta.url), "utf8"));
after(() => fired({ host: "a store's contract", version, fired: counted }));
