import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { register } from "windrow/conformance";
import { openStore } from "windrow/store";
import { storeConformance, storeCrashCases } from "windrow/store/conformance";

if (process.env.WINDROW_SQLITE === "own") {
  it("node:sqlite is there", () => assert.ok(process.getBuiltinModule("node:sqlite").DatabaseSync));
}

const targets = { ram: () => "ram:", files: (folder) => folder, sqlite: (folder) => `sqlite:${folder}/contexts.db` };

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
  describe(name, () => register(storeConformance(capabilities, open), { describe, it }));
  if (!capabilities.durable) continue;
  const place = async () => {
    const folder = mkdtempSync(join(tmpdir(), "windrow-stranger-"));
    return { where: urlOf(folder), remove: async () => rmSync(folder, { recursive: true }) };
  };
  const target = { module: import.meta.resolve("./store.mjs"), place };
  describe(`${name}, killed`, () => register(storeCrashCases(target), { describe, it }));
}
