/** The keys of a store in Redis (docs/format.md, "In Redis"). All keys of a session are in one slot of a cluster. */
import { logNames } from "../format/logs.ts";
import type { Scope } from "../scope.ts";

/** The keys of a session. */
export interface SessionKeys {
  /** A hash: metadata, state, generation, head, holder and more. */
  readonly session: string;
  /** A stream for each log, in their order. */
  readonly logs: readonly string[];
  /** A list of what was taken out of a session of an owner without deleting it. */
  readonly aside: (owner: Scope) => string;
  /** A hash whose fields name the owners of such lists; that of sessions without an owner is not among them. */
  readonly asides: string;
}

/** The keys of a store. */
export interface StoreKeys {
  of(id: string): SessionKeys;
  /** The keys of a session in the trash. */
  inTrash(id: string): SessionKeys;
  /** A sorted set of a tenant's sessions, by their creation, newest first. */
  sessions(scope: Scope): string;
  /** A hash of the sessions in the trash: their tenants and users, by id. */
  readonly trash: string;
  /** A hash of the sessions whose erasure is under way: their tenants and users, by id and owner. */
  readonly erasing: string;
  /** The time at which a process said last that it lives. */
  worker(id: string): string;
  readonly version: string;
}

/** The keys of a store with a prefix. */
export function keysOf(prefix: string): StoreKeys {
  const of = (id: string, kind: string): SessionKeys => ({
    session: `${prefix}${kind}:{${id}}`,
    logs: logNames.map((log) => `${prefix}${kind}:{${id}}:${log}`),
    aside: (owner) => [`${prefix}aside:{${id}}`, ownerName(owner)].filter(Boolean).join(":"),
    asides: `${prefix}asides:{${id}}`,
  });
  return {
    of: (id) => of(id, "session"),
    inTrash: (id) => of(id, "trashed"),
    sessions: ({ tenant }) => (tenant === undefined ? `${prefix}sessions` : `${prefix}sessions:${tenant}`),
    trash: `${prefix}trash`,
    erasing: `${prefix}erasing`,
    worker: (id) => `${prefix}worker:${id}`,
    version: `${prefix}version`,
  };
}

/** The name of an owner in the keys of a session; empty for that of sessions without one. */
export function ownerName({ tenant, user }: Scope): string {
  return tenant === undefined && user === undefined ? "" : JSON.stringify([tenant ?? null, user ?? null]);
}
