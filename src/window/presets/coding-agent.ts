/** Preset coding-agent, with the literal numbers of docs/presets.md. */
import { summaryAtThreshold } from "../strategies/summary-at-threshold.ts";
import type { SummaryAtThresholdOptions } from "../strategies/summary-at-threshold.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link codingAgent}. */
export interface CodingAgentOptions extends Omit<SummaryAtThresholdOptions, "ratio"> {
  /** Share of the contextWindow at which a summary is due (compression_threshold). Default 0.7. */
  readonly ratio?: number;
}

/**
 * A summary is due over 0.7 of the contextWindow and 10 messages; the newest 5 stay out of it. The window is the system
 * block, the latest summary, and the newest messages that fit.
 */
export function codingAgent({ ratio, locale = "ja", ...options }: CodingAgentOptions = {}): Strategy {
  return {
    ...summaryAtThreshold({ ...options, locale, ratio: 1 }),
    name: "coding-agent",
    settings: {
      counter: "chars4-floor",
      ratio: ratio ?? 0.7,
      ...(ratio !== undefined && { ratioOption: "ratio" }),
      locale,
      folder: "logs/contexts",
      maskEmail: true,
    },
  };
}
