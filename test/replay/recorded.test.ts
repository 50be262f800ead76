import { describe, expect, it } from "vitest";
import type { Message, Usage } from "windrow";
import { replay } from "windrow/transcript";
import type { ReplayedSession, ReplayOptions } from "windrow/transcript";
import { recordWords } from "../kit/inside/cli.ts";
import { countMessage } from "../kit/inside/tokens.ts";
import type { Transcript } from "../kit/inside/transcript.ts";
import { calls, characters, result, transcript, user } from "./histories.ts";

const steps = 30;

/**
 * A session whose provider counts `rate` tokens for each of ours, and `overhead` more for each request.
 *
 * @param use - the usage of a call, by its number and the tokens reported for it and the one before
 */
function recorded(
  use: (call: number, input: number, before: number) => Usage | undefined,
  { rate = 1.5, overhead = 5_000, minutes = 1 } = {},
): Transcript {
  const messages: Message[] = [user("mend it")];
  let [history, before] = [countMessage(characters, messages[0] as Message), 0];
  for (let step = 0; step < steps; step++) {
    const input = Math.round(overhead + rate * history);
    const usage = use(step, input, before);
    before = input;
    const call = {
      ...calls(`c${step}`, "read", { path: `src/file${step}.ts` }),
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, step * minutes)).toISOString(),
      ...(usage && { usage }),
    };
    const answer = result(`c${step}`, `${step} ${"line of text\n".repeat(40)}`);
    messages.push(call, answer);
    history += countMessage(characters, call) + countMessage(characters, answer);
  }
  return transcript(messages, "a-model");
}

const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

async function played(session: Transcript, changes: Partial<ReplayOptions> = {}): Promise<ReplayedSession> {
  const options = { strategies: ["none"], budgets: [1e6], profile: "openai-chat", counter: characters, prices };
  return await replay(session, { ...options, ...changes });
}

/** Everything of the request before is read, the rest written. */
const warm = (_call: number, input: number, before: number): Usage => {
  return { input, output: 10, cacheRead: before, cacheWrite: input - before };
};

describe("a session that reports usage", () => {
  it("is reported as recorded: calls, tokens, cached share, money", async () => {
    const session = recorded(warm);
    const inputs = session.messages.flatMap(({ usage }) => usage?.input ?? []);
    const total = inputs.reduce((sum, input) => sum + input, 0);
    const newest = inputs.at(-1) ?? 0;
    const { recorded: record } = await played(session);
    expect(record).toMatchObject({ calls: steps, tokens: { total, peak: newest }, output: 10 * steps });
    expect(record?.cachedShare).toBeCloseTo((total - newest) / total, 6);
    expect(record?.cost.dollars).toBeCloseTo(((total - newest) * 0.3 + newest * 3.75 + 10 * steps * 15) / 1e6, 5);
  });

  it("corrects the replay's tokens and money by it", async () => {
    for (const [rate, overhead] of [
      [1.5, 5_000],
      [0.8, 0],
      [2.2, 40_000],
    ] as const) {
      const { recorded: record, results, calibration } = await played(recorded(warm, { rate, overhead }));
      const [none] = results;
      expect(Math.abs((none?.tokens.total ?? 0) / (record?.tokens.total ?? 1) - 1)).toBeLessThan(0.1);
      expect(Math.abs((none?.cost.dollars ?? 0) / (record?.cost.dollars ?? 1) - 1)).toBeLessThan(0.15);
      expect(calibration).toMatchObject({ cached: true, reported: true, coldCalls: 0 });
    }
  });

  it("is measured as counted where no correction is wanted", async () => {
    const session = recorded(warm);
    const { calibration, results } = await played(session, { calibrate: false });
    expect(calibration).toBeUndefined();
    const history = session.messages.slice(0, -2).reduce((sum, message) => sum + countMessage(characters, message), 0);
    expect(results[0]?.tokens.peak).toBe(history);
  });

  it("finds the calls whose cache was cold", async () => {
    const cold = new Set([7, 19]);
    const session = recorded((call, input, before) =>
      cold.has(call) ? { input, cacheRead: 0, cacheWrite: input } : warm(call, input, before),
    );
    const { recorded: record, results, calibration } = await played(session);
    expect(calibration?.coldCalls).toBe(2);
    expect(Math.abs((results[0]?.cost.dollars ?? 0) / (record?.cost.dollars ?? 1) - 1)).toBeLessThan(0.15);
  });

  it("takes no cache where the session had none", async () => {
    const { recorded: record, results, calibration } = await played(recorded((_call, input) => ({ input, output: 1 })));
    expect(calibration?.cached).toBe(false);
    expect(results[0]?.cachedShare).toBe(0);
    expect(Math.abs((results[0]?.cost.dollars ?? 0) / (record?.cost.dollars ?? 1) - 1)).toBeLessThan(0.1);
  });

  it("begins with what an earlier session left in the cache", async () => {
    const session = recorded((_call, input, before) => warm(0, input, before === 0 ? 4_000 : before));
    const { results, calibration } = await played(session);
    expect(calibration).toMatchObject({ warm: 4_000, cuts: 0 });
    const [cold] = (await played(recorded(warm))).results;
    const saved = (cold?.cost.dollars ?? 0) - (results[0]?.cost.dollars ?? 0);
    expect(saved).toBeCloseTo((4_000 * (3.75 - 0.3)) / 1e6, 5);
  });

  it("tells how often its requests shrank", async () => {
    const cut = recorded((call, input, before) => {
      return call < 15 ? warm(call, input, before) : warm(call, input - 8_000, Math.max(0, before - 8_000));
    });
    const session = await played(cut);
    expect(session.calibration?.cuts).toBe(1);
    expect(recordWords(session)[1]).toBe(
      "The recorded requests shrank once; where the program cut its history, none still sends it.",
    );
    expect(recordWords({ ...session, compactions: 2 })[1]).toContain("cut or summarised its history twice");
  });

  it("is not misled by a call for something else, or by a history that its program cut", async () => {
    const session = recorded((call, input, before) => {
      if (call === 9) return { input: 10 * input, cacheRead: before, cacheWrite: 9 * input };
      return call < 15 ? warm(call, input, before) : warm(call, input - 8_000, before - 8_000);
    });
    const { calibration } = await played(session);
    expect(calibration?.rate).toBeGreaterThan(1.35);
    expect(calibration?.rate).toBeLessThan(1.65);
    expect(calibration?.overhead).toBeGreaterThan(4_500);
    expect(calibration?.overhead).toBeLessThan(5_500);
  });
});

it("a session without usage has no row of its own, and its cache is cold after long pauses", async () => {
  const quick = await played(recorded(() => undefined));
  expect(quick.recorded).toBeUndefined();
  expect(quick.calibration).toBeUndefined();
  const slow = await played(recorded(() => undefined, { minutes: 6 }));
  expect(slow.calibration).toMatchObject({ coldCalls: steps - 1, reported: false, rate: 1, overhead: 0 });
  expect(slow.results[0]?.cachedShare).toBe(0);
  expect(slow.results[0]?.tokens).toEqual(quick.results[0]?.tokens);
});
