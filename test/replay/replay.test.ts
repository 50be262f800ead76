import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { replay } from "windrow/transcript";
import type { ReplayOptions } from "windrow/transcript";
import { totalsOf } from "../kit/inside/replay.ts";
import type { ReplayedWindow } from "../kit/inside/replay.ts";
import { calls, characters, result, says, transcript, user } from "./histories.ts";

/** Calls that each read a file, and one at the end that needs the first again. */
const messages = reads(20);

function reads(count: number): readonly Message[] {
  return [
    user("fix the bug"),
    ...Array.from({ length: count }, (_, step) => [
      calls(`c${step}`, "read", { path: `src/file${step}.ts` }),
      result(`c${step}`, `name_${step} ${"line of text\n".repeat(20)}`),
    ]).flat(),
    calls("last", "grep", { words: "name_0" }),
    result("last", "found"),
    says("done"),
  ];
}

const session = transcript(messages, "a-model");

function options(changes: Partial<ReplayOptions> = {}): ReplayOptions {
  return { strategies: ["adaptive"], budgets: [2_000], profile: "anthropic", counter: characters, ...changes };
}

describe("a replay", () => {
  it("composes one window before every assistant message", async () => {
    const windows: ReplayedWindow[] = [];
    const replayed = await replay(session, options({ onWindow: (window) => windows.push(window) }));
    expect(replayed).toMatchObject({ id: "made-by-hand", format: "windrow", messages: messages.length, calls: 22 });
    expect(windows.map((window) => window.index)).toEqual(
      messages.flatMap((message, index) => (message.role === "assistant" ? [index] : [])),
    );
    expect(windows.every((window) => window.composed.tokens <= 2_000)).toBe(true);
  });

  it("reports what the windows were", async () => {
    const windows: ReplayedWindow[] = [];
    const { results } = await replay(session, options({ onWindow: (window) => windows.push(window) }));
    const sizes = windows.map((window) => window.composed.tokens);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      strategy: "adaptive",
      budget: 2_000,
      profile: "anthropic",
      tokens: { total: sizes.reduce((sum, size) => sum + size, 0), peak: Math.max(...sizes) },
      epochs: windows.filter((window) => window.composed.report.opened).length,
      broken: 0,
      overBudget: 0,
      refused: 0,
      faults: 0,
      series: sizes,
    });
    expect(results[0]?.epochs).toBeGreaterThan(0);
  });

  it("composes `none` without a limit and counts its calls above each budget", async () => {
    const { results } = await replay(session, options({ strategies: ["none"], budgets: [2_000, 1_000_000] }));
    const [small, large] = results;
    expect(small?.tokens).toEqual(large?.tokens);
    expect(small?.overBudget).toBe(small?.series.filter((tokens) => tokens > 2_000).length);
    expect(large?.overBudget).toBe(0);
    expect(small?.lookback).toMatchObject({ all: 100, oneHop: 100 });
  });

  it("sees what a strategy loses, and that recall brings it back", async () => {
    const strategies = ["sliding-window", "adaptive"];
    const { results } = await replay(
      transcript(reads(60)),
      options({ strategies, budgets: [8_000], farDistance: 500 }),
    );
    const [sliding, adaptive] = results;
    expect(sliding?.lookback).toMatchObject({ far: 0 });
    expect(adaptive?.lookback.oneHop).toBe(100);
  });

  it("counts a call that has no window as refused, and over the budget only where it need not be", async () => {
    const task = user("x".repeat(3_000));
    const { results } = await replay(transcript([task, says("hello")]), options());
    expect(results[0]).toMatchObject({
      refused: 1,
      overBudget: 0,
      broken: 0,
      tokens: { total: 0, average: 0, peak: 0 },
    });
  });

  it("counts requests that the raw history would have broken", async () => {
    const aborted = [user("go"), calls("1", "f", { a: 1 }), user("stop"), says("ok"), user("go on"), says("yes")];
    const replayed = await replay(transcript(aborted), options());
    expect(replayed).toMatchObject({ calls: 3, brokenRaw: 2, results: [{ broken: 0, faults: 0 }] });
  });

  it("tells its progress and stops when asked to", async () => {
    const done: number[] = [];
    await replay(session, options({ onProgress: (progress) => done.push(progress.done) }));
    expect(done.at(-1)).toBe(22);
    const stop = new AbortController();
    stop.abort();
    await expect(replay(session, options(), stop.signal)).rejects.toMatchObject({ code: "aborted" });
  });

  it("refuses unknown names and senseless budgets", async () => {
    await expect(replay(session, options({ strategies: ["adaptiv"] }))).rejects.toMatchObject({
      code: "unknown-strategy",
    });
    await expect(replay(session, options({ profile: "antropic" }))).rejects.toMatchObject({ code: "unknown-profile" });
    await expect(replay(session, options({ budgets: [0] }))).rejects.toMatchObject({ code: "bad-option" });
  });
});

it("adds sessions up", async () => {
  const one = await replay(session, options({ strategies: ["none"] }));
  const [total] = totalsOf([one, one]);
  expect(total).toMatchObject({ strategy: "none", budget: 2_000, sessions: 2, calls: 44, lookback: { all: 100 } });
  expect(total?.tokens).toEqual({
    total: 2 * (one.results[0]?.tokens.total ?? 0),
    average: one.results[0]?.tokens.average,
    peak: one.results[0]?.tokens.peak,
  });
  expect(total?.cost.equivalents).toBeCloseTo(2 * (one.results[0]?.cost.equivalents ?? 0), 9);
});

describe("what is no transcript, and options of another kind, are refused", () => {
  const right = { strategies: ["none"], budgets: [1_000], profile: "anthropic", counter: characters };
  const history = transcript([user("mend it")]);
  it.each([
    [undefined, right, "replay takes a transcript, not undefined"],
    [[user("mend it")], right, "replay takes a transcript, not a list"],
    [history, { budget: 1_000 }, 'replay has no option "budget". Did you mean "budgets"?'],
    [history, { ...right, budgets: 1_000 }, "replay: `budgets` is a list"],
    [history, { ...right, counter: undefined }, "replay needs `counter`"],
    [history, { ...right, budgets: [10n] }, "A budget is a positive number of tokens, such as 32_000, not a bigint."],
  ])("%#", async (session, options, message) => {
    await expect(replay(session as never, options as never)).rejects.toThrow(message);
  });
});
