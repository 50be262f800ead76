/** Undo: the newest epoch is taken back by a record, several times, after later turns, and after a restart. */
import { expect, it } from "vitest";
import { composeWindow, isWindrowError } from "windrow";
import type { Session, SessionManager } from "windrow";
import { codingSession } from "../kit/inside/message.ts";
import { answered, asked, listed, openManager } from "../kit/sessions.ts";

async function twoEpochs(
  profile = "openai-chat",
): Promise<{ manager: SessionManager; session: Session; budget: number }> {
  const budget = 8_000;
  const manager = await openManager({ budget, profile });
  const session = await manager.create();
  for (const message of codingSession(200, 20)) {
    if (message.role === "assistant") await session.compose();
    if (session.stats().epoch === 2) break;
    await session.append(message);
  }
  expect(session.stats().epoch).toBe(2);
  return { manager, session, budget };
}

async function threeTurns(session: Session): Promise<void> {
  for (const turn of [1, 2, 3]) {
    await session.append(asked(`turn ${turn}: and now?`));
    await session.compose({ budget: 1_000_000 });
    await session.append(answered(`answer ${turn}`));
  }
  await session.append(asked("go on"));
}

async function history(session: Session): Promise<Parameters<typeof composeWindow>[0]["messages"]> {
  return listed(session.messages());
}

it.each([1_000_000, 8_000])("gives the window of an unedited history at the same budget (%i)", async (budget) => {
  const { session } = await twoEpochs();
  await threeTurns(session);
  expect(await session.undo()).toMatchObject({ undone: 2 });
  expect(await session.undo()).toMatchObject({ undone: 3 });
  const undone = await session.compose({ budget });
  const unedited = composeWindow({ messages: await history(session), budget });
  expect(undone.report.windowHash).toBe(unedited.report.windowHash);
  expect(undone.report.counts).toEqual(unedited.report.counts);
});

it("goes back one epoch at a time, and says when nothing is left", async () => {
  const { session } = await twoEpochs();
  const first = await session.explain({ epoch: 1 });
  await session.undo();
  const back = await session.compose({ budget: 1_000_000 });
  expect(back.report.counts.dropped + back.report.counts.replaced).toBe(
    first.totals.dropped.messages + first.totals.replaced.messages,
  );
  await session.undo();
  const whole = await session.compose({ budget: 1_000_000 });
  expect(whole.report.counts).toMatchObject({ kept: session.stats().messages, dropped: 0, replaced: 0, stubbed: 0 });
  const error = await session.undo().catch((reason: unknown) => reason);
  expect(isWindrowError(error, "not-found")).toBe(true);
});

it("brings back signed reasoning whose prefix is back, and leaves out what was written on the undone window", async () => {
  const { session } = await twoEpochs("anthropic");
  const signed = (text: string) =>
    ({
      role: "assistant",
      parts: [
        { type: "reasoning", text, signature: `signed ${text}` },
        { type: "text", text: "I see." },
      ],
    }) as const;
  await session.append(asked("think"));
  await session.compose({ budget: 1_000_000 });
  await session.append(signed("written behind epoch 2"));
  await session.append(asked("go on"));
  await session.undo();
  await session.undo();
  const { messages, report } = await session.compose({ budget: 1_000_000 });
  const reasoning = messages.flatMap(({ parts }) => parts.filter((part) => part.type === "reasoning"));
  expect(reasoning.map(({ text }) => text)).not.toContain("written behind epoch 2");
  expect(report.faults).toEqual([]);
});

it("does not plan what was undone again while the budget can be met otherwise", async () => {
  const messages = [...codingSession(60, 20)];
  const composed = composeWindow({ messages, budget: 8_000, strategy: "sliding-window" });
  const [dropped] = composed.state.edits;
  const spare = { from: 1, to: Math.floor((dropped?.to ?? 0) / 4) };
  const state = { ...composed.state, edits: [], length: 0, reverted: [spare] };
  const again = composeWindow({ messages, budget: 8_000, strategy: "sliding-window", state });
  expect(again.tokens).toBeLessThanOrEqual(8_000);
  const gone = again.state.edits.filter(({ only }) => only === undefined);
  expect(gone.length).toBeGreaterThan(0);
  expect(gone.every(({ from, to }) => to < spare.from || from > spare.to)).toBe(true);
});
