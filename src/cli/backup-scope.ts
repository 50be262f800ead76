/** On whose behalf a command works where it has to say so itself: what it keeps elsewhere names its owner. */
import { storeDefaults } from "../access/open.ts";
import type { Scope } from "../store/store.ts";

/** What a command line says of it. */
export interface ScopeFlags {
  readonly user?: string;
  readonly tenant?: string;
}

/**
 * The sessions that are meant: of the user and tenant that are named, else of the one who asks.
 *
 * @param forNew - for sessions that are made: an admin's too get an owner
 */
export function scopeOf({ user, tenant }: ScopeFlags, forNew = false): Scope {
  const { principal } = storeDefaults().access ?? {};
  const isOwn = principal !== undefined && (forNew || principal.role !== "admin");
  const whose = user ?? (isOwn ? principal.name : undefined);
  const where = tenant ?? principal?.tenant;
  return { ...(where !== undefined && { tenant: where }), ...(whose !== undefined && { user: whose }) };
}
