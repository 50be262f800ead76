/** Stores, and who may use them: opening one by address, guards, tenants and the audit (docs/access.md). */
export * from "../store/author.ts";
export { openStore } from "./open.ts";
export type { OpenStoreOptions } from "./options.ts";
export { storeSchemes } from "../store/open.ts";
export type { StoreOptions } from "../store/open.ts";
export { auditActions, openAudit, readAudit } from "./audit.ts";
export type { Accessed, Audit, AuditAction, AuditEntry, AuditQuery } from "./audit.ts";
export { guardedStore, tenantStore } from "./guarded.ts";
export type { Access, Principal, TenantScope, TenantStore } from "./guarded.ts";
export type { AccessOptions } from "./options.ts";
