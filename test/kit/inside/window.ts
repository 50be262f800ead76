/** Names of src/window that tests use and no door exports. */
export type { FileAction } from "../../../src/window/action/action.ts";
export { actionsOf, writtenPaths } from "../../../src/window/action/calls.ts";
export { fileTextOf, framedFiles, outputOf, saysFailed, speaksOfFailure } from "../../../src/window/action/output.ts";
export { patchActions } from "../../../src/window/action/patch.ts";
export { commandActions, scriptActions, shellActions } from "../../../src/window/action/shell.ts";
export { counterFor } from "../../../src/window/settings.ts";
export { Composer } from "../../../src/window/composer.ts";
export { excerpt } from "../../../src/window/digest/excerpt.ts";
export { EditIndex, mergeEdits, summaryPass } from "../../../src/window/edits.ts";
export { EpochReader } from "../../../src/window/epoch/reader.ts";
export { initialState } from "../../../src/window/compose-options.ts";
export { epochOf, epochRecord, outlineOf } from "../../../src/window/epoch/record.ts";
export { hashMessages, ListHashes } from "../../../src/window/hash.ts";
export { cutNewest } from "../../../src/window/passes/cut-newest.ts";
export { importanceOf } from "../../../src/window/passes/importance.ts";
export type { PruneUiTreeOptions } from "../../../src/window/passes/prune-ui-tree.ts";
export { ingestEdits } from "../../../src/window/passes/results.ts";
export { miki, mikiLimits } from "../../../src/window/strategies/presets.ts";
export { encodeFor } from "../../../src/window/provider/encode.ts";
export {
  anthropic,
  deepseek,
  gemini,
  inPlace,
  kimi,
  openaiChat,
  openaiResponses,
  pi,
} from "../../../src/window/provider/profile.ts";
export { WindowValidator } from "../../../src/window/provider/validate.ts";
export { Recalling, recallInTurns } from "../../../src/window/recall/recall.ts";
export { termsOf } from "../../../src/window/recall/terms.ts";
export { defaultMask } from "../../../src/window/stub/cut.ts";
export { isRecallAnswer, recallNotice } from "../../../src/window/stub/recalled.ts";
export { stubsOf, subjectOf } from "../../../src/window/stub/stub.ts";
export { fitEntities } from "../../../src/window/summary/entities.ts";
export { dueNow } from "../../../src/window/summary/due.ts";
export { extractedSummary, extractSummary } from "../../../src/window/summary/extract.ts";
export { summaryRequest } from "../../../src/window/summary/prompt.ts";
export { liveSummaries, summaryEdits, summaryOf, summaryRecord } from "../../../src/window/summary/standing.ts";
export type { LiveSummary, SummaryOutcome, SummaryTask } from "../../../src/window/summary/summary.ts";
export { writeSummary } from "../../../src/window/summary/write.ts";
export { parseLoose, readUiTree, screenOf } from "../../../src/window/ui/tree.ts";
export { viewStep } from "../../../src/window/view.ts";
export type { PinnedBlock, StrategyHook } from "../../../src/window/window.ts";
