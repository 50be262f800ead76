/** `windrow/store/author`: the contract of a store, and what every store does alike. docs/writing-a-store.md describes it. */
export { createMask } from "../mask/mask.ts";
export type { Mask } from "../mask/mask.ts";
export type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../message/record.ts";
export { systemClock, timestamp } from "./shared/clock.ts";
export type { Clock } from "./shared/clock.ts";
export { cannotStore, prepareMetadata, prepareRecord, prepareState, readRecord } from "./shared/prepare.ts";
export { alreadyExists, checkQuery, finished, foreignLock, inScope } from "./shared/rules.ts";
export { initialState } from "./format/documents.ts";
export { isFinal, notFound, released, sessionId, storeClosed } from "./shared/rules.ts";
export type * from "./store.ts";
export type * from "./upkeep.ts";
