/** `windrow/access`: stores as one user, admin or tenant may use them, and the audit. docs/access.md describes it. */
export { auditActions, openAudit, readAudit } from "./audit.ts";
export type { Accessed, Audit, AuditAction, AuditEntry, AuditQuery } from "./audit.ts";
export { guardedStore, tenantStore } from "./guarded.ts";
export type { Access, Principal, TenantScope, TenantStore } from "./guarded.ts";
export type { AccessOptions } from "./options.ts";
