/** The session that the demo replays, and what README says of it. */
import { expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { readTranscripts, replay } from "windrow/transcript";
import { openaiChat } from "./kit/inside/window.ts";

it("the demo's session is read whole, and adaptive costs least and leaves a way back to everything", async () => {
  const [transcript, ...others] = await readTranscripts("fixtures/demo-session.jsonl");
  expect(others).toEqual([]);
  expect(transcript?.problems).toEqual([]);
  if (!transcript) return;
  const session = await replay(transcript, {
    strategies: ["none", "sliding-window", "adaptive"],
    budgets: [16_000],
    profile: openaiChat,
    counter: estimate,
  });
  const [none, sliding, adaptive] = session.results;
  expect(session.brokenRaw).toBeGreaterThan(0);
  for (const result of session.results) expect(result).toMatchObject({ broken: 0, faults: 0 });
  expect(none?.overBudget).toBeGreaterThan(0);
  expect([sliding?.overBudget, adaptive?.overBudget]).toEqual([0, 0]);
  expect(adaptive?.lookback.oneHop).toBeGreaterThanOrEqual(97);
  expect(adaptive?.named).toEqual({ named: adaptive?.named.total, total: expect.any(Number) });
  expect(adaptive?.cost.equivalents).toBeLessThan(none?.cost.equivalents ?? 0);
  expect(none?.cost.equivalents).toBeLessThan(sliding?.cost.equivalents ?? 0);
});
