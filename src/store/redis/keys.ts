/** The keys of a store in Redis (docs/format.md, "In Redis"). All keys of a session are in one slot of a cluster. */
import { logNames } from "../format/logs.ts";

/** The keys of a session: a hash, and a stream for each log, in their order. */
export type SessionKeys = readonly [session: string, ...logs: string[]];

/** The keys of a store. */
export interface StoreKeys {
  of(id: string): SessionKeys;
  /** Of a session that was put aside, in the slot of the id that it had. */
  aside(before: string, id: string): SessionKeys;
  /** The set of the sessions that were put aside of an id. */
  asides(id: string): string;
  /** The id that a session had before it was put aside. */
  before(id: string): string;
  /** The sorted set of every session, by creation, newest first. */
  readonly all: string;
  /** That of a tenant's sessions; without a tenant, of those that have none. */
  ofTenant(tenant: string | undefined): string;
  /** What the keys of sessions look like, for a scan. */
  readonly patterns: readonly string[];
}

/** The keys of a store with a prefix. */
export function keysOf(prefix: string): StoreKeys {
  const literal = prefix.replaceAll(/[\\*?[\]]/g, "\\$&");
  const keys = (session: string): SessionKeys => [session, ...logNames.map((log) => `${session}:${log}`)];
  return {
    of: (id) => keys(`${prefix}session:{${id}}`),
    aside: (before, id) => keys(`${prefix}aside:{${before}}:${id}`),
    asides: (id) => `${prefix}asides:{${id}}`,
    before: (id) => `${prefix}before:${id}`,
    all: `${prefix}sessions`,
    ofTenant: (tenant) => (tenant === undefined ? `${prefix}tenant` : `${prefix}tenant:${tenant}`),
    patterns: [`${literal}session:{*}`, `${literal}aside:{*}:*`],
  };
}
