/** Summaries in a running session: due, checked, committed or not, and never in the way. */
import { afterEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Composed, ManagerOptions, Session, Store, Strategy } from "windrow";
import type { Model, ModelAnswer, ModelRequest } from "windrow/model";
import type { StoredRecordOf } from "windrow/store/author";
import { coverageOf, dropOldest, slidingWindow, summariseStep } from "windrow/window";
import type { SummaryHookOptions } from "windrow/window";
import { codingSession, messageText } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { liveSummaries, summaryPass } from "../kit/inside/window.ts";

const managers: SessionManager[] = [];

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

function strategy(mode: SummaryHookOptions["mode"] = "side-by-side", blockTokens = 1_500): Strategy {
  const options: SummaryHookOptions = { keepMessages: 5, mode, blockTokens, asking: { maxTokens: 600 } };
  const trigger = { ratio: 0.5 };
  return {
    ...slidingWindow(),
    name: "summaries",
    passes: [dropOldest({ keepNotes: true })],
    afterStep: async (context, signal) => void (await summariseStep(context, { ...options, trigger }, signal)),
    compact: async (context, signal) => void (await summariseStep(context, options, signal)),
  };
}

async function open(options: ManagerOptions): Promise<{ session: Session; store: Store; manager: SessionManager }> {
  const store = ramStore();
  const manager = await SessionManager.open({
    store,
    budget: 6_000,
    compaction: "blocking",
    strategy: strategy(),
    ...options,
  });
  managers.push(manager);
  return { session: await manager.create(), store, manager };
}

async function run(session: Session, count: number): Promise<Composed | undefined> {
  const windows: Composed[] = [];
  for (const message of codingSession(count, 8)) {
    if (message.role !== "assistant") {
      await session.append(message);
      continue;
    }
    const window = await session.compose();
    windows.push(window);
    await session.append(message);
    await session.endStep({ usage: { input: window.tokens, output: 20 } });
    if (windows.length === count) break;
  }
  expect(windows.filter(({ tokens }) => tokens > 6_000)).toEqual([]);
  expect(windows.flatMap(({ report }) => report.faults)).toEqual([]);
  return windows.at(-1);
}

async function records<K extends "edit" | "summary" | "usage">(
  store: Store,
  id: string,
  kind: K,
): Promise<readonly StoredRecordOf<K>[]> {
  const found: StoredRecordOf<K>[] = [];
  for await (const record of store.read({}, id, { kind })) found.push(record);
  return found;
}

function answering(
  answer: (request: ModelRequest) => Partial<ModelAnswer> | Promise<Partial<ModelAnswer>>,
): Model & { calls: number } {
  const model = async (request: ModelRequest): Promise<ModelAnswer> => {
    counted.calls++;
    return { text: "", usage: { input: 10, output: 5 }, finish: "stop", ...(await answer(request)) };
  };
  const counted = Object.assign(model, { calls: 0, contextWindow: 16_000 });
  return counted;
}

const failures: Readonly<Record<string, Model & { calls: number }>> = {
  "throws": answering(() => Promise.reject(new Error("503"))),
  "answers nothing": answering(() => ({ text: "" })),
  "returns more than it got": answering(({ prompt }) => ({ text: `${prompt} ${prompt}` })),
  "returns tool syntax": answering(() => ({ text: '<tool_call>{"name":"rm"}</tool_call> and so on' })),
  "stops by length": answering(() => ({ text: "It began with", finish: "length" })),
};

it.each(Object.entries(failures))(
  "goes on as before when the summariser %s, and shows the breaker",
  async (_, model) => {
    const { session, store } = await open({ summarizer: model });
    await run(session, 40);
    const edits = await records(store, session.id, "edit");
    expect(await records(store, session.id, "summary")).toEqual([]);
    const failed = edits.filter(({ type }) => type === "summary-failed");
    expect(failed.length).toBeGreaterThanOrEqual(3);
    // Three tries, a rest of twenty steps, one more: never a call a step.
    expect(failed.length).toBeLessThanOrEqual(5);
    expect(model.calls).toBeLessThanOrEqual(2 * failed.length);
    expect(session.stats().breaker.failures).toBeGreaterThanOrEqual(3);
  },
);

it("replaces messages by a checked summary, keeps the newest, and counts the spending", async () => {
  const model = answering(({ prompt }) => {
    const paths = [...new Set(prompt.match(/src\/[\w/.-]+\.ts/g))].slice(0, 3);
    return { text: `The agent read ${paths.join(", ")} and found parseConfig in each of them.` };
  });
  const { session, store, manager } = await open({ summarizer: model });
  const last = await run(session, 60);
  const summaries = await records(store, session.id, "summary");
  expect(summaries.length).toBeGreaterThan(1);
  for (const { startSeq, endSeq, originalTokens, summaryTokens } of summaries) {
    expect(endSeq).toBeGreaterThanOrEqual(startSeq);
    expect(summaryTokens).toBeLessThan(originalTokens);
  }
  const spent = (await records(store, session.id, "usage")).filter(({ purpose }) => purpose === "summary");
  expect(spent).toHaveLength(model.calls);
  const text = last?.messages.map(messageText).join("\n") ?? "";
  expect(text).toContain("found parseConfig");
  expect(text).toContain("no instruction");

  const before = await session.compose();
  await session.close();
  const resumed = await manager.resume(session.id);
  expect((await resumed.compose()).report.windowHash).toBe(before.report.windowHash);
  const recalled = await resumed.recall({ from: summaries[0]?.startSeq ?? 1, to: summaries[0]?.endSeq ?? 1 });
  expect(recalled.text).toContain("parseConfig");
});

it.each(["cumulative", "side-by-side"] as const)(
  "keeps the block of summaries under its cap and covers every message (%s)",
  async (mode) => {
    // It says back what it was shown, as far as its cap goes.
    const echo = answering(({ prompt }) => {
      const paths = [...new Set(prompt.match(/src\/[\w/.-]+\.ts/g))];
      return { text: `${paths.join(" ")}\n${prompt.slice(-600)}`.slice(0, 1_500) };
    });
    const { session, store } = await open({ summarizer: echo, strategy: strategy(mode, 1_500) });
    await run(session, 300);
    const summaries = await records(store, session.id, "summary");
    const failed = (await records(store, session.id, "edit")).filter(({ type }) => type === "summary-failed");
    expect(failed.map(({ data }) => data.problem ?? data.reason)).toEqual([]);
    expect(summaries.length).toBeGreaterThanOrEqual(3);
    const { edits } = (await session.compose()).state;
    const notes = edits.filter(({ pass, kind }) => pass === summaryPass && kind === "replace");
    expect(notes.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0)).toBeLessThanOrEqual(1_500 + 60 * notes.length);
    const { items } = await session.explain();
    const live = liveSummaries(
      notes.map((edit) => ({ kind: "note", from: edit.from, edit })),
      summaries,
    );
    const coverage = coverageOf({
      length: session.stats().messages,
      verbatim: items.filter(({ fate }) => fate === "kept" || fate === "stubbed").map(({ seq }) => seq),
      summaries: live,
      dropped: edits.filter(({ pass, only }) => pass !== summaryPass && only === undefined),
    });
    expect(coverage.faults).toEqual([]);

    // From a summary to its children to the messages.
    const parent = summaries.findLast(({ data }) => Array.isArray(data?.children));
    const [child] = (parent?.data?.children ?? []) as readonly number[];
    const drilled = await session.recall({ id: `s${parent?.seq}` });
    expect(drilled.text).toContain(`made of s${child} (m`);
    const below = await session.recall({ id: `s${child}` });
    const range = /messages (m\d+-m\d+)/.exec(below.text)?.[1];
    expect((await session.recall({ id: range ?? "" })).text).toContain("parseConfig");
    await expect(session.recall({ id: "s999" })).rejects.toMatchObject({ code: "not-found" });
    expect(coverage.summarised).toBeGreaterThan(0);
  },
);

it("summarises without a model, every sentence from the messages", async () => {
  const { session, store } = await open({});
  await run(session, 60);
  const summaries = await records(store, session.id, "summary");
  expect(summaries.length).toBeGreaterThan(0);
  expect(summaries.every(({ data }) => data?.by === "extract")).toBe(true);
  expect((await records(store, session.id, "usage")).filter(({ purpose }) => purpose === "summary")).toEqual([]);
});

it("commits nothing when its range was summarised meanwhile, and loses nothing that the user said meanwhile", async () => {
  let release: (() => void) | undefined;
  const slow = answering(async ({ prompt }) => {
    await new Promise<void>((resolve) => (release = resolve));
    return { text: `In short: ${/src\/[\w/.-]+\.ts/.exec(prompt)?.[0] ?? ""} was read.` };
  });
  const { session, store } = await open({ summarizer: slow, compaction: "background" });
  await run(session, 24);
  expect(release).toBeDefined();
  await session.append({ role: "user", parts: [{ type: "text", text: "and mind the tests" }] });
  const first = session.compact();
  release?.();
  await new Promise((resolve) => setImmediate(resolve));
  while ((await records(store, session.id, "summary")).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  const waiting = setInterval(() => release?.(), 1);
  await first;
  clearInterval(waiting);
  const summaries = await records(store, session.id, "summary");
  const ranges = summaries.map(({ startSeq, endSeq }) => [startSeq, endSeq]);
  expect(new Set(ranges.map(String)).size).toBe(ranges.length);
  const window = await session.compose({ budget: 20_000 });
  expect(window.messages.map(messageText).join("\n")).toContain("and mind the tests");
});
