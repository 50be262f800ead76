/** A long loop of large steps under a prompt cache: what `adaptive` costs beside sending everything. */
import type { Message } from "../../src/message/message.ts";
import { CostTally, MessageTokens } from "../../src/replay/cost-metric.ts";
import { loadCounter } from "../../src/tokens/exact.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { Composer } from "../../src/window/composer.ts";
import { profileOf } from "../../src/window/provider/profile.ts";
import { strategyOf } from "../../src/window/by-name.ts";
import { goalText } from "../bench.ts";
import type { BenchReport } from "../bench.ts";

const budget = 100_000;
const stepTokens = 6_000;
/** Calls, and what `adaptive` may cost of what an unbounded window costs. */
const goals: readonly (readonly [calls: number, share: number])[] = [
  [15, 1.02],
  [200, 0.35],
];

/** One row a number of calls. */
export async function benchLoop(): Promise<BenchReport> {
  const counter = await loadCounter("o200k");
  const rows = goals.map(([calls, atMost]) => {
    const [own, all] = [costOf("adaptive", calls, counter), costOf("none", calls, counter)];
    const share = own.cost / all.cost;
    return {
      calls: calls,
      adaptive: own.cost,
      everything: all.cost,
      share: Number(share.toFixed(3)),
      goal: goalText(share, { atMost }),
      epochs: own.epochs,
    };
  });
  return {
    name: "window/loop",
    rows,
    note:
      `steps of ${stepTokens} tokens, budget ${budget}; cost in millions of input tokens, ` +
      "cached ones at 0.1, written ones at 1.25",
  };
}

function costOf(
  strategy: string,
  calls: number,
  counter: TokenCounter,
): { readonly cost: number; readonly epochs: number } {
  const composer = new Composer({ strategy: strategyOf(strategy), profile: profileOf("openai-chat"), counter });
  const tally = new CostTally(new MessageTokens(counter));
  let seq = 0;
  let epochs = 0;
  const push = (message: Message): void => composer.push(++seq, message);
  push({ id: "task", role: "user", parts: [{ type: "text", text: "Read every log and say what went wrong." }] });
  for (let call = 1; call <= calls; call++) {
    const { messages, report } = composer.compose({ budget: strategy === "none" ? Infinity : budget });
    tally.add(messages);
    if (report.opened) epochs++;
    for (const message of step(call, counter)) push(message);
  }
  return { cost: tally.result().equivalents, epochs };
}

/** A call that reads a log, and as many of its lines as make a step of the size. */
function step(number: number, counter: TokenCounter): readonly Message[] {
  const callId = `call_${number}`;
  const path = `logs/worker_${number}.log`;
  const line = (at: number): string => `12:${number % 60}:${at % 60} worker_${number} job_${number * at} took ${at} ms`;
  const lines = Array.from({ length: Math.floor(stepTokens / counter.count(`${line(500)}\n`)) }, (_, at) => line(at));
  return [
    { id: `a${number}`, role: "assistant", parts: [{ type: "tool-call", callId, name: "read", args: { path } }] },
    {
      id: `t${number}`,
      role: "tool",
      parts: [{ type: "tool-result", callId, name: "read", content: lines.join("\n") }],
    },
  ];
}
