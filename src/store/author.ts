/** What one needs to write a store of one's own (docs/writing-a-store.md): the contract, and what every store does alike. */
export { WindrowError, isWindrowError } from "../errors.ts";
export { createMask } from "../mask/mask.ts";
export { secretRules } from "../mask/text.ts";
export type { Mask, MaskOptions } from "../mask/mask.ts";
export type { Found, MaskRule, Span } from "../mask/rules.ts";
export type { Seal } from "../mask/seal.ts";
export { secretVariables } from "../mask/values.ts";
export type { SecretValues } from "../mask/values.ts";
export type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../message/record.ts";
export { systemClock, timestamp } from "./shared/clock.ts";
export type { Clock } from "./shared/clock.ts";
export { cannotStore, prepareMetadata, prepareRecord, prepareState, readRecord } from "./shared/prepare.ts";
export { alreadyExists, checkQuery, finished, foreignLock, inScope, initialState } from "./shared/rules.ts";
export { isFinal, notFound, released, sessionId, storeClosed } from "./shared/rules.ts";
export type { SqliteDatabase, SqliteStatement, SqlValue } from "./sqlite/driver.ts";
export type * from "./store.ts";
export type * from "./upkeep.ts";
