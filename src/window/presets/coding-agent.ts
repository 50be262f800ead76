/** Preset coding-agent, with the literal numbers of docs/presets.md. */
import { summaryAtThreshold } from "../strategies/summary-at-threshold.ts";
import type { SummaryAtThresholdOptions } from "../strategies/summary-at-threshold.ts";
import type { Preset, PresetStorage } from "./preset.ts";

/** Options of {@link codingAgent}. */
export interface CodingAgentOptions extends Pick<SummaryAtThresholdOptions, "minMessages" | "keepRecent" | "mode"> {
  /** Share of the contextWindow at which a summary is due (compression_threshold). Default 0.7. */
  readonly ratio?: number;
}

/** The preset's numbers about storage. */
export const codingAgentStorage: PresetStorage = {
  folder: "logs/contexts",
  maxMemoryMessages: 20,
  heartbeatMs: 30_000,
  staleMs: 60_000,
  scanMs: 300_000,
  stateLockMs: 5_000,
  retentionDays: 30,
  compressAfterDays: 7,
  keepBackups: 7,
};

/**
 * A summary is due over 0.7 of the contextWindow and 10 messages; the newest 5 stay out of it. The window is the system
 * block, the latest summary, and the newest messages that fit.
 */
export function codingAgent({ ratio = 0.7, ...options }: CodingAgentOptions = {}): Preset {
  const strategy = summaryAtThreshold({ ...options, locale: "ja", note: false });
  return {
    name: "coding-agent",
    strategy: { ...strategy, name: "coding-agent" },
    counter: "chars4-floor",
    ratio,
    locale: "ja",
    storage: codingAgentStorage,
  };
}
