/** Names of src/replay that tests use and no door exports. */
export { compactionsOf } from "../../../src/replay/compaction.ts";
export type { Compaction } from "../../../src/replay/compaction.ts";
export { adviceBudgets, adviseOn } from "../../../src/replay/advice.ts";
export { CostTally, MessageTokens } from "../../../src/replay/cost-metric.ts";
export type { CostConditions, PricesOf } from "../../../src/replay/cost-metric.ts";
export { namedFiles, OneHop } from "../../../src/replay/one-hop.ts";
export {
  AtomReader,
  atomsOf,
  farDistanceFor,
  findReferences,
  LookbackTally,
} from "../../../src/replay/recall-metric.ts";
export type { ReplayedMiss, ReplayedWindow } from "../../../src/replay/replay.ts";
export { BrokenRequests, essentials } from "../../../src/replay/shape-metric.ts";
export { totalsOf } from "../../../src/replay/totals.ts";
export type { ReplayTotal } from "../../../src/replay/totals.ts";
