/** The usage that a recorded session itself reports, and the corrections that it gives to a replay. */
import type { Message, Usage } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { defined } from "../message/json.ts";
import { usedTokens } from "../message/parts.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { CostSum } from "./cost-metric.ts";
import type { Cost, PricesOf } from "./cost-metric.ts";

/** The usage that a session's own file reports for its calls. */
export interface RecordedUse {
  /** Calls that the file reports usage for. */
  readonly calls: number;
  /** Reported input tokens: of all those calls, of the mean one, and of the largest one. */
  readonly tokens: { readonly total: number; readonly average: number; readonly peak: number };
  /** Reported output tokens. */
  readonly output: number;
  /** The share of the input that was read from the provider's cache, 0 to 1. */
  readonly cachedShare: number;
  readonly cost: Cost;
  /** Further calls, whose answers are no part of the session; they are in the cost alone. */
  readonly others: number;
  /** Calls whose model has no price; they are not in the money. */
  readonly unpriced: number;
}

/** The facts of a session's requests, beyond their messages, that its own usage tells. */
export interface Calibration {
  /** Reported tokens for each counted one. */
  readonly rate: number;
  /** Reported tokens of each request that its messages do not explain: system prompt, tools, framing. */
  readonly overhead: number;
  /** Tokens of the overhead that the first request read from the cache already: an earlier session had left them there. */
  readonly warm: number;
  /** How often the reported requests shrank: the recorded program sent less of its history. */
  readonly cuts: number;
  /** Indices of the assistant messages whose request found the provider's cache cold. */
  readonly cold: ReadonlySet<number>;
  /** Whether requests read from a cache at all. */
  readonly cached: boolean;
  /** The share of what they wrote to it that it keeps for an hour, 0 to 1. */
  readonly hourShare: number;
  /** Whether the file reports usage; without it, rate is 1, overhead 0, and cold are the calls after long pauses. */
  readonly reported: boolean;
}

/** A pause after which a provider's cache is taken to be cold: Anthropic's page on prompt caching says five minutes. */
export const cacheLifetimeMs = 300_000;

/** A reported input that shrinks to less than this share was cut by the recorded program. */
const cutShare = 0.9;

/** Shorter requests are not cached (Anthropic and OpenAI: 1,024 tokens), so they tell nothing of a cold cache. */
const leastCached = 1_024;

/**
 * Whether the recorded program cut its history between two requests.
 *
 * @param before - the input that the earlier request reported, in tokens
 * @param input - that of the later one
 */
function isCut(before: number, input: number): boolean {
  return input < cutShare * before;
}

/** Weight of the rate of one reported token for each counted one, against what the session shows: tokens. */
const startWeight = 2_000;
/** Calls with usage that show whether caching was in use at all. */
const tellingCalls = 3;

/** The reported usage of a session's calls added up; undefined where the file reports none. */
export function recordedUse(
  { messages, otherCalls: others = [] }: Pick<Transcript, "messages" | "otherCalls">,
  pricesOf: PricesOf,
): RecordedUse | undefined {
  const cost = new CostSum();
  const calls = messages.flatMap(({ role, usage, model }) =>
    role === "assistant" && usage && usedTokens(usage) > 0 ? [{ usage, ...defined({ model }) }] : [],
  );
  if (calls.length === 0) return undefined;
  const uses = calls.map(({ usage }) => usage);
  for (const call of [...calls, ...others]) cost.add(call.usage, pricesOf(call));
  const sum = (value: (usage: Usage) => number | undefined): number =>
    uses.reduce((all, usage) => all + (value(usage) ?? 0), 0);
  const total = sum(({ input }) => input);
  const read = sum(({ cacheRead }) => cacheRead);
  return {
    calls: uses.length,
    tokens: {
      total,
      average: Math.round(total / uses.length),
      peak: Math.max(...uses.map(({ input = 0 }) => input)),
    },
    output: sum(({ output }) => output),
    cachedShare: total === 0 ? 0 : read / total,
    cost: cost.result(),
    others: others.length,
    unpriced: [...calls, ...others].filter((call) => !pricesOf(call)).length,
  };
}

/**
 * Compares what a session's calls report with what their messages count. Only calls in a row are compared between which
 * nothing was cut, so a session that summarised itself calibrates too.
 *
 * @param counted - tokens of the request before each assistant message, its whole history sent
 */
export function calibrationOf(messages: readonly Message[], counted: ReadonlyMap<number, number>): Calibration {
  const calls = messages.flatMap((message, index): readonly Call[] => {
    const tokens = counted.get(index);
    if (tokens === undefined) return [];
    const { usage, timestamp } = message;
    const time = timestamp === undefined ? undefined : Date.parse(timestamp);
    return [{ index, counted: tokens, usage, time }];
  });
  const told = calls.filter((call): call is ToldCall => (call.usage?.input ?? 0) > 0);
  const cached = told.some(({ usage }) => (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) > 0);
  const stretches = stretchesOf(told);
  const rate = rateOf(stretches);
  const [first] = told;
  const overhead = first ? Math.max(0, Math.round(first.usage.input - rate * first.counted)) : 0;
  return {
    rate,
    overhead,
    warm: first && first.index === calls[0]?.index ? Math.min(overhead, first.usage.cacheRead ?? 0) : 0,
    cuts: Math.max(0, stretches.length - 1),
    cold: new Set(cached ? coldByUsage(told) : coldByPause(calls)),
    cached: cached || told.length < tellingCalls,
    hourShare: hourShareOf(told),
    reported: told.length > 0,
  };
}

function hourShareOf(calls: readonly ToldCall[]): number {
  const sum = (name: "cacheWrite" | "cacheWriteHour"): number =>
    calls.reduce((all, { usage }) => all + (usage[name] ?? 0), 0);
  return Math.min(1, sum("cacheWriteHour") / Math.max(1, sum("cacheWrite")));
}

/** A counter whose tokens are those that the provider reports. */
export function calibratedCounter(counter: TokenCounter, { rate }: Calibration): TokenCounter {
  if (rate === 1) return counter;
  return { ...counter, count: (text) => Math.ceil(rate * counter.count(text)) };
}

/** Texts shorter than this are counted sooner than looked up. */
const shortText = 64;

/** A counter that counts each text once: every strategy counts the same ones, with the correction and without. */
export function rememberingCounter(counter: TokenCounter): TokenCounter {
  const known = new Map<string, number>();
  return {
    ...counter,
    count: (text) => {
      if (text.length < shortText) return counter.count(text);
      let tokens = known.get(text);
      if (tokens === undefined) known.set(text, (tokens = counter.count(text)));
      return tokens;
    },
  };
}

interface Call {
  readonly index: number;
  readonly counted: number;
  readonly usage: Usage | undefined;
  /** Milliseconds since the epoch. */
  readonly time: number | undefined;
}

type ToldCall = Call & { readonly usage: Usage & { readonly input: number } };

/**
 * The median of what each call grew by since the first of its stretch. Calls of a stretch's first half are too near to
 * tell. What a program sent for one call alone, or what its file does not hold, has little weight in a median.
 */
function rateOf(stretches: readonly (readonly ToldCall[])[]): number {
  const rates = stretches
    .flatMap((calls): readonly { readonly weight: number; readonly rate: number }[] => {
      const [first, last] = [calls[0] as ToldCall, calls.at(-1) as ToldCall];
      const far = calls.filter((call) => call.counted - first.counted > (last.counted - first.counted) / 2);
      return far.map((call) => {
        const [counted, reported] = [call.counted - first.counted, call.usage.input - first.usage.input];
        return {
          weight: (last.counted - first.counted) / far.length,
          rate: (Math.max(0, reported) + startWeight) / (counted + startWeight),
        };
      });
    })
    .toSorted((left, right) => left.rate - right.rate);
  let left = rates.reduce((all, { weight }) => all + weight, 0) / 2;
  return rates.find(({ weight }) => (left -= weight) <= 0)?.rate ?? 1;
}

/** Runs of calls in which each request holds the one before it. */
function stretchesOf(calls: readonly ToldCall[]): readonly (readonly ToldCall[])[] {
  const stretches: ToldCall[][] = [];
  for (const call of calls) {
    const current = stretches.at(-1);
    const before = current?.at(-1);
    if (current && before && !isCut(before.usage.input, call.usage.input)) current.push(call);
    else stretches.push([call]);
  }
  return stretches;
}

/** Calls that read less than half of the request before them from the cache, though they hold all of it. */
function coldByUsage(calls: readonly ToldCall[]): readonly number[] {
  return calls.flatMap((call, place) => {
    const before = calls[place - 1];
    if (!before || before.usage.input < leastCached || isCut(before.usage.input, call.usage.input)) return [];
    return (call.usage.cacheRead ?? 0) < before.usage.input / 2 ? [call.index] : [];
  });
}

function coldByPause(calls: readonly Call[]): readonly number[] {
  return calls.flatMap((call, place) => {
    const before = calls[place - 1]?.time;
    if (before === undefined || call.time === undefined) return [];
    return call.time - before > cacheLifetimeMs ? [call.index] : [];
  });
}
