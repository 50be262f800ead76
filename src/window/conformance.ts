/**
 * What every strategy must hold, as cases any test runner can run. Give your strategy to {@link strategyConformance} and
 * register the cases; a strategy that passes can be given to `composeWindow` and to a SessionManager.
 */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance.ts";
import { isWindrowError } from "../errors.ts";
import type { Message } from "../message/message.ts";
import { codingSession, sampleHistories } from "../message/samples.ts";
import type { Sample } from "../message/samples.ts";
import { countMessage } from "../tokens/counter.ts";
import { estimate } from "../tokens/estimate.ts";
import { composeWindow } from "./compose.ts";
import { anthropic, openaiChat } from "./profile.ts";
import type { Profile } from "./profile.ts";
import { validateWindow } from "./validate.ts";
import type { Composed, Strategy, WindowState } from "./window.ts";

const budgets = [300, 1_500, 6_000, 40_000];

/**
 * The cases for one strategy.
 *
 * @param make - a new strategy for every case
 */
export function strategyConformance(make: () => Strategy): readonly ConformanceCase[] {
  const group = `strategy ${make().name}`;
  const samples: readonly Sample[] = [
    ...sampleHistories(),
    { name: "a long coding session", messages: codingSession(120, 30) },
  ];
  return samples.flatMap((sample) =>
    [anthropic, openaiChat].flatMap((profile) => [
      {
        group,
        name: `fits or says what does not: ${sample.name}, ${profile.name}`,
        run: async () => fits(make, sample, profile),
      },
      {
        group,
        name: `grows only at its end: ${sample.name}, ${profile.name}`,
        run: async () => grows(make, sample, profile),
      },
    ]),
  );
}

function compose(
  strategy: Strategy,
  messages: readonly Message[],
  budget: number,
  profile: Profile,
  state?: WindowState,
): Composed | undefined {
  try {
    return composeWindow({ messages, budget, strategy, profile, ...(state && { state }) });
  } catch (error) {
    assert(isWindrowError(error), String(error));
    assert(error.code === "over-budget" || error.code === "budget-too-small", error.message);
    return undefined;
  }
}

function fits(make: () => Strategy, { messages }: Sample, profile: Profile): void {
  const before = JSON.stringify(messages);
  for (const budget of budgets) {
    const composed = compose(make(), messages, budget, profile);
    assert.equal(JSON.stringify(messages), before, "the input was changed");
    if (!composed) continue;
    assert.deepEqual(validateWindow(composed.messages, profile), [], "the provider would refuse the window");
    const tokens = composed.messages.reduce((sum, message) => sum + countMessage(estimate, message), 0);
    assert(tokens <= budget, `${tokens} tokens at a budget of ${budget}`);
    assert.deepEqual(compose(make(), messages, budget, profile), composed, "same in, not the same out");
    for (const edit of composed.state.edits) assert(edit.pass !== "", "an edit names its pass");
    const { kept, stubbed, replaced, dropped } = composed.report.counts;
    assert.equal(kept + stubbed + replaced + dropped, messages.length, "every message has a fate");
    const user = messages.findLast((message) => message.role === "user");
    const text = user?.parts.find((part) => part.type === "text")?.text;
    if (text?.trim() && text.isWellFormed()) {
      assert(
        JSON.stringify(composed.messages).includes(JSON.stringify(text).slice(1, -1)),
        "the current user message left",
      );
    }
  }
}

function grows(make: () => Strategy, { messages }: Sample, profile: Profile): void {
  for (const budget of budgets) {
    let before: Composed | undefined;
    const calls = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
    for (const call of [...calls, messages.length]) {
      const state = before && (JSON.parse(JSON.stringify(before.state)) as WindowState);
      const composed = compose(make(), messages.slice(0, call), budget, profile, state);
      if (!composed) break;
      if (before && !composed.report.opened) {
        const prefix = composed.messages.slice(0, before.messages.length).map((message) => JSON.stringify(message));
        assert.deepEqual(
          prefix,
          before.messages.map((message) => JSON.stringify(message)),
          "the prefix changed without an epoch",
        );
      }
      before = composed;
    }
  }
}
