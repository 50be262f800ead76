/** Search by meaning: with vectors beside the index, and by words alone where the embedder fails. */
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { SessionManager } from "windrow";
import type { Store } from "windrow";
import { semanticMemory, storeMemory } from "windrow/memory";
import type { SemanticMemoryOptions } from "windrow/memory";
import { transformersEmbedder } from "windrow/model";
import type { Embedder } from "windrow/model";
import { erase } from "windrow/ops";
import { estimate } from "windrow/testing";
import { asked, newFolder } from "../kit/sessions.ts";
import { grep, opened } from "../kit/stores.ts";

let folder: string;
let index: string;
let store: Store;
let id: string;

/** Words that mean the same, a dimension each; the last dimension is for all others. */
const meanings = [
  ["dog", "puppy", "hound"],
  ["car", "vehicle"],
  ["rain", "weather"],
];

const embeddings = (dimensions: number): Embedder & { texts: string[] } => {
  const texts: string[] = [];
  const embed: Embedder = async (given) => {
    texts.push(...given);
    const vectors = given.map((text) => {
      const found = meanings.map((words) => (words.some((word) => text.includes(word)) ? 1 : 0));
      return [...found, ...Array.from({ length: dimensions - meanings.length }, () => 0.1)];
    });
    return { vectors, usage: {} };
  };
  return Object.assign(embed, { id: "meanings", texts });
};

beforeEach(async () => {
  folder = await newFolder();
  index = join(folder, "search-index");
  store = await opened(folder);
  const notes = Array.from({ length: 30 }, (_, at) => `note ${at}`);
  id = await write(["my puppy eats", "the vehicle is red", "we had rain", ...notes]);
});

async function write(texts: readonly string[]): Promise<string> {
  const session = await (await SessionManager.open({ store })).create();
  await session.append(texts.map(asked));
  await session.finish("completed");
  return session.id;
}

const ask = (text: string, options: SemanticMemoryOptions) =>
  semanticMemory(store, { index, ...options }).query({ text, maxTokens: 40, counter: estimate });

const vectorFiles = (): readonly string[] => readdirSync(index).filter((name) => name.startsWith("vectors-"));

it("finds what shares no word, and embeds each message once", async () => {
  const embedder = embeddings(8);
  const told = await ask("a dog", { embedder });
  expect(told.map(({ seq }) => seq)).toContain(1);
  expect(told[0]?.signals).toEqual(["words", "meaning"]);
  expect(embedder.texts).toHaveLength(1 + 33);
  await ask("a hound", { embedder });
  expect(embedder.texts).toHaveLength(2 + 33);
  await write(["another puppy"]);
  await ask("a hound", { embedder });
  expect(embedder.texts).toHaveLength(4 + 33);
});

const embedder = (embed: () => Promise<never>): Embedder => Object.assign(embed, { id: "a" });
const answering = (vectors: unknown): Embedder => embedder(async () => ({ vectors, usage: {} }) as never);

it.each<[string, Partial<SemanticMemoryOptions>, RegExp]>([
  ["throws", { embedder: embedder(() => Promise.reject(new Error("no model"))) }, /no model/],
  ["never answers", { embedder: embedder(() => new Promise(() => undefined)), timeout: 20 }, /No answer/],
  ["answers too few vectors", { embedder: answering([]) }, /vectors/],
  ["answers no numbers", { embedder: answering([[Number.NaN]]) }, /vectors/],
])("answers by words alone, and says so, where the embedder %s", async (_, options, reason) => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const told = await ask("rain", { embedder: embeddings(8), ...options });
  const query = { text: "rain", maxTokens: 40, counter: estimate };
  expect(told).toEqual(await storeMemory(store, { index }).query(query));
  expect(told[0]?.signals).toEqual(["words"]);
  expect(warn.mock.calls.map(([why]) => why)).toEqual([expect.stringMatching(reason)]);
});

it("keeps the vectors of each model and dimension apart", async () => {
  await ask("a dog", { embedder: embeddings(8) });
  await ask("a dog", { embedder: embeddings(9) });
  await ask("a dog", { embedder: Object.assign((texts: readonly string[]) => embeddings(8)(texts), { id: "other" }) });
  expect(vectorFiles()).toHaveLength(3);
  for (const name of vectorFiles()) expect(statSync(join(index, name)).mode & 0o777).toBe(0o600);
});

it("makes again what was torn or damaged", async () => {
  await ask("a dog", { embedder: embeddings(8) });
  const path = join(index, vectorFiles()[0]!);
  truncateSync(path, statSync(path).size - 100);
  appendFileSync(path, "torn");
  const embedder = embeddings(8);
  expect((await ask("a dog", { embedder })).map(({ seq }) => seq)).toContain(1);
  expect(embedder.texts.length).toBeGreaterThan(1);
  expect(embedder.texts.length).toBeLessThan(6);
  expect((statSync(path).size - 256) % (48 + 4 * 8)).toBe(0);
});

it("finds similar tasks by words, and by meaning too where it is told to", async () => {
  const embedder = embeddings(8);
  const text = "a dog that eats";
  const byWords = await semanticMemory(store, { index, embedder }).similar({ text });
  expect(byWords[0]?.passages[0]?.signals).toEqual(["words"]);
  expect(embedder.texts).toEqual([]);
  const memory = semanticMemory(store, { index, embedder, similarByMeaning: true });
  await write(["the vehicle needs fuel"]);
  const [first] = await memory.similar({ text: "a car" });
  expect(first?.deeds.task).toBe("the vehicle needs fuel");
  expect(first?.passages.every(({ signals }) => signals?.includes("meaning"))).toBe(true);
  expect(embedder.texts).toHaveLength(3);
});

it("goes on where it was stopped, and embeds all when it is told to", async () => {
  const embedder = embeddings(8);
  await ask("a dog", { embedder, mostNew: 10 });
  expect(embedder.texts).toHaveLength(11);
  expect(await semanticMemory(store, { index, embedder }).embed()).toBe(23);
  expect(await semanticMemory(store, { index, embedder }).embed()).toBe(0);
});

it("is erased with the session, and what a store masks never reaches the embedder", async () => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const gone = await write([`the token is ${secret} and my hound`]);
  const embedder = embeddings(8);
  await ask(`a hound with ${secret}`, { embedder });
  expect(embedder.texts.join("\n")).not.toContain(secret);
  const path = join(index, vectorFiles()[0]!);
  expect(readFileSync(path, "latin1")).toContain(gone);
  const memory = semanticMemory(store, { index, embedder });
  await erase(store, [gone], { index });
  expect(await grep(index, gone)).toEqual([]);
  expect(readFileSync(path, "latin1")).toContain(id);
  const told = await memory.query({ text: "hound", maxTokens: 40, counter: estimate });
  expect(told.map(({ sessionId }) => sessionId)).not.toContain(gone);
});

it("takes an extractor of @huggingface/transformers, which the user brings", async () => {
  const asked: unknown[] = [];
  const pipeline = async (texts: readonly string[], options: object) => {
    asked.push(options);
    return { tolist: () => texts.map(() => [1, 0]) };
  };
  const embedder = transformersEmbedder({ pipeline, id: "a-model" });
  expect(embedder.id).toBe("a-model");
  expect((await embedder(["one", "two"])).vectors.join(" ")).toBe("1,0 1,0");
  expect(asked).toEqual([{ pooling: "mean", normalize: true }]);
  const wrong = transformersEmbedder({ pipeline: async () => ({ tolist: () => ["x"] }), id: "wrong" });
  await expect(wrong(["one"])).rejects.toMatchObject({ code: "model-failed" });
});
