/** The sessions that an erasure means. */
import type { Scope } from "../scope.ts";
import type { EraseLimits } from "../upkeep.ts";
import { inScope } from "./rules.ts";

/** The owner of sessions that are erased, and the limits of their erasure. */
export interface EraseScope extends EraseLimits {
  readonly scope: Scope;
}

/** The sessions of one id that an erasure means. */
export interface Reach extends Pick<EraseLimits, "trashAlone"> {
  readonly scope: Scope;
  /** The users whose sessions are meant, undefined for none. Default: those of the scope. */
  readonly users?: readonly (string | undefined)[] | undefined;
}

/** The reach of an erasure for one id. */
export function reachOf({ scope, trashAlone = false, users }: EraseScope, id: string): Reach {
  return { scope, trashAlone, users: users?.get(id) };
}

/** Whether an erasure means what an owner has. Names of users may come from a database, which holds no half characters. */
export function reaches({ scope, users }: Reach, owner: Scope): boolean {
  if (!users) return inScope(scope, owner);
  const isSame = (user: string | undefined): boolean => user?.toWellFormed() === owner.user?.toWellFormed();
  return scope.tenant === owner.tenant && users.some(isSame) && (scope.user === undefined || isSame(scope.user));
}

/** The users that an erasure means, as a statement asks for them. */
export interface MeantUsers {
  readonly every: boolean;
  /** Whether sessions of no user are meant. */
  readonly none: boolean;
  /** Their names as columns hold them. */
  readonly named: readonly string[];
}

/** The users that an erasure means. */
export function usersIn({ scope, users }: Reach): MeantUsers {
  const one = scope.user;
  const isMeant = (user: string | undefined): boolean =>
    one === undefined || one.toWellFormed() === user?.toWellFormed();
  const meant = users?.filter(isMeant) ?? (one === undefined ? [] : [one]);
  const named = meant.flatMap((user) => (user === undefined ? [] : [user.toWellFormed()]));
  return { every: !users && one === undefined, none: named.length < meant.length, named };
}

/** An owner as a database has it: its columns hold what UTF-8 can. */
export function wellFormed({ tenant, user }: Scope): Scope {
  return {
    ...(tenant !== undefined && { tenant: tenant.toWellFormed() }),
    ...(user !== undefined && { user: user.toWellFormed() }),
  };
}
