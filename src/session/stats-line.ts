/** The lines of statistics about windows, as `--debug` and adapters log them. */
import { inform } from "../handed-in.ts";
import { kinds, whole } from "../window/options.ts";
import type { Kind } from "../window/options.ts";

/** A session in three numbers (docs/presets.md, `miki`). */
export interface ContextStats {
  readonly messageCount: number;
  /** By the session's counter. */
  readonly estimatedTokens: number;
  readonly hasSnapshot: boolean;
}

/** Which lines of statistics are logged, and where they go. */
export interface StatsLineOptions {
  /** Every how many windows a line `Context stats: 18 messages, ~4500 tokens` is logged. Default: never. */
  readonly debugEvery?: number;
  /** Takes the lines of `debugEvery`. Default: standard error. */
  readonly log?: (line: string) => void;
}

/** The kinds of {@link StatsLineOptions}. */
export const statsKinds = { debugEvery: whole(1), log: kinds.action } as const satisfies Record<
  keyof StatsLineOptions,
  Kind
>;

/** The statistics line of preset `miki`: `Context stats: 18 messages, ~4500 tokens`. */
export function statsLine({ messageCount, estimatedTokens }: Omit<ContextStats, "hasSnapshot">): string {
  return `Context stats: ${messageCount} messages, ~${estimatedTokens} tokens`;
}

/** Counts windows, and logs the size of every n-th; undefined where no line is wanted. */
export function statsLogger({
  debugEvery,
  log = (line) => void process.stderr.write(`${line}\n`),
}: StatsLineOptions): ((messages: number, tokens: number) => void) | undefined {
  if (debugEvery === undefined) return undefined;
  let windows = 0;
  return (messageCount, estimatedTokens) => {
    if (++windows % debugEvery > 0) return;
    inform(log, statsLine({ messageCount, estimatedTokens }), "a line of statistics");
  };
}
