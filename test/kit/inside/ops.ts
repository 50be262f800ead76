/** Names of src/ops that tests use and no door exports. */
export { findGeneration, generationNames, readGeneration } from "../../../src/ops/backup/generations.ts";
export { finishSession } from "../../../src/ops/monitor/finish.ts";
export { copy } from "../../../src/ops/exchange/copy.ts";
export { exportFormats } from "../../../src/ops/exchange/export.ts";
export { lineOf } from "../../../src/ops/logs/logs.ts";
export { lastRecordAt } from "../../../src/ops/look/age.ts";
export { composeStored } from "../../../src/ops/look/compose.ts";
export type { WindowPreview } from "../../../src/ops/look/compose.ts";
export { findSession } from "../../../src/ops/look/find.ts";
export { retire } from "../../../src/ops/monitor/finish.ts";
export { withSharedKeys } from "../../../src/ops/usage/once.ts";
export type { UsageOverview, UsageSum } from "../../../src/ops/usage/overview.ts";
