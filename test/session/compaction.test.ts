/** Summaries in a running session: due, checked, committed or not, and never in the way. */
import { expect, it } from "vitest";
import type { Composed, ManagerOptions, Session, Store, Strategy } from "windrow";
import type { Model, ModelAnswer, ModelRequest } from "windrow/model";
import { dropOldest, slidingWindow, summariseStep } from "windrow/window";
import type { SummaryHookOptions } from "windrow/window";
import { codingSession } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { liveSummaries, summaryPass } from "../kit/inside/window.ts";
import { listed, openManager } from "../kit/sessions.ts";

function strategy(): Strategy {
  const options: SummaryHookOptions = { keepMessages: 5, maxSummaryTokens: 600 };
  const trigger = { ratio: 0.5 };
  return {
    ...slidingWindow(),
    name: "summaries",
    passes: [dropOldest({ keepNotes: true })],
    afterStep: async (context, signal) => void (await summariseStep(context, { ...options, trigger }, signal)),
    compact: async (context, signal) => void (await summariseStep(context, options, signal)),
  };
}

async function open(options: ManagerOptions): Promise<{ session: Session; store: Store }> {
  const store = ramStore();
  const settings: ManagerOptions = { store, budget: 6_000, compaction: "blocking", strategy: strategy() };
  return { session: await (await openManager({ ...settings, ...options })).create(), store };
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

/** A model that answers a text. */
const answering = (answer: (request: ModelRequest) => string | Promise<string>): Model =>
  Object.assign(
    async (request: ModelRequest): Promise<ModelAnswer> => ({
      ...{ text: await answer(request), usage: { input: 10, output: 5 }, finish: "stop" },
    }),
    { contextWindow: 16_000 },
  );

it("keeps its cap and every message", async () => {
  // It says back what it was shown, as far as its cap goes.
  const echo = answering(({ prompt }) => {
    const paths = [...new Set(prompt.match(/src\/[\w/.-]+\.ts/g))];
    return `${paths.join(" ")}\n${prompt.slice(-600)}`.slice(0, 1_500);
  });
  const { session, store } = await open({ summarizer: echo });
  await run(session, 300);
  const summaries = await listed(store.read({}, session.id, { kind: "summary" }));
  const failed = (await listed(store.read({}, session.id, { kind: "edit" }))).filter(
    ({ type }) => type === "summary-failed",
  );
  expect(failed.map(({ data }) => data.problem ?? data.reason)).toEqual([]);
  expect(summaries.length).toBeGreaterThanOrEqual(3);
  const { edits } = (await session.compose()).state;
  const notes = edits.filter(({ pass, kind }) => pass === summaryPass && kind === "replace");
  expect(notes.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0)).toBeLessThanOrEqual(660);
  const { items } = await session.explain();
  const live = liveSummaries(
    notes.map((edit) => ({ kind: "note", from: edit.from, edit })),
    summaries,
  );
  expect(live).toHaveLength(1);
  // Every message is in the window or under the summary, and none is in both.
  const verbatim = items.filter(({ fate }) => fate === "kept" || fate === "stubbed").map(({ seq }) => seq);
  const told = live.flatMap((one) => one.told);
  expect(told.length).toBeGreaterThan(0);
  expect([...verbatim, ...told].toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: session.stats().messages }, (_, index) => index + 1),
  );

  // From a summary to its children to the messages.
  const parent = summaries.findLast(({ data }) => Array.isArray(data?.children));
  const [child] = (parent?.data?.children ?? []) as readonly number[];
  const drilled = await session.recall({ id: `s${parent?.seq}` });
  expect(drilled.text).toContain(`made of s${child} (m`);
  const below = await session.recall({ id: `s${child}` });
  const range = /messages (m\d+-m\d+)/.exec(below.text)?.[1];
  expect((await session.recall({ id: range ?? "" })).text).toContain("parseConfig");
  await expect(session.recall({ id: "s999" })).rejects.toMatchObject({ code: "not-found" });
});
