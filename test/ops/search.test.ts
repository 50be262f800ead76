/** Full text over all sessions: what is found, by whom, and what the index may not change. */
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Store } from "windrow";
import { erase, search } from "windrow/ops";
import type { SearchHit } from "windrow/ops";
import { answered, openManager, openSession } from "../kit/sessions.ts";
import { SearchIndex } from "../kit/inside/search.ts";
import { storePlace } from "./store-kit.ts";
import type { StoreFolder } from "./store-kit.ts";

let place: StoreFolder;
let store: Store;
let index: string;
let time = Date.UTC(2024, 0, 15);

beforeEach(async () => {
  ({ place, store } = await storePlace());
  index = join(place.folder, "search-index");
});

/** A session of user messages. */
async function write(texts: readonly string[], { user, finish = true }: { user?: string; finish?: boolean } = {}) {
  const now = (): Date => new Date((time += 1_000));
  const manager = await SessionManager.open({ store, now, ...(user !== undefined && { user }) });
  const session = await manager.create();
  for (const text of texts) await session.append(text);
  if (finish) await session.finish("completed");
  else await session.close();
  return session.id;
}

const places = (hits: readonly SearchHit[]): readonly string[] =>
  hits.map(({ sessionId, seq }) => `${sessionId} ${seq}`);
const find = async (query: string): Promise<readonly string[]> => places((await search(store, { query, index })).hits);

it("finds words of English, Japanese and Chinese, of two characters and of one", async () => {
  const id = await write([
    "The parser crashed while composing",
    "ユーザー認証が失敗した",
    "用户认证失败",
    "今日は晴れ",
  ]);
  for (const [query, seq] of [
    ["parser crash", 1],
    ["COMPOSING", 1],
    ["認証", 2],
    ["认证", 3],
    ["晴", 4],
    ["ユーザー", 2],
  ] as const) {
    expect(await find(query), query).toEqual([`${id} ${seq}`]);
  }
  expect(await find("認識")).toEqual([]);
});

it("wants all words in one message, and quoted ones as they stand", async () => {
  const id = await write(["alpha beta", "alpha", "beta", "the beta of   alpha"]);
  expect(await find("beta alpha")).toEqual([`${id} 4`, `${id} 1`]);
  expect(await find('"Beta of alpha"')).toEqual([`${id} 4`]);
  expect(await find('"of"')).toEqual([`${id} 4`]);
});

it("finds an error line as it was printed, with what stands around it", async () => {
  const line = "TypeError: Cannot read properties of undefined (reading 'has')";
  const id = await write([`${"x ".repeat(500)}\n${line}\n    at main.ts:3${" y".repeat(500)}`, "all is well"]);
  const { hits } = await search(store, { query: line, index });
  expect(places(hits)).toEqual([`${id} 1`]);
  expect(hits[0]?.excerpt).toContain(line);
});

it("does without an index that cannot be written, and an erasure says so", async () => {
  const ids = [await write(["a heron"]), await write(["a stork"])] as const;
  // As a full disk, refuses the table of an index.
  const obstacle = join(index, "sessions.jsonl.new");
  for (const [place, bird] of ["heron", "stork"].entries()) {
    mkdirSync(obstacle, { recursive: true });
    expect(await find(bird)).toEqual([`${ids[place]} 1`]);
    await expect(erase(store, [ids[place]!], { index })).rejects.toMatchObject({ code: "store-unavailable" });
    rmdirSync(obstacle);
    expect(await find(bird)).toEqual([]);
  }
  // The next call ends the erasures before it.
  expect(await erase(store, [], { index })).toMatchObject([{ sessionId: ids[1], resumed: true }]);
  expect(await store.upkeep.unerased({})).toEqual([]);
});

it("refuses a query without a word", async () => {
  await expect(search(store, { query: "of the", index })).rejects.toMatchObject({ code: "bad-option" });
  await expect(search(store, { query: "?!", index })).rejects.toMatchObject({ code: "bad-option" });
});

it("shows a user only what is theirs", async () => {
  const mine = await write(["a canary sings"], { user: "ann" });
  await write(["a canary sings"], { user: "bob" });
  const all = await search(store, { query: "canary", index });
  expect(all.hits).toHaveLength(2);
  const { hits } = await search(store, { query: "canary", index, scope: { user: "ann" } });
  expect(places(hits)).toEqual([`${mine} 1`]);
  expect(places((await search(store, { query: "canary", scope: { user: "ann" } })).hits)).toEqual([`${mine} 1`]);
});

it("reads a line once: what was added since, and finished sessions not at all", async () => {
  const open = await write(["first words"], { finish: false });
  await write(["other words"]);
  expect((await search(store, { query: "words", index })).indexed).toBe(2);
  const manager = await openManager({ store });
  const session = await manager.resume(open);
  await session.append("more words");
  const again = await search(store, { query: "words", index });
  expect(again.indexed).toBe(1);
  expect(again.hits.map(({ excerpt }) => excerpt).toSorted()).toEqual(["first words", "more words", "other words"]);
});

it("finds the same without the index, with one that another process writes, and with a damaged one", async () => {
  for (let round = 0; round < 5; round++) await write([`needle ${round}`, "hay", `more hay and needle ${round}`]);
  const plain = await search(store, { query: "needle 3" });
  expect(plain.hits).toHaveLength(2);
  const other = new SearchIndex(index);
  expect(other.open()).toBe(true);
  expect((await search(place.open(), { query: "needle 3", index })).hits).toEqual(plain.hits);
  other.close();
  expect((await search(store, { query: "needle 3", index })).hits).toEqual(plain.hits);
  appendFileSync(join(index, "sessions.jsonl"), '{"session":"torn');
  for (const name of readdirSync(index)) if (name.endsWith(".postings")) appendFileSync(join(index, name), "abc");
  const late = await write(["needle 3 again"]);
  const after = await search(store, { query: "needle 3", index });
  expect(places(after.hits)).toEqual([`${late} 1`, ...places(plain.hits)]);
  writeFileSync(join(index, "sessions.jsonl"), "");
  expect(await find("needle 3")).toEqual(places(after.hits));
});

it("says what the window shows of a hit", async () => {
  const session = await openSession({ store, strategy: "sliding-window", budget: 300 });
  for (let turn = 0; turn < 20; turn++) {
    await session.append(`marker ${turn} ${"word ".repeat(20)}`);
    await session.compose();
    await session.append(answered("Yes."));
  }
  await session.finish("completed");
  const found = async (query: string) => (await search(store, { query, index })).hits[0]?.window;
  expect(await found('"marker 19"')).toBe("shown");
  expect(["dropped", "replaced"]).toContain(await found('"marker 3"'));
});

it("stops at the limit and says that there is more", async () => {
  const id = await write(["word 1", "word 2", "word 3"]);
  const { hits, more } = await search(store, { query: "word", index, limit: 2 });
  expect(places(hits)).toEqual([`${id} 3`, `${id} 2`]);
  expect(more).toBe(true);
  expect((await search(store, { query: "word", index, limit: 3 })).more).toBe(false);
});

it("keeps the index to its owner", async () => {
  await write(["secret plans"]);
  const mask = process.umask(0);
  try {
    await search(store, { query: "plans", index });
  } finally {
    process.umask(mask);
  }
  expect(statSync(index).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(index)) expect(statSync(join(index, name)).mode & 0o777, name).toBe(0o600);
});

it("finds what was restored into a damaged session", async () => {
  const id = await write(["the harbour", "the lighthouse"]);
  const log = join(place.folder, "completed", id, "messages.jsonl");
  const whole = readFileSync(log);
  writeFileSync(log, String(whole).replace("lighthouse", "lightHouse"));
  expect(await find("lighthouse")).toEqual([]);
  writeFileSync(log, whole);
  expect(await find("lighthouse")).toEqual([`${id} 2`]);
});
