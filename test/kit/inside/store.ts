/** Names of src/store that tests use and no door exports. */
export { filesEngine } from "../../../src/store/files/engine.ts";
export { archivedStore } from "../../../src/store/shared/archive/archived.ts";
export { filesStore } from "../../../src/store/files/files.ts";
export { eachEntry } from "../../../src/store/files/index-bytes.ts";
export { lineOf, readEntries } from "../../../src/store/files/index-file.ts";
export type { EndEntry, IndexEntry } from "../../../src/store/files/index-file.ts";
export type { FilesStoreOptions } from "../../../src/store/files/options.ts";
export { alone } from "../../../src/store/files/alone.ts";
export { forkSession } from "../../../src/store/fork.ts";
export { lineText, numberedLine, parseLine } from "../../../src/store/format/lines.ts";
export { logKinds } from "../../../src/store/format/logs.ts";
export { encodeMessage } from "../../../src/store/format/message.ts";
export { decodeRecord, encodeRecord } from "../../../src/store/format/record.ts";
export { askerOf } from "../../../src/store/postgres/client.ts";
export { postgresEngine } from "../../../src/store/postgres/engine.ts";
export type { EndPart, Engine, Head, Look } from "../../../src/store/engine.ts";
export { ramEngine } from "../../../src/store/ram/engine.ts";
export { ramStore } from "../../../src/store/ram/ram.ts";
export { sessionStore } from "../../../src/store/session-store/session-store.ts";
export type { RedisClient } from "../../../src/store/redis/client.ts";
export { placeOf } from "../../../src/store/redis/database.ts";
export { redisEngine } from "../../../src/store/redis/engine.ts";
export { Farewell } from "../../../src/store/shared/farewell.ts";
export { prepareRecord } from "../../../src/store/shared/prepare.ts";
export { inScope, notFound } from "../../../src/store/shared/rules.ts";
export { heartbeatMs, livenessOf, ownIdentity } from "../../../src/store/shared/holder.ts";
export type { Holder } from "../../../src/store/shared/holder.ts";
export { inFrontOf, storeShape } from "../../../src/store/shared/shape.ts";
export { lossesOf } from "../../../src/store/shared/transfer-losses.ts";
export { summaryOf } from "../../../src/store/shared/transfer.ts";
export { openDatabase } from "../../../src/store/sqlite/connection/open-databases.ts";
export { sqliteEngine } from "../../../src/store/sqlite/engine.ts";
export { sqliteStore } from "../../../src/store/sqlite/sqlite.ts";
export {
  everybody,
  everyKind,
  everyRecordKind,
  finishedSession,
  listAll,
  messageRecord,
  newSession,
  readAll,
  refused,
  sessionWith,
  stateOf,
  texts,
  trashed,
  wholeDump,
} from "../../../src/store/testing/kit.ts";
export { heldBy } from "../../../src/store/shared/remote.ts";
