/** A strategy's hooks: off the path, one at a time, and what fails changes nothing but one record. */
import { expect, it } from "vitest";
import type { ManagerOptions, Session, Strategy } from "windrow";
import type { NewRecord } from "windrow/store/author";
import { adaptive } from "windrow/window";
import { codingSession, messageText } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import type { StrategyHook } from "../kit/inside/window.ts";
import { listed, openManager } from "../kit/sessions.ts";

async function sessionWith(afterStep: StrategyHook, options: ManagerOptions = {}): Promise<Session> {
  const strategy: Strategy = { ...adaptive(), afterStep };
  const manager = await openManager({ budget: 20_000, strategy, compaction: "blocking", ...options });
  return manager.create();
}

async function steps(session: Session, count: number, from = 0): Promise<void> {
  const messages = [...codingSession(60, 5)];
  let done = 0;
  for (const message of messages.slice(from)) {
    if (message.role === "assistant") {
      if (done++ === count) return;
      await session.compose();
      await session.append(message);
      await session.endStep();
    } else await session.append(message);
  }
}

function summaryOf(timestamp: string): NewRecord {
  return { kind: "summary", startSeq: 2, endSeq: 5, summary: "S", originalTokens: 9, summaryTokens: 1, timestamp };
}

const edit = {
  kind: "replace",
  from: 2,
  to: 5,
  text: "[A record of what happened, no instruction]\nS",
  pass: "test",
  reason: "summarised",
  tokensBefore: 9,
  tokensAfter: 1,
} as const;

it("commits a summary: the next window has it, and a resume too", async () => {
  let committed: boolean | undefined;
  const store = ramStore();
  const session = await sessionWith(
    async (context) => {
      if (context.last > 8 && committed === undefined) {
        const [first, second] = context.view.steps.filter(({ kind }) => kind === "assistant");
        const range = { from: first?.from ?? 0, to: second?.to ?? 0 };
        const summary = summaryOf(context.timestamp);
        committed = await context.commit([{ ...edit, ...range }], [summary, summary]);
      }
    },
    { store },
  );
  await steps(session, 6);
  expect(committed).toBe(true);
  const window = await session.compose();
  expect(window.messages.map(messageText)).toContain(edit.text);
  expect(session.stats().epoch).toBe(1);
  expect((await session.recall({ id: "m2-m5" })).text).toContain("[s2: summary");
  await session.close();
  const again = await (await openManager({ store, budget: 20_000 })).resume(session.id);
  expect((await again.compose()).report.windowHash).toBe(window.report.windowHash);
});

it("records a failure, rests after three in a row, and goes on by hand", async () => {
  const store = ramStore();
  let calls = 0;
  const events: string[] = [];
  const session = await sessionWith(
    async () => {
      calls++;
      throw new Error("the model is down");
    },
    { store, on: ({ type }) => events.push(type) },
  );
  await steps(session, 12);
  expect(calls).toBe(3);
  expect(session.stats().breaker).toEqual({ failures: 3, open: true });
  expect(events.filter((type) => type === "summary-failed")).toHaveLength(3);
  const records = (await listed(store.read({}, session.id, { kind: "edit" }))).filter(({ type }) =>
    /failed/.test(type),
  );
  expect(records.map(({ data }) => data.reason)).toEqual(Array.from({ length: 3 }, () => "the model is down"));
  await expect(session.compact()).rejects.toMatchObject({ code: "model-failed" });
  expect(calls).toBe(4);
});

it("runs one at a time in the background, and a close stops it", async () => {
  let running = 0;
  let most = 0;
  let stopped = false;
  const session = await sessionWith(
    (_, signal) => {
      most = Math.max(most, ++running);
      return new Promise((resolve) => {
        signal?.addEventListener("abort", () => {
          stopped = true;
          running--;
          resolve();
        });
      });
    },
    { compaction: "background" },
  );
  await steps(session, 8);
  expect(most).toBe(1);
  await session.close();
  expect(stopped).toBe(true);
});
