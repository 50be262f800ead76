/** `windrow/store/author`: the session store, and the contract of its engines. docs/writing-an-engine.md describes it. */
export { createMask } from "../mask/mask.ts";
export type { Mask } from "../mask/mask.ts";
export type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../message/record.ts";
export type * from "./engine.ts";
export { sessionStore } from "./session-store/session-store.ts";
export type { SessionStoreOptions } from "./session-store/session-store.ts";
export { systemClock } from "./shared/clock.ts";
export type { Clock } from "./shared/clock.ts";
export type { Taker } from "./shared/holder.ts";
export type { Counters } from "./shared/session-log.ts";
export type * from "./store.ts";
export type { EraseElsewhere, EraseLimits, Erased, ErasedPlace, KeepMark, SessionSize } from "./upkeep.ts";
export type { TrashedSession, Unerased, Upkeep } from "./upkeep.ts";
