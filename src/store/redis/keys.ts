/** The keys of a store in Redis (docs/format.md, "In Redis"). All keys of a session are in one slot of a cluster. */
import { logNames } from "../format/logs.ts";

/** The keys of a session: a hash, and a stream for each log, in their order. */
export type SessionKeys = readonly [session: string, ...logs: string[]];

/** The keys of a store. */
export interface StoreKeys {
  of(id: string): SessionKeys;
  /** The set of the sessions that were put aside of an id, in the slot of that id. */
  asides(id: string): string;
  /** The sorted set of every session, by creation, newest first. */
  readonly all: string;
  /** That of a tenant's sessions; without a tenant, of those that have none. */
  ofTenant(tenant: string | undefined): string;
  /** What the keys of sessions look like, for a scan. */
  readonly pattern: string;
}

/** The keys of a store with a prefix. */
export function keysOf(prefix: string): StoreKeys {
  const literal = prefix.replaceAll(/[\\*?[\]]/g, "\\$&");
  return {
    of(id) {
      const session = `${prefix}session:${tagged(id)}`;
      return [session, ...logNames.map((log) => `${session}:${log}`)];
    },
    asides: (id) => `${prefix}asides:${tagged(id)}`,
    all: `${prefix}sessions`,
    ofTenant: (tenant) => (tenant === undefined ? `${prefix}tenant` : `${prefix}tenant:${tenant}`),
    pattern: `${literal}session:*}`,
  };
}

/** An id whose end is the tag of a slot: a session that is put aside keeps that end. */
function tagged(id: string): string {
  return id.replace(/[^-]*$/, "{$&}");
}
