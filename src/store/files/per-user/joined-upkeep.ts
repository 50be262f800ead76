/** The upkeep of several stores as one. */
import { notFound, sessionId } from "../../shared/rules.ts";
import type { Scope } from "../../scope.ts";
import { inFrontOf, storeShape } from "../../shared/shape.ts";
import type { Call } from "../../shared/shape.ts";
import type { Upkeep } from "../../upkeep.ts";

/**
 * The upkeep of several stores as one: each call goes to the store that has the session.
 *
 * @param first - a store that is always there, and can do what the others can
 */
export function joinedUpkeep(first: Upkeep, stores: () => readonly Upkeep[]): Upkeep {
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
  const { upkeep: shape } = storeShape;
  const each = inFrontOf(first, shape.methods, (name) => async (...given) => {
    const [scope, id] = given as [Scope, string];
    const upkeep = await having(scope, id);
    return Reflect.apply(Reflect.get(upkeep, name) as Call, upkeep, given);
  });
  return {
    ...each,
    async trash(scope, ids, time) {
      for (const [upkeep, own] of await sorted(scope, ids)) await upkeep.trash(scope, own, time);
    },
    async *trashed(scope) {
      for (const upkeep of stores()) yield* upkeep.trashed(scope);
    },
    async erase(scope, ids, ...how) {
      const erased = [];
      for (const [upkeep, own] of await sorted(scope, ids)) erased.push(...(await upkeep.erase(scope, own, ...how)));
      return erased;
    },
    async unerased(scope, ...how) {
      return (await Promise.all(stores().map((upkeep) => upkeep.unerased(scope, ...how)))).flat();
    },
  };
}

/** Whether a store has a session, in the trash too, or half erased. */
async function has(upkeep: Upkeep, scope: Scope, id: string): Promise<boolean> {
  try {
    await upkeep.kept(scope, id);
    return true;
  } catch {
    for await (const { sessionId } of upkeep.trashed(scope)) if (sessionId === id) return true;
    return (await upkeep.unerased(scope, true)).includes(id);
  }
}
