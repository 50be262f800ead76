/** An estimate of what calls would have used with a managed window, from the sizes of the recorded requests alone. */
import { isCut, leastCached } from "../../transcript/usage/recorded-input.ts";
import { getOrMake } from "../look/sum.ts";
import type { CallUsage } from "../../transcript/usage/usage.ts";

/**
 * The share of the budget that `adaptive` fills after an epoch, by replay of 13 recorded sessions: 0.72 on the mean of 417
 * epochs at 16,000 tokens, 0.67 of 207 at 32,000, and 0.73 of 125 at 64,000. docs/usage.md says how it was measured.
 */
const cutLevel = 0.7;

/** The input of one call, by how it is paid for. */
export type InputUse = Pick<CallUsage, "input" | "cacheRead" | "cacheWrite" | "cacheWriteHour">;

/**
 * The input of each call with a window of a budget. The first request of a conversation stands for what each carries
 * beside its messages: system prompt, tools. Behind it the window grows as the recorded requests grew, and an epoch cuts it
 * back when it would pass the budget; the cache is then warm only for that first part. Elsewhere it is as warm as recorded.
 * A conversation that never passes the budget used what it did.
 *
 * @param calls - of one file, in their order
 * @param budgetOf - tokens of the messages in a window, by the model's id
 */
export function managedInputs(
  calls: readonly CallUsage[],
  budgetOf: (model: string) => number,
): ReadonlyMap<CallUsage, InputUse> {
  const chains = new Map<string, CallUsage[]>();
  for (const call of calls) getOrMake(chains, call.chain, () => []).push(call);
  const inputs = new Map<CallUsage, InputUse>();
  for (const chain of chains.values()) manageChain(chain, budgetOf(chain[0]?.model ?? ""), inputs);
  return inputs;
}

function manageChain(all: readonly CallUsage[], budget: number, inputs: Map<CallUsage, InputUse>): void {
  for (const call of all) inputs.set(call, call);
  const sent = all.filter(({ input }) => input > 0);
  const calls = sent.filter((_, place) => !isAside(sent, place));
  const [first] = calls;
  if (!first) return;
  const shares = writeShares(calls);
  let [held, before, warmth] = [0, first, first.cacheRead > 0 ? 1 : 0];
  let window = first.input;
  for (const call of calls.slice(1)) {
    const cut = isCut(before.input, call.input);
    if (!cut && before.input >= leastCached) warmth = Math.min(1, call.cacheRead / before.input);
    held = Math.max(0, held + (cut ? 0 : call.input - before.input));
    const opens = held > budget;
    if (opens) held = Math.round(cutLevel * budget);
    const kept = opens ? first.input : window;
    window = first.input + held;
    if (window !== call.input) inputs.set(call, inputUse(window, Math.round(warmth * Math.min(kept, window)), shares));
    before = call;
  }
}

/** A single small request between two large ones is none of the conversation's: a title, a check. */
function isAside(calls: readonly CallUsage[], place: number): boolean {
  const [before, call, after] = [calls[place - 1], calls[place], calls[place + 1]];
  if (!before || !call || !after) return false;
  return isCut(before.input, call.input) && !isCut(before.input, after.input);
}

interface WriteShares {
  /** The share of the input that was not read from the cache and was written to it. */
  readonly written: number;
  /** The share of that which was written for an hour. */
  readonly long: number;
}

function writeShares(calls: readonly CallUsage[]): WriteShares {
  const sum = (value: (call: CallUsage) => number): number => calls.reduce((all, call) => all + value(call), 0);
  const [fresh, written] = [sum(({ input, cacheRead }) => input - cacheRead), sum(({ cacheWrite }) => cacheWrite)];
  return {
    written: fresh <= 0 ? 0 : Math.min(1, written / fresh),
    long: written === 0 ? 0 : sum(({ cacheWriteHour = 0 }) => cacheWriteHour) / written,
  };
}

function inputUse(input: number, cacheRead: number, { written, long }: WriteShares): InputUse {
  const cacheWrite = Math.round(written * (input - cacheRead));
  return { input, cacheRead, cacheWrite, cacheWriteHour: Math.round(long * cacheWrite) };
}
