import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";

import { loadCounter, SessionManager } from "windrow";
import { searchFolderOf, semanticMemory, storeMemory } from "windrow/memory";
import { openStore } from "windrow/store";
import { fired } from "../kit/kit.mjs";
import { energeticEmbedder } from "./embedder.mjs";

const folder = mkdtempSync(join(tmpdir(), "windrow-energetic-"));
const index = searchFolderOf(folder);
const counter = await loadCounter("estimate");
let store;
let embedder;
let calls = 0;

before(async () => {
  store = await openStore(folder);
  const real = await energeticEmbedder();
  embedder = Object.assign((texts) => (calls++, real(texts)), { id: real.id });
  const manager = await SessionManager.open({ store });
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text: "My puppy swallowed a sock yesterday." }] });
  for (let day = 0; day < 60; day++) {
    await session.append({ role: "user", parts: [{ type: "text", text: `Invoice ${day} was paid by the bank.` }] });
  }
  await session.finish("completed");
});

after(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it("finds by meaning what shares no word, and says by which signals", async () => {
  const query = { text: "trouble with a dog", maxTokens: 60, counter };
  assert.deepEqual(await storeMemory(store, { index }).query(query), []);
  const passages = await semanticMemory(store, { index, embedder }).query(query);
  assert.ok(passages.some(({ text }) => text.includes("puppy")));
  assert.deepEqual(passages[0].signals, ["words", "meaning"]);
});

it("embeds a message once, also for another process: the vectors lie beside the index", async () => {
  const made = calls;
  await semanticMemory(store, { index, embedder }).query({ text: "a young hound", maxTokens: 60, counter });
  assert.equal(calls, made + 1);
  assert.equal(readdirSync(index).filter((name) => /^vectors-[0-9a-f]{16}-512$/.test(name)).length, 1);
  fired({ host: "energetic", version: "0.2.0", fired: { embed: calls } });
});
