/** The law of summaries: every message is in the window, in the range and the prompt of a summary, or named by a note. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Composed, Message, NewMessage, Session, Store, Strategy } from "windrow";
import type { Model } from "windrow/model";
import type { StoredRecordOf } from "windrow/store/author";
import { rollingSummary, summariseStep } from "windrow/window";
import { messageText } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { liveSummaries } from "../kit/inside/window.ts";
import { runs } from "../kit/runs.ts";
import { listed } from "../kit/sessions.ts";

const timeout = 12_000 * runs;

/** A strategy of one's own. */
const own: Strategy = {
  ...rollingSummary(),
  name: "own",
  async afterStep(context, signal) {
    await summariseStep(context, { trigger: { ratio: 0.6 }, keepMessages: 3 }, signal);
  },
  async beforeCompose(context, signal) {
    await summariseStep(context, { trigger: { ratio: 0.6 }, keepMessages: 3 }, signal);
  },
};

const strategies = [
  "rolling-summary",
  "summary-at-threshold",
  "coding-agent",
  "openstarry-summary",
  "state-manager",
  { use: "rolling-summary", threshold: 3, oldest: 2 },
  { use: "summary-at-threshold", ratio: 0.5, minMessages: 4, keepRecent: 2, mode: "any" },
  { use: "summary-at-threshold", ratio: 0.7, keepImportance: 0.7 },
  own,
] as const;

/** One model call: what the user says before it, how large its step is as a share of the budget, and how many calls it makes. */
const step = fc.record({
  said: fc.array(fc.double({ min: 0.01, max: 0.08, noNaN: true }), { maxLength: 2 }),
  share: fc.oneof(
    { weight: 3, arbitrary: fc.double({ min: 0.01, max: 0.1, noNaN: true }) },
    { weight: 2, arbitrary: fc.double({ min: 0.1, max: 0.5, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 0.5, max: 1.2, noNaN: true }) },
  ),
  calls: fc.integer({ min: 0, max: 4 }),
  failing: fc.boolean(),
});

const setting = fc.record({
  strategy: fc.constantFrom(...strategies),
  budget: fc.integer({ min: 1_000, max: 8_000 }),
  steps: fc.array(step, { minLength: 4, maxLength: 30 }),
  prepares: fc.boolean(),
  compaction: fc.constantFrom("blocking" as const, "background" as const),
  summarizer: fc.constantFrom("answers", "fails", "fails at times", "is slow", "none"),
  system: fc.constantFrom("", "Be careful. ".repeat(20)),
});

type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

/** A summariser that answers in few words, and all that it was shown. */
function summariser({ summarizer }: Setting): { readonly model: Model | undefined; readonly prompts: string[] } {
  const prompts: string[] = [];
  let calls = 0;
  const model: Model = async ({ prompt }) => {
    calls++;
    if (summarizer === "fails" || (summarizer === "fails at times" && calls % 2 === 1)) throw new Error("503");
    prompts.push(prompt);
    if (summarizer === "is slow") for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    return { text: `So far all went well (${calls}).`, usage: {}, finish: "stop" };
  };
  const told = Object.assign(model, { contextWindow: 16_000 });
  return { model: summarizer === "none" ? undefined : told, prompts };
}

function text(mark: string, tokens: number): string {
  return `${mark} ${"word ".repeat(Math.max(1, Math.round(tokens * 0.75)))}`;
}

/** The messages of one step, each with a mark of its own as id and first word. */
function messagesOf({ share, calls, failing }: Setting["steps"][number], budget: number, from: number): NewMessage[] {
  const each = (share * budget) / Math.max(1, calls);
  const ids = Array.from({ length: calls }, (_, index) => `mark${from + 1 + index}x`);
  const answer: NewMessage = {
    id: `mark${from}x`,
    role: "assistant",
    parts: [
      { type: "text", text: text(`mark${from}x`, calls === 0 ? each : 5) },
      ...ids.map((id) => ({ type: "tool-call" as const, callId: id, name: "read", args: { path: `${id}.ts` } })),
    ],
  };
  const results = ids.map((id): NewMessage => {
    const content = text(id, each);
    return { id, role: "tool", parts: [{ type: "tool-result", callId: id, name: "read", content, isError: failing }] };
  });
  return [answer, ...results];
}

async function summariesOf(store: Store, id: string): Promise<readonly StoredRecordOf<"summary">[]> {
  return listed(store.read({}, id, { kind: "summary" }));
}

/** The messages, by `seq`, of which a window has no trace. */
async function untraced(
  {
    store,
    session,
    prompts,
  }: { readonly store: Store; readonly session: Session; readonly prompts: readonly string[] | undefined },
  log: readonly Message[],
  { messages, state }: Composed,
): Promise<readonly number[]> {
  const shown = new Set(messages.map(({ id }) => id));
  const notes = state.edits.filter(
    ({ kind, text: said }) => kind === "replace" && messages.some((one) => messageText(one) === said),
  );
  const live = liveSummaries(
    notes.map((edit) => ({ kind: "note", from: edit.from, edit })),
    await summariesOf(store, session.id),
  );
  const byModel = new Set(live.flatMap(({ told }) => told));
  const named = notes.flatMap(({ pass, text: said = "" }) =>
    pass === "summary"
      ? []
      : [...said.matchAll(/\bm(\d+)(?:-m(\d+))?/g)].map(([, from, to = from]) => [Number(from), Number(to)]),
  );
  const lost: number[] = [];
  for (const [index, { id }] of log.entries()) {
    const seq = index + 1;
    const isTold = byModel.has(seq) && (!prompts || prompts.some((prompt) => prompt.includes(`${id} `)));
    if (!shown.has(id) && !isTold && !named.some(([from = 0, to = 0]) => from <= seq && seq <= to)) lost.push(seq);
  }
  return lost;
}

async function live(given: Setting): Promise<{ summaries: number; left: number }> {
  const store = ramStore();
  const { model, prompts } = summariser(given);
  const { strategy, budget, compaction, system, prepares } = given;
  const manager = await SessionManager.open({
    store,
    strategy,
    budget,
    compaction,
    ...(model && { summarizer: model }),
  });
  const session = await manager.create();
  const log: Message[] = [];
  let left = 0;
  const append = async (messages: readonly NewMessage[]): Promise<void> => {
    log.push(...(await session.append(messages)));
  };
  await append([{ id: "mark1x", role: "user", parts: [{ type: "text", text: text("mark1x", 20) }] }]);
  for (const one of given.steps) {
    for (const share of one.said) {
      const id = `mark${log.length + 1}x`;
      await append([{ id, role: "user", parts: [{ type: "text", text: text(id, share * budget) }] }]);
    }
    if (prepares) await session.prepare();
    const composed = await session.compose(system === "" ? {} : { system });
    assert(composed.tokens <= budget, `${composed.tokens} of ${budget}`);
    assert.deepEqual(composed.report.faults, []);
    const lost = await untraced({ store, session, prompts: model && prompts }, log, composed);
    assert.deepEqual(lost, [], `${lost.length} of ${log.length} messages have no trace`);
    left = Math.max(left, composed.report.counts.dropped + composed.report.counts.replaced);
    const messages = messagesOf(one, budget, log.length + 1);
    await append(messages.slice(0, 1));
    await session.endStep();
    await append(messages.slice(1));
  }
  await session.close();
  const summaries = (await summariesOf(store, session.id)).length;
  await manager.close();
  return { summaries, left };
}

it("leaves a trace of every message, at any size of a step", { timeout }, async () => {
  const seen = { sessions: 0, summaries: 0, left: 0 };
  await fc.assert(
    fc.asyncProperty(setting, async (given) => {
      const { summaries, left } = await live(given);
      seen.sessions++;
      seen.summaries += summaries;
      seen.left += left;
    }),
  );
  console.log(
    `${seen.sessions} sessions, ${seen.summaries} summaries, ${seen.left} messages out of windows: none without a trace`,
  );
  expect(seen.summaries).toBeGreaterThan(0);
  expect(seen.left).toBeGreaterThan(0);
});
