/**
 * `windrow/window`: the parts that windows are made of, for hosts that store their own messages and for strategies of
 * one's own. `composeWindow` itself is at the front door. docs/concepts.md describes strategies and passes.
 */
export { presetNames, strategyNames, strategyOf } from "./by-name.ts";
export { loadStrategy } from "./load-strategy.ts";
export type { ContextStrategyConfig, LoadOptions, StrategySpecifier } from "./load-strategy.ts";
export {
  adaptive,
  entityState,
  importance,
  layered,
  none,
  rollingSummary,
  slidingWindow,
  summaryAtThreshold,
} from "./strategies/strategies.ts";
export { digest } from "./passes/digest.ts";
export { dropOldest, dropping, keepRecent } from "./passes/dropping.ts";
export { dropReasoning } from "./passes/drop-reasoning.ts";
export { headTailLines } from "./passes/head-tail-lines.ts";
export { keepImportant } from "./passes/importance.ts";
export { keepState } from "./passes/keep-state.ts";
export type { ExtractState } from "./passes/keep-state.ts";
export { pruneUiTree } from "./passes/prune-ui-tree.ts";
export { shortening } from "./passes/results.ts";
export { supersede } from "./passes/supersede.ts";
export { profileNames, profileOf } from "./provider/profile.ts";
export type { Profile } from "./provider/profile.ts";
export type { Fault } from "./provider/validate.ts";
export { toolCosts } from "./layout.ts";

export { explainWindow } from "./explain.ts";
export type { ExplainedItem, ExplainOptions, Explanation, Fate } from "./explain.ts";
export { recallFrom } from "./recall/recall.ts";
export type { Recalled, RecallLimits, RecallQuery } from "./recall/query.ts";
export { summariseStep } from "./summary/hook.ts";
export type { SummaryHookOptions } from "./summary/summary.ts";
export type { LogBehind } from "./log-reading.ts";
export type { Work } from "../turns.ts";
export type {
  Edit,
  Pass,
  PassContext,
  ReadingContext,
  Strategy,
  StrategyChoice,
  StrategySettings,
  Stub,
  ToolCosts,
  Trigger,
  View,
  ViewStep,
} from "./window.ts";
