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

/** Whether an erasure means what an owner has. */
export function reaches({ scope, users }: Reach, owner: Scope): boolean {
  return inScope(scope, owner) && (users?.includes(owner.user) ?? true);
}
