/** The sessions that an erasure means. */
import type { Scope } from "../scope.ts";
import type { EraseLimits } from "../upkeep.ts";
import { haveOneOwner, inScope } from "./rules.ts";

/** The owner of the sessions that are erased, and the limits of the erasure. */
export interface Reach extends EraseLimits {
  readonly scope: Scope;
}

/** Whether an erasure means what an owner has. One owner's name may come from a database, which holds no half characters. */
export function reaches({ scope, oneOwner = false }: Reach, owner: Scope): boolean {
  return oneOwner ? haveOneOwner(wellFormed(scope), wellFormed(owner)) : inScope(scope, owner);
}

/** An owner as a database has it: its columns hold what UTF-8 can. */
export function wellFormed({ tenant, user }: Scope): Scope {
  return {
    ...(tenant !== undefined && { tenant: tenant.toWellFormed() }),
    ...(user !== undefined && { user: user.toWellFormed() }),
  };
}
