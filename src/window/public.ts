/**
 * `windrow/window`: the parts windows are made of, for hosts that keep their own messages and for strategies of one's
 * own. `composeWindow` itself is at the front door.
 */
export { adaptive } from "./strategies/adaptive.ts";
export type { AdaptiveOptions } from "./strategies/adaptive.ts";
export { none } from "./strategies/none.ts";
export { slidingWindow } from "./strategies/sliding-window.ts";
export { strategyNames, strategyOf } from "./by-name.ts";
export type { StrategyChoice } from "./by-name.ts";
export { dropOldest } from "./passes/drop-oldest.ts";
export type { DropOldestOptions } from "./passes/drop-oldest.ts";
export { dropReasoning } from "./passes/drop-reasoning.ts";
export type { DropReasoningOptions } from "./passes/drop-reasoning.ts";
export { headTailLines } from "./passes/head-tail-lines.ts";
export type { HeadTailOptions } from "./passes/head-tail-lines.ts";
export { importanceOf } from "./passes/importance.ts";
export type { ImportanceWeights } from "./passes/importance.ts";
export { keepImportant } from "./passes/keep-important.ts";
export type { KeepImportantOptions } from "./passes/keep-important.ts";
export { keepRecent, recentSteps } from "./passes/keep-recent.ts";
export type { KeepRecentOptions, RecentOptions } from "./passes/keep-recent.ts";
export { keepState } from "./passes/keep-state.ts";
export type { ExtractState, KeepStateOptions } from "./passes/keep-state.ts";
export { pruneUiTree } from "./passes/prune-ui-tree.ts";
export type { PruneUiTreeOptions } from "./passes/prune-ui-tree.ts";
export { supersede } from "./passes/supersede.ts";
export type { SupersedeOptions } from "./passes/supersede.ts";
export { digest } from "./passes/digest.ts";
export type { DigestOptions } from "./passes/digest.ts";
export type { FileAction, ReadCall } from "./action/action.ts";
export { entityState } from "./strategies/entity-state.ts";
export type { EntityStateOptions } from "./strategies/entity-state.ts";
export { importance } from "./strategies/importance.ts";
export type { ImportanceOptions } from "./strategies/importance.ts";
export { layered } from "./strategies/layered.ts";
export type { LayeredOptions } from "./strategies/layered.ts";
export { rollingSummary } from "./strategies/rolling-summary.ts";
export type { RollingSummaryOptions } from "./strategies/rolling-summary.ts";
export { summaryAtThreshold } from "./strategies/summary-at-threshold.ts";
export type { SummaryAtThresholdOptions } from "./strategies/summary-at-threshold.ts";
export { presetCounter, presetNames, presetOf } from "./presets.ts";
export type { Preset } from "./presets.ts";
export { mikiLimits, mikiSizes } from "./presets/miki.ts";
export { interactiveLines } from "./ui/lines.ts";
export { limitUi, uiLimits } from "./ui/limits.ts";
export { readUiTree } from "./ui/tree.ts";
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
} from "./provider/profile.ts";
export { toolCosts } from "./tool-costs.ts";
export type { ToolCost, ToolCosts } from "./tool-costs.ts";
export type { Profile } from "./provider/profile.ts";
export { explainWindow } from "./explain.ts";
export type { ExplainedItem, ExplainOptions, Explanation, Fate, FateTotal } from "./explain.ts";
export { recallFrom } from "./recall/recall.ts";
export type { Recalled, RecallLimits, RecallQuery } from "./recall/recall.ts";
export { summariseStep, unsummarised } from "./summary/hook.ts";
export type { SummaryHookOptions } from "./summary/hook.ts";
export { extractSummary } from "./summary/extractive.ts";
export { coverageOf } from "./summary/coverage.ts";
export type { Coverage, CoverageFault, CoverageInput } from "./summary/coverage.ts";
export type { SummaryFailure, SummaryOutcome } from "./summary/summary.ts";
export { validateWindow } from "./provider/validate.ts";
export type { Fault } from "./provider/validate.ts";
export type { Edit, Pass, PassContext, Strategy, Stub, Trigger, View, ViewStep, WindowState } from "./window.ts";
