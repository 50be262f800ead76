/** Preset coding-agent, with the literal numbers of docs/presets.md. */
import { summaryAtThreshold } from "../strategies/summary-at-threshold.ts";
import type { SummaryAtThresholdOptions } from "../strategies/summary-at-threshold.ts";
import { presetWith } from "./preset.ts";
import type { Preset } from "./preset.ts";

/** Options of {@link codingAgent}. */
export interface CodingAgentOptions extends Omit<SummaryAtThresholdOptions, "ratio"> {
  /** Share of the contextWindow at which a summary is due (compression_threshold). Default 0.7. */
  readonly ratio?: number;
}

/**
 * A summary is due over 0.7 of the contextWindow and 10 messages; the newest 5 stay out of it. The window is the system
 * block, the latest summary, and the newest messages that fit.
 */
export function codingAgent({ ratio, locale = "ja", ...options }: CodingAgentOptions = {}): Preset {
  const strategy = summaryAtThreshold({ ...options, locale, ratio: 1 });
  return presetWith("coding-agent", strategy, {
    counter: "chars4-floor",
    ratio: ratio ?? 0.7,
    ...(ratio !== undefined && { ratioOption: "ratio" }),
    locale,
    folder: "logs/contexts",
    maskEmail: true,
  });
}
