/** Names of src/session that tests use and no door exports. */
export type { SessionStats } from "../../../src/session/context.ts";
export { newestEdits, newestOutline, recordedEpoch } from "../../../src/session/log.ts";
export { readOnlyStore } from "../../../src/session/read-only.ts";
export type { SessionComposeOptions } from "../../../src/session/session.ts";
export { ConversationState, goalRecord, renderGoal } from "../../../src/session/state/state.ts";
export { Pins, renderPin } from "../../../src/session/state/pins.ts";
export type { Moment, PinOptions } from "../../../src/session/state/pins.ts";
export { renderSnapshot, snapshotOf, snapshotRecord, updateSnapshot } from "../../../src/session/state/snapshot.ts";
export { statsLine } from "../../../src/session/stats-line.ts";
export type { SnapshotUpdate } from "../../../src/session/state/snapshot.ts";
