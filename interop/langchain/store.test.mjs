/** LangGraph's store over Windrow's: beside its own InMemoryStore, in a graph, in another process's hands, masked. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BaseStore, InMemoryStore, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { createLangGraphStore } from "windrow/langchain";
import { openStore } from "windrow/store";
import { fired } from "../kit/kit.mjs";

const { version } = JSON.parse(
  readFileSync(new URL("node_modules/@langchain/langgraph/package.json", import.meta.url), "utf8"),
);

/** What both stores are asked; times are the machine's. */
async function answersOf(store) {
  await store.put(["users", "ann"], "prefs", { theme: "dark", score: 3, tags: ["a", "b"] });
  await store.put(["users", "bob"], "prefs", { theme: "light", score: 5 });
  await store.put(["users", "ann", "notes"], "n1", { text: "The heron stands in Lisbon." });
  await store.put(["docs", "v1"], "a", { text: "Deploys run on Fridays.", gone: undefined });
  await store.put(["docs", "v1"], "b", { text: "Nothing." });
  await store.put(["users", "ann"], "prefs", { theme: "blue", score: 4, tags: ["a"] });
  await store.delete(["docs", "v1"], "b");
  await store.delete(["docs", "v1"], "never");
  const batch = await store.batch([
    { namespace: ["users", "ann"], key: "prefs" },
    { namespace: ["users", "ann"], key: "late", value: { text: "put now" } },
    { namespace: ["users", "ann"], key: "late" },
    { namespacePrefix: ["docs"], limit: 10, offset: 0 },
    { matchConditions: [{ matchType: "prefix", path: ["users", "*"] }], maxDepth: 2, limit: 10, offset: 0 },
  ]);
  const found = [
    batch,
    await store.get(["users", "ann"], "prefs"),
    await store.get(["users", "ann"], "none"),
    await store.get(["users"], "prefs"),
    await store.get(["users", "ann"], "late"),
    await store.search(["users"]),
    await store.search(["users", "an"]),
    await store.search(["users"], { filter: { theme: "blue" } }),
    await store.search(["users"], { filter: { score: { $gt: 3, $lte: 5 } } }),
    await store.search(["users"], { filter: { theme: { $in: ["light", "red"] } } }),
    await store.search(["users"], { filter: { theme: { $ne: "light" } } }),
    (await store.search(["users"], { limit: 3, offset: 2 })).length,
    await store.search([]),
    await store.listNamespaces(),
    await store.listNamespaces({ prefix: ["users"] }),
    await store.listNamespaces({ suffix: ["v1"] }),
    await store.listNamespaces({ maxDepth: 1 }),
    await store.listNamespaces({ limit: 1, offset: 1 }),
  ];
  for (const wrong of [[], ["a.b"], [""], ["langgraph"]]) {
    await assert.rejects(store.put(wrong, "key", {}), { name: "InvalidNamespaceError" });
  }
  return JSON.parse(JSON.stringify(found), (key, value) => {
    if (["createdAt", "updatedAt"].includes(key)) return undefined;
    // No store promises an order of items that were not ranked.
    const isItems = Array.isArray(value) && value.every((one) => one?.key !== undefined);
    return isItems ? value.toSorted((left, right) => (left.key < right.key ? -1 : 1)) : value;
  });
}

test("answers as LangGraph's own InMemoryStore does", async () => {
  const ours = createLangGraphStore(BaseStore, await openStore("ram:"));
  assert(ours instanceof BaseStore);
  assert.deepEqual(await answersOf(ours), await answersOf(new InMemoryStore()));
  const { createdAt, updatedAt } = await ours.get(["users", "ann"], "prefs");
  assert(createdAt instanceof Date && updatedAt >= createdAt);
});

test("finds items by words, of chosen fields, best first", async () => {
  const store = createLangGraphStore(BaseStore, await openStore("ram:"));
  await store.put(["m"], "1", { text: "The staging database is called heron.", by: "Ann" });
  await store.put(["m"], "2", {
    text: "The database of production is called crane; its backups are on heron.",
    by: "Bob",
  });
  await store.put(["m"], "3", { text: "Lunch is at noon.", by: "heron" }, ["text"]);
  await store.put(["m"], "4", { text: "A hidden heron." }, false);
  await store.put(["m"], "5", { chapters: [{ content: "Cranes fly." }, { content: "Storks stand." }] }, [
    "chapters[*].content",
  ]);
  const keys = async (query, options = {}) => (await store.search(["m"], { query, ...options })).map(({ key }) => key);
  assert.deepEqual(await keys("staging heron"), ["1", "2"]);
  assert.deepEqual(await keys("storks"), ["5"]);
  assert.deepEqual(await keys("zeppelin"), []);
  assert.deepEqual(await keys("heron", { filter: { by: "Bob" } }), ["2"]);
  assert.deepEqual(await keys("staging heron", { limit: 1, offset: 1 }), ["2"]);
  const [best, second] = await store.search(["m"], { query: "staging heron" });
  assert(best.score > second.score);
});

test("a graph keeps what a later thread needs, on disk, of its user alone, masked", async () => {
  const folder = mkdtempSync(join(tmpdir(), "windrow-langgraph-"));
  const key = `sk-ant-api03-${"a1B2c3D4".repeat(11)}-AAAAAAAA`;
  const runs = [];
  const run = async (user, said) => {
    const store = await openStore(join(folder, "contexts"));
    const node = async ({ messages }, config) => {
      const { text } = messages.at(-1);
      const known = await config.store.search(["facts"], { query: text });
      runs.push(known.map(({ value }) => value.text));
      await config.store.put(["facts"], `fact ${runs.length}`, { text });
      return { messages: [{ role: "assistant", content: "Noted." }] };
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("agent", node)
      .addEdge("__start__", "agent")
      .compile({ store: createLangGraphStore(BaseStore, store, { user }) });
    await graph.invoke({ messages: [{ role: "user", content: said }] });
    await store.close();
  };
  await run("ann", `The heron is at home in Lisbon, ${key}.`);
  await run("ann", "Where is the heron at home?");
  await run("bob", "Where is the heron at home?");
  rmSync(folder, { recursive: true });
  assert.deepEqual(runs[0], []);
  assert.equal(runs[1].length, 1);
  assert.match(runs[1][0], /^The heron is at home in Lisbon, /);
  assert(!runs[1][0].includes(key));
  assert.deepEqual(runs[2], []);
  fired({ host: "LangGraph store", version, fired: { "runs of a graph": runs.length } });
});

test("loses no put of many at once", async () => {
  const store = await openStore("ram:");
  const writers = Array.from({ length: 10 }, () => createLangGraphStore(BaseStore, store));
  await Promise.all(writers.map((writer, at) => writer.put(["n"], String(at), { at })));
  assert.equal((await writers[0].search(["n"], { limit: 100 })).length, 10);
});
