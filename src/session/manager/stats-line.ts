/** The lines of statistics about windows, as sessions and adapters log them. */
import { inform } from "../../handed-in.ts";
import { kinds, whole } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { tell } from "../events.ts";
import type { Listener } from "../events.ts";
import { statsDue, statsLine } from "../state/snapshot.ts";

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

/** Counts windows, and logs the size of every n-th; undefined where no line is wanted. */
export function statsLogger({
  debugEvery,
  log = toStandardError,
}: StatsLineOptions): ((messages: number, tokens: number) => void) | undefined {
  if (debugEvery === undefined) return undefined;
  let windows = 0;
  return (messageCount, estimatedTokens) => {
    if (!statsDue(++windows, debugEvery)) return;
    inform(log, statsLine({ messageCount, estimatedTokens, hasSnapshot: false }), "a line of statistics");
  };
}

/** A listener of one session that also logs the size of every n-th window. */
export function withStatsLines(listener: Listener | undefined, options: StatsLineOptions): Listener | undefined {
  const count = statsLogger(options);
  if (!count) return listener;
  return (event) => {
    if (event.type === "window-composed") count(event.messages, event.report.tokens);
    tell(listener, event);
  };
}

function toStandardError(line: string): void {
  process.stderr.write(`${line}\n`);
}
