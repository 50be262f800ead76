/** The upkeep of several stores as one. */
import { notFound, sessionId } from "../shared/rules.ts";
import type { Scope } from "../scope.ts";
import { decided } from "../shared/shape.ts";
import type { Upkeep } from "../upkeep.ts";

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
