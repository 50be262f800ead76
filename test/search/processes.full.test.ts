/** An index that processes write, several at once, and are killed in the middle of it. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Store } from "windrow";
import { search } from "windrow/ops";
import { messageText } from "../kit/inside/message.ts";
import { catchUp, SearchIndex } from "../kit/inside/search.ts";
import { messageRecord, newSession, stateOf } from "../kit/inside/store.ts";
import { termsOf } from "../kit/inside/window.ts";
import { storeFolder } from "../ops/store-kit.ts";
import type { StoreFolder } from "../ops/store-kit.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import { bruteForce, scoreLine } from "./brute-force.ts";
import type { Said } from "./brute-force.ts";

const indexer = "test/search/child/indexer.js";
const words = ["alpha", "beta", "gamma", "delta", "認証", "parser", "crashed"];

let place: StoreFolder;
let store: Store;
let folder: string;
let seed = 11;
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;

beforeEach(async () => {
  place = await storeFolder();
  store = place.open();
  folder = join(place.folder, "search-index");
});

afterEach(() => place.remove());

/** Makes sessions of some words; every other one is finished. */
async function write(sessions: number): Promise<void> {
  for (let number = 0; number < sessions; number++) {
    const lock = await store.create({}, newSession());
    const texts = Array.from({ length: 12 }, () =>
      Array.from({ length: 9 }, () => words[Math.floor(random() * words.length)]).join(" "),
    );
    await store.append(
      lock,
      texts.map((text) => messageRecord(text)),
    );
    if (number % 2 === 0) await store.finish(lock, stateOf("completed"));
    else await lock.release();
  }
}

async function logOf(): Promise<readonly Said[]> {
  const log: Said[] = [];
  for await (const { metadata } of store.list({})) {
    for await (const { seq, message } of store.read({}, metadata.uuid, { kind: "message" })) {
      log.push({ session: metadata.uuid, seq, text: messageText(message) });
    }
  }
  return log;
}

/** What the index answers otherwise than a look into every message does. */
async function differences(): Promise<readonly string[]> {
  const log = await logOf();
  const index = new SearchIndex(folder);
  index.open();
  await catchUp(index, store, {});
  const wrong: string[] = [];
  for (const query of ["alpha crashed", "認証 parser gamma"]) {
    const found = index.rankNow(new Set(termsOf(query)), { entries: [...index.entries()], limit: 100_000 });
    const lines = new Set(found.map(({ entry, seq, score }) => scoreLine(entry.id, seq, score)));
    const wanted = new Set(bruteForce(log, query, () => true));
    wrong.push(...[...lines].filter((line) => !wanted.has(line)), ...[...wanted].filter((line) => !lines.has(line)));
  }
  index.close();
  const query = "alpha beta 認証";
  const plain = JSON.stringify((await search(store, { query, limit: 10_000 })).hits);
  const { hits } = await search(store, { query, index: folder, limit: 10_000 });
  return JSON.stringify(hits) === plain && log.length > 0 ? wrong : [...wrong, "windrow search"];
}

it("is whole after a process was killed in the middle of its writing, ten times", async () => {
  for (let round = 0; round < 10; round++) {
    await write(6);
    const child = startChild(indexer, [dist, place.folder, folder, "1"]);
    const lines = 1 + Math.floor(random() * 4);
    await child.until((said) => said.length >= lines || said.includes("done"));
    await child.kill();
  }
  expect(await differences()).toEqual([]);
}, 120_000);

it("answers the same while two processes catch up and a third one writes sessions", async () => {
  await write(4);
  const children = [1, 2].map(() => startChild(indexer, [dist, place.folder, folder, "40"]));
  try {
    for (let round = 0; round < 4; round++) {
      await write(2);
      expect(await differences()).toEqual([]);
    }
    for (const child of children) {
      await child.until((said) => said.includes("done"));
      expect(await child.ended).toBe(0);
    }
    expect(await differences()).toEqual([]);
  } finally {
    for (const child of children) await child.kill();
  }
}, 120_000);
