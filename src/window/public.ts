/**
 * `windrow/window`: the parts windows are made of, for hosts that keep their own messages and for strategies of one's
 * own. `composeWindow` itself is at the front door.
 */
export { adaptive } from "./strategies/adaptive.ts";
export type { AdaptiveOptions } from "./strategies/adaptive.ts";
export { none } from "./strategies/none.ts";
export { slidingWindow } from "./strategies/sliding-window.ts";
export { strategyNames, strategyOf } from "./strategy.ts";
export { dropOldest } from "./passes/drop-oldest.ts";
export type { DropOldestOptions } from "./passes/drop-oldest.ts";
export { truncateToolResults } from "./passes/truncate-tool-results.ts";
export type { TruncateOptions } from "./passes/truncate-tool-results.ts";
export {
  anthropic,
  deepseek,
  gemini,
  kimi,
  ollama,
  openaiChat,
  openaiResponses,
  pi,
  profileNames,
  profileOf,
} from "./profile.ts";
export { toolCosts } from "./tool-costs.ts";
export type { ToolCost, ToolCosts } from "./tool-costs.ts";
export type { Profile } from "./profile.ts";
export { explainWindow } from "./explain.ts";
export type { ExplainedItem, ExplainOptions, Explanation, Fate, FateTotal } from "./explain.ts";
export { recallFrom } from "./recall.ts";
export type { Recalled, RecallLimits, RecallQuery } from "./recall.ts";
export { summariseStep, unsummarised } from "./summary/hook.ts";
export type { SummaryHookOptions } from "./summary/hook.ts";
export { extractSummary } from "./summary/extractive.ts";
export { coverageOf } from "./summary/coverage.ts";
export type { Coverage, CoverageFault, CoverageInput } from "./summary/coverage.ts";
export type { SummaryFailure, SummaryOutcome } from "./summary/summary.ts";
export { validateWindow } from "./validate.ts";
export type { Fault } from "./validate.ts";
export type { Edit, Pass, PassContext, Strategy, Stub, Trigger, View, ViewStep, WindowState } from "./window.ts";
