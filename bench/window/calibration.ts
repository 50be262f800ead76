/** How near counts come to what a provider reported, once the first calls of a session have corrected them. */
import type { Message } from "../../src/message/message.ts";
import { correct, initialCalibration, observe } from "../../src/tokens/calibrate.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { loadCounter } from "../../src/tokens/exact.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { Composer } from "../../src/window/composer.ts";
import { profileOf } from "../../src/window/provider/profile.ts";
import { none } from "../../src/window/strategies/strategies.ts";
import { goalText, median } from "../bench.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { recordedSessions } from "./kit.ts";

/** Calls with reported usage before errors are counted. */
const learning = 20;

/** One row a session and a counter. */
export async function benchCalibration(): Promise<BenchReport> {
  const sessions = await recordedSessions([
    "pi-sessions/trajectories.jsonl.gz",
    "pi-sessions/large-session.raw.jsonl.gz",
  ]);
  const counters = await Promise.all(["estimate", "o200k", "chars4-ceil"].map(async (name) => await loadCounter(name)));
  return {
    name: "window/calibration",
    rows: sessions.flatMap((session) => counters.map((counter) => rowOf(session, counter))),
    note:
      `errors in % of the reported input, each call's count corrected by the calls before it, after ${learning} calls; ` +
      "of growth: the error in % of what the call added to the one before; raw: the count as it is; in band: calls whose reported input stood in the predicted band",
  };
}

function rowOf(session: Transcript, counter: TokenCounter): BenchRow {
  const composer = new Composer({ strategy: none(), profile: profileOf("anthropic"), counter });
  let state = initialCalibration;
  let pushed = 0;
  let ignored = 0;
  let inBand = 0;
  const errors: number[] = [];
  const rawErrors: number[] = [];
  const growthErrors: number[] = [];
  let before = 0;
  session.messages.forEach((message, index) => {
    const reported = message.usage?.input;
    if (message.role !== "assistant" || reported === undefined || index === 0) return;
    for (; pushed < index; pushed++) composer.push(pushed + 1, session.messages[pushed] as Message);
    const estimated = composer.compose({ budget: Infinity }).tokens;
    if (state.observations >= learning) {
      const { tokens, low, high } = correct(state, estimated);
      errors.push((100 * Math.abs(tokens - reported)) / reported);
      growthErrors.push((100 * Math.abs(tokens - reported)) / Math.max(1, Math.abs(reported - before)));
      rawErrors.push((100 * Math.abs(estimated - reported)) / reported);
      if (low <= reported && reported <= high) inBand++;
    }
    before = reported;
    const observed = observe(state, { estimated, reported });
    if (observed.warning !== undefined) ignored++;
    state = observed.state;
  });
  const sorted = errors.toSorted((left, right) => left - right);
  const figure = (value: number | undefined): number => Number((value ?? NaN).toFixed(2));
  const middle = median(errors);
  return {
    "session": session.id,
    "counter": counter.name,
    "calls": errors.length,
    "median %": figure(middle),
    "goal": goalText(middle, { atMost: 5 }),
    "p95 %": figure(sorted[Math.floor(sorted.length * 0.95)]),
    "of growth %": figure(median(growthErrors)),
    "in band %": figure((100 * inBand) / errors.length),
    "raw median %": figure(median(rawErrors)),
    "ignored": ignored,
  };
}
