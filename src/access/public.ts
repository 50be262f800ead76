/** `windrow/store`: opening stores, and who may use them. docs/access.md describes users, tenants and the audit. */
export { openStore } from "./open.ts";
export type { AccessOptions, OpenStoreOptions } from "./options.ts";
export { openAudit, readAudit } from "./audit.ts";
export type { Audit, AuditEntry, AuditQuery } from "./audit.ts";
export { guardedStore, tenantStore } from "./guarded.ts";
export type { Access, Principal, TenantStore } from "./guarded.ts";
export { loadConfig } from "../config/config.ts";
export type { Config, LoadConfigOptions, Settings } from "../config/config.ts";
export { createMask } from "../mask/mask.ts";
export type { Mask, MaskOptions } from "../mask/mask.ts";
export type { MaskRule } from "../mask/rules.ts";
export { secretVariables } from "../mask/registered-values.ts";
export type { RecordKind, StoredRecord } from "../message/record.ts";
export type { SqliteDatabase } from "../store/sqlite/connection/driver.ts";
export type { ListQuery, Lock, ReadQuery, Scope, SessionInfo, SessionMetadata, SessionState } from "../store/store.ts";
export type { SessionStatus, Store, StoreCapabilities } from "../store/store.ts";
