/** Embedders and memories that a host hands in: shapes that are sure are taken, and the first wrong one is reported. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionManager } from "windrow";
import type { SessionEvent, Store } from "windrow";
import { memoryTools } from "windrow/adapter";
import { fileMemory, MemoryFiles, semanticMemory } from "windrow/memory";
import type { MemorySignal } from "windrow/memory";
import { estimate } from "windrow/testing";
import { ramStore } from "../kit/inside/store.ts";
import { asked, openManager } from "../kit/sessions.ts";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(process, "emitWarning").mockImplementation((message: string | Error, options?: unknown) => {
    warnings.push(`${(options as { readonly code?: string }).code}: ${String(message)}`);
  });
});
afterEach(() => vi.restoreAllMocks());

const secret = "never-shown-0451";
const untyped = (answer: unknown): never => answer as never;

describe("an embedder", () => {
  let store: Store;
  beforeEach(async () => {
    store = ramStore();
    const session = await (await SessionManager.open({ store })).create();
    await session.append(["my puppy eats", "the car is red", "we had rain"].map(asked));
    await session.finish("completed");
  });

  const vectorOf = (text: string): number[] => ["puppy", "car", "rain"].map((word) => (text.includes(word) ? 1 : 0.1));

  /** The signals by which the memory answered. */
  async function signalsOf(embedder: unknown): Promise<readonly MemorySignal[]> {
    const memory = semanticMemory(store, { embedder: untyped(embedder) });
    const [first] = await memory.query({ text: "puppy", counter: estimate });
    expect(first?.text).toContain("my puppy eats");
    return first?.signals ?? [];
  }

  const rows = (texts: readonly string[]): number[][] => texts.map(vectorOf);

  it.each<readonly [string, (texts: readonly string[]) => unknown]>([
    ["{ vectors } at once", (texts) => ({ vectors: rows(texts) })],
    ["the vectors alone", async (texts) => await Promise.resolve(rows(texts))],
    ["typed arrays", (texts) => rows(texts).map((row) => Float32Array.from(row))],
    ["{ embeddings }", (texts) => ({ embeddings: rows(texts) })],
    ["a list of { embedding }", (texts) => rows(texts).map((embedding) => ({ embedding }))],
    [
      "{ data } in another order",
      (texts) => ({
        data: rows(texts)
          .map((embedding, index) => ({ index, embedding }))
          .toReversed(),
      }),
    ],
  ])("may answer %s", async (_name, embedder) => {
    expect(await signalsOf(embedder)).toEqual(["words", "meaning"]);
    expect(warnings).toEqual([]);
  });

  it.each<readonly [string, (texts: readonly string[]) => unknown]>([
    ["answered undefined", () => undefined],
    ["answered a text", () => secret],
    ["answered an object with result", (texts) => ({ result: rows(texts) })],
    ["answered a list that begins with a number", (texts) => vectorOf(texts[0]!)],
    ["answered 2 vectors for 1 texts, of 3 numbers", (texts) => [...rows(texts), [1, 2, 3]]],
    ["answered a list that begins with a list that begins with NaN", (texts) => texts.map(() => [Number.NaN, 1])],
    [
      "vectors of 3 numbers, and then of 4",
      (texts) => rows(texts).map((row) => (texts[0]!.includes("rain") ? [...row, 1] : row)),
    ],
    ["could not", () => Promise.reject(new Error("could not"))],
  ])("that gives no vectors is reported once, and words alone answer: %s", async (what, embedder) => {
    for (let time = 0; time < 2; time++) expect(await signalsOf(embedder)).toEqual(["words"]);
    expect(warnings).toEqual([expect.stringContaining(what)]);
    expect(warnings[0]).toMatch(/^embedder-failed: /);
    expect(warnings[0]).not.toContain(secret);
  });

  it("stands beside a counter that is wrong: passages fit by `estimate`", async () => {
    const memory = semanticMemory(store, { embedder: rows });
    const counter = { name: "own", count: untyped(() => Number.NaN) };
    const asked = { text: "puppy car rain", maxTokens: 30 };
    const told = await memory.query({ ...asked, counter });
    expect(told).toEqual(await memory.query({ ...asked, counter: estimate }));
    expect(warnings).toEqual([expect.stringMatching(/^counter-failed: The counter "own" answered NaN; /)]);
  });
});

describe("a memory", () => {
  const passage = { sessionId: "s-1", seq: 3, text: `the heron is grey`, tokens: 5 };

  /** The first window of a session that begins with a memory, and what was said of it. */
  async function begun(
    given: { readonly query: () => unknown; readonly earlierTasks?: () => unknown },
    user?: string,
  ): Promise<{ readonly window: string; readonly reasons: readonly string[] }> {
    const memory = untyped({ name: "own", receive: () => undefined, close: () => undefined, ...given });
    const scope = user === undefined ? {} : { user };
    const open = async (on: { on?: (event: SessionEvent) => void } = {}): Promise<string> => {
      const manager = await openManager({ budget: 2_000, memory, ...scope, ...on });
      const session = await manager.create({ bootstrap: "heron" });
      await session.append("Hello");
      return JSON.stringify((await session.compose()).messages);
    };
    const reasons: string[] = [];
    await open({ on: (event) => event.type === "bootstrap-failed" && reasons.push(event.reason) });
    return { window: await open(), reasons };
  }

  it("may answer at once", async () => {
    const { window, reasons } = await begun({ query: () => [passage], earlierTasks: () => "Earlier: heron." });
    expect(window).toContain("the heron is grey");
    expect(window).toContain("Earlier: heron.");
    expect([...reasons, ...warnings]).toEqual([]);
  });

  it.each<readonly [string, () => unknown]>([
    ["undefined", () => undefined],
    ["an object with passages", () => ({ passages: [passage] })],
    ["a list that begins with a text", () => [secret]],
    ["a list that begins with an object with id, text", () => [passage, { id: 5, text: secret }]],
    ["a list that begins with an object with sessionId, seq, text, tokens", () => [{ ...passage, seq: Number.NaN }]],
  ])("that answers %s is reported, and the session begins without it", async (what, query) => {
    for (const user of [undefined, "ann"]) {
      warnings.length = 0;
      const { window, reasons } = await begun({ query }, user);
      expect(window).toContain("Hello");
      const said = `The memory "own" answered ${what}; it should answer a list of passages`;
      expect(reasons).toEqual([expect.stringContaining(said)]);
      expect(warnings).toEqual([expect.stringContaining(said)]);
      expect(warnings[0]).not.toContain(secret);
    }
  });

  it.each<readonly [string, () => unknown]>([
    ["answered a number", () => 451],
    ["answered an object with text", () => ({ text: secret })],
    ["threw TypeError", () => Promise.reject(new TypeError(secret))],
  ])("whose earlierTasks %s is reported once, and its passages are told", async (what, earlierTasks) => {
    const { window } = await begun({ query: () => [passage], earlierTasks });
    expect(window).toContain("the heron is grey");
    expect(warnings).toEqual([expect.stringContaining(`\`earlierTasks\` of the memory "own" ${what}`)]);
    expect(warnings[0]).not.toContain(secret);
  });

  it("without a name is refused when it is handed in", async () => {
    const memory = untyped({ receive: () => undefined, query: () => [] });
    await expect(SessionManager.open({ store: "ram:", memory })).rejects.toMatchObject({ code: "bad-option" });
  });

  it("beside files, and behind a tool, is reported by the shape of its answer", async () => {
    const query = untyped(async () => await Promise.resolve({ hits: [] }));
    const memory = { name: "own", receive: async () => undefined, query, close: async () => undefined };
    const beside = fileMemory(new MemoryFiles(ramStore(), {}), { beside: memory });
    const said = 'The memory "own" answered an object with hits; it should answer a list of passages';
    await expect(beside.query({ text: "heron", counter: estimate })).rejects.toThrow(said);
    expect(await memoryTools(memory)[0]?.execute({ query: "heron" })).toContain(said);
  });
});
