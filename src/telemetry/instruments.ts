/** The metrics of Windrow, as instruments of a meter. */
import type { Counter, Histogram, Meter } from "@opentelemetry/api";

/** The bounds that the conventions give for tokens. */
const tokenBounds = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** The bounds that the conventions give for seconds. */
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const shareBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** The instruments, each named after its metric. */
export interface Instruments {
  readonly tokenUsage: Histogram;
  readonly operationDuration: Histogram;
  readonly toolDuration: Histogram;
  readonly windowTokens: Histogram;
  readonly cacheShare: Histogram;
  readonly cacheReadTokens: Counter;
  readonly cacheWriteTokens: Counter;
  readonly cost: Counter;
  readonly epochs: Counter;
  readonly messages: Counter;
  readonly summaries: Counter;
  readonly sessionsOpened: Counter;
  readonly sessions: Counter;
  readonly storeFailures: Counter;
}

/** Makes the instruments of a meter, with units and bounds. */
export function instrumentsOf(meter: Meter): Instruments {
  const histogram = (name: string, unit: string, description: string, bounds: readonly number[]): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } });
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description });
  return {
    tokenUsage: histogram(
      "gen_ai.client.token.usage",
      "{token}",
      "Number of input and output tokens used.",
      tokenBounds,
    ),
    operationDuration: histogram("gen_ai.client.operation.duration", "s", "GenAI operation duration.", secondBounds),
    toolDuration: histogram("gen_ai.execute_tool.duration", "s", "Time that tools ran.", secondBounds),
    windowTokens: histogram("windrow.window.tokens", "{token}", "Tokens of composed windows.", tokenBounds),
    cacheShare: histogram("windrow.cache.share", "1", "Share of a call's input that the cache served.", shareBounds),
    cacheReadTokens: counter("windrow.cache.read.tokens", "{token}", "Input tokens that the provider's cache served."),
    cacheWriteTokens: counter("windrow.cache.write.tokens", "{token}", "Input tokens written to the provider's cache."),
    cost: counter("windrow.cost", "{USD}", "List price of model calls, where it is known."),
    epochs: counter("windrow.epochs", "{epoch}", "Epochs that opened, by reason."),
    messages: counter("windrow.messages", "{message}", "Messages that were appended, by role."),
    summaries: counter("windrow.summaries", "{summary}", "Summaries, by what became of them."),
    sessionsOpened: counter("windrow.sessions.opened", "{session}", "Sessions that were made or resumed."),
    sessions: counter("windrow.sessions", "{session}", "Sessions that ended, by status."),
    storeFailures: counter("windrow.store.failures", "{failure}", "Writes that the store refused, by error code."),
  };
}
