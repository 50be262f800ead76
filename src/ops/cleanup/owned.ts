/** Sessions of several owners that are erased together, each with what the memories of its owner and of others hold of it. */
import { forgetByUser } from "../../memory/forget.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { ErasedPlace, Unerased } from "../../store/upkeep.ts";

/** A session of an owner. */
export type Owned = Pick<Unerased, "sessionId" | "user">;

/** A session that could not be erased now, while others were, and why. */
export interface EraseRefusal extends Owned {
  readonly error: unknown;
  /** Whether the store has erased it, and its owner's memory could not be looked through once more. */
  readonly isErased?: boolean;
}

/** The key of a session among those of all owners. */
export function keyOf({ sessionId, user }: Owned): string {
  return JSON.stringify([sessionId, user]);
}

/** Sessions by their ids: what is done with one is not done with another's of the same id. */
export function byId(sessions: readonly Owned[]): ReadonlyMap<string, readonly Owned[]> {
  return grouped(sessions, ({ sessionId }) => sessionId);
}

/** Sessions by their users; `undefined` is the owner of sessions of no user. */
export function byUser(sessions: readonly Owned[]): ReadonlyMap<string | undefined, readonly Owned[]> {
  return grouped(sessions, ({ user }) => user);
}

function grouped<K>(sessions: readonly Owned[], groupOf: (session: Owned) => K): ReadonlyMap<K, readonly Owned[]> {
  const groups = new Map<K, Owned[]>();
  for (const one of sessions) {
    const same = groups.get(groupOf(one));
    if (same) same.push(one);
    else groups.set(groupOf(one), [one]);
  }
  return groups;
}

/** The users of sessions, by their ids. */
export function usersOf(sessions: readonly Owned[]): ReadonlyMap<string, readonly (string | undefined)[]> {
  return new Map([...byId(sessions)].map(([id, same]) => [id, same.map(({ user }) => user)]));
}

/** Sessions that their owners' memories hold nothing of any more, and those whose owner's memory refuses. */
export interface OwnForgotten {
  readonly forgotten: readonly Owned[];
  readonly refused: readonly EraseRefusal[];
  /** The errors of other owners' logs that could not be looked through; they keep nobody's sessions. */
  readonly unread: readonly unknown[];
  /** The places of each user's memory. */
  readonly places: ReadonlyMap<string | undefined, readonly ErasedPlace[]>;
}

/** Takes sessions out of their own owners' memories. One that is locked or damaged keeps its owner's sessions alone. */
export async function forgetOwned(store: Store, scope: Scope, sessions: readonly Owned[]): Promise<OwnForgotten> {
  const ids = new Map([...byUser(sessions)].map(([user, own]) => [user, own.map(({ sessionId }) => sessionId)]));
  const { outcomes, unread } = await forgetByUser(store, scope, ids);
  const forgotten: Owned[] = [];
  const refused: EraseRefusal[] = [];
  const places = new Map<string | undefined, readonly ErasedPlace[]>();
  for (const one of sessions) {
    const outcome = outcomes.get(one.user);
    if (outcome?.status === "rejected") {
      refused.push({ ...one, error: outcome.reason });
      continue;
    }
    forgotten.push(one);
    places.set(one.user, outcome?.value ?? []);
  }
  return { forgotten, refused, places, unread };
}
