/** Queries to the audit of a store: the accesses of a principal, of a session, or within a time. */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { auditActions, readAudit } from "./audit.ts";
import type { AuditAction, AuditEntry, AuditQuery } from "./audit.ts";
import { notAllowed } from "./guarded.ts";
import type { AccessOptions } from "./options.ts";
import { auditFileOf } from "./audit-place.ts";

/**
 * Entries of a store's audit, oldest first. A user sees their own; an admin everybody's, of a tenant's only that tenant's.
 *
 * @param store - the folder or URL of the store
 * @param access - on whose behalf, and with `audit` a file name, which file
 * @throws WindrowError `bad-option` for a store that keeps no audit, an action or a time that is none; `not-allowed` for
 *   a user that asks for another's
 */
export async function* storeAudit(
  store: string,
  query: AuditQuery = {},
  { principal, audit }: AccessOptions = {},
): AsyncGenerator<AuditEntry, void, undefined> {
  const file = typeof audit === "string" ? audit : auditFileOf(store);
  if (file === undefined) {
    throw new WindrowError("bad-option", `The store ${store} has no file of its audit; name one with \`audit\`.`, {
      store,
    });
  }
  const own = principal?.role === "admin" ? undefined : principal?.name;
  if (own !== undefined && query.who !== undefined && query.who !== own) {
    throw notAllowed(`"${own}" may see their own accesses, not those of "${query.who}"; an admin may.`, {
      principal: own,
    });
  }
  const who = own ?? query.who;
  for await (const entry of readAudit(file, { ...query, ...(who !== undefined && { who }) })) {
    if (principal?.tenant === undefined || entry.tenant === principal.tenant) yield entry;
  }
}

/**
 * An action by its name.
 *
 * @throws WindrowError `bad-option` with the nearest one
 */
export function auditAction(name: string): AuditAction {
  const found = auditActions.find((action) => action === name);
  if (found) return found;
  throw new WindrowError("bad-option", `There is no action "${name}".${nearest(name, auditActions)}`, { name });
}
