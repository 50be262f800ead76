/** Upkeep as one principal may use it: every call within the principal's scope, and in the audit. */
import type { AuditAction } from "./audit.ts";
import { notFound, sessionId } from "../store/shared/rules.ts";
import type { Scope } from "../store/scope.ts";
import { after, decided, inFrontOf, upkeepShape } from "../store/shared/shape.ts";
import type { Upkeep } from "../store/upkeep.ts";

/** What the guard of a store does for it. */
export interface UpkeepGuard {
  /** The sessions that a call may reach. */
  scope(asked: Scope): Scope;
  look<T>(action: AuditAction, scope: Scope, id: string, file: string, run: () => Promise<T>): Promise<T>;
  change<T>(
    action: AuditAction,
    scope: Scope,
    id: string | undefined,
    file: string | undefined,
    run: () => Promise<T>,
  ): Promise<T>;
  stream<T>(
    action: AuditAction,
    scope: Scope,
    id: undefined,
    file: string,
    run: () => AsyncIterable<T>,
  ): AsyncIterable<T>;
}

const mark = "keep.json";

/** Puts the guard before it. */
export function guardedUpkeep(behind: Upkeep, guard: UpkeepGuard): Upkeep {
  const each = <T>(
    action: AuditAction,
    scope: Scope,
    ids: readonly string[],
    file: string | undefined,
    run: () => Promise<T>,
  ): Promise<T> =>
    ids.reduceRight<() => Promise<T>>((inner, id) => () => guard.change(action, scope, id, file, inner), run)();
  return decided<Upkeep>({
    size: (scope, id) => guard.look("read", scope, id, "metadata.json", () => behind.size(guard.scope(scope), id)),
    verify:
      behind.verify &&
      ((scope, id) => guard.look("read", scope, id, "messages.jsonl", () => behind.verify!(guard.scope(scope), id))),
    keep: (scope, id, given) =>
      guard.change("write", scope, id, mark, () => behind.keep(guard.scope(scope), id, given)),
    unkeep: (scope, id) => guard.change("write", scope, id, mark, () => behind.unkeep(guard.scope(scope), id)),
    kept: (scope, id) => guard.look("read", scope, id, mark, () => behind.kept(guard.scope(scope), id)),
    compress:
      behind.compress &&
      ((scope, id) => guard.change("write", scope, id, undefined, () => behind.compress!(guard.scope(scope), id))),
    decompress:
      behind.decompress &&
      ((scope, id) => guard.change("write", scope, id, undefined, () => behind.decompress!(guard.scope(scope), id))),
    trash: (scope, ids, time) => each("write", scope, ids, "trash", () => behind.trash(guard.scope(scope), ids, time)),
    trashed: (scope) => guard.stream("list", scope, undefined, "trash", () => behind.trashed(guard.scope(scope))),
    untrash: (scope, id) => guard.change("write", scope, id, "trash", () => behind.untrash(guard.scope(scope), id)),
    putAside:
      behind.putAside &&
      ((scope, id) => guard.change("write", scope, id, "aside", () => behind.putAside!(guard.scope(scope), id))),
    erase: (scope, ids, elsewhere) =>
      each("erase", scope, ids, undefined, () => behind.erase(guard.scope(scope), ids, elsewhere)),
    unerased: (scope) => behind.unerased(guard.scope(scope)),
  });
}

/** The upkeep of several stores as one: each call goes to the store that has the session. */
export function joinedUpkeep(stores: () => readonly Upkeep[]): Upkeep {
  const [first] = stores();
  const having = async (scope: Scope, id: string): Promise<Upkeep> => {
    sessionId(id);
    for (const upkeep of stores()) if (await has(upkeep, scope, id)) return upkeep;
    throw notFound(id);
  };
  const sorted = async (scope: Scope, ids: readonly string[]): Promise<ReadonlyMap<Upkeep, readonly string[]>> => {
    const parts = new Map<Upkeep, readonly string[]>();
    for (const id of ids) {
      const upkeep = await having(scope, id);
      parts.set(upkeep, [...(parts.get(upkeep) ?? []), id]);
    }
    return parts;
  };
  return decided<Upkeep>({
    size: async (scope, id) => (await having(scope, id)).size(scope, id),
    verify: first?.verify && (async (scope, id) => (await having(scope, id)).verify!(scope, id)),
    keep: async (scope, id, given) => (await having(scope, id)).keep(scope, id, given),
    unkeep: async (scope, id) => (await having(scope, id)).unkeep(scope, id),
    kept: async (scope, id) => (await having(scope, id)).kept(scope, id),
    compress: first?.compress && (async (scope, id) => (await having(scope, id)).compress!(scope, id)),
    decompress: first?.decompress && (async (scope, id) => (await having(scope, id)).decompress!(scope, id)),
    async trash(scope, ids, time) {
      for (const [upkeep, own] of await sorted(scope, ids)) await upkeep.trash(scope, own, time);
    },
    async *trashed(scope) {
      for (const upkeep of stores()) yield* upkeep.trashed(scope);
    },
    untrash: async (scope, id) => (await having(scope, id)).untrash(scope, id),
    putAside: first?.putAside && (async (scope, id) => (await having(scope, id)).putAside!(scope, id)),
    async erase(scope, ids, elsewhere) {
      const erased = [];
      for (const [upkeep, own] of await sorted(scope, ids)) erased.push(...(await upkeep.erase(scope, own, elsewhere)));
      return erased;
    },
    async unerased(scope) {
      return (await Promise.all(stores().map((upkeep) => upkeep.unerased(scope)))).flat();
    },
  });
}

/** Whether a store has a session, in the trash too, or half erased. */
async function has(upkeep: Upkeep, scope: Scope, id: string): Promise<boolean> {
  try {
    await upkeep.kept(scope, id);
    return true;
  } catch {
    for await (const { sessionId } of upkeep.trashed(scope)) if (sessionId === id) return true;
    return (await upkeep.unerased(scope)).includes(id);
  }
}

/** Upkeep that is refused where a call does not say whose sessions. */
export function checkedUpkeep(behind: Upkeep, check: (scope: unknown) => void): Upkeep {
  return inFrontOf(behind, upkeepShape, (_name, method, call) => after(check, method, call));
}
