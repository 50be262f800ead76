/** The copies of a session in Redis: that in the store, and that in the trash. */
import { reaches } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import type { Scope } from "../scope.ts";
import type { RedisPlace } from "./database.ts";
import type { SessionKeys } from "./keys.ts";
import type { NameRead } from "./named.ts";
import { ownerIn } from "./owner.ts";
import { readHash } from "./session.ts";
import type { SessionHash } from "./session.ts";

/** A session's keys in the store, or in the trash; its hash has no fields where it is not there. */
export interface Copy {
  readonly kind: "session" | "trash";
  readonly keys: SessionKeys;
  readonly hash: SessionHash;
}

/** Whether there is a session in the place of a copy. */
export function isThere({ hash }: Copy): boolean {
  return Object.keys(hash).length > 0;
}

/** Both copies of an id, whosever they are. */
export async function copiesOf(place: RedisPlace, id: string): Promise<readonly Copy[]> {
  const all = [["session", place.keys.of(id)] as const, ["trash", place.keys.inTrash(id)] as const];
  return Promise.all(all.map(async ([kind, keys]) => ({ kind, keys, hash: await readHash(place, keys.session) })));
}

/**
 * The copies of sessions in reach; one whose metadata cannot be read goes with the others of its id.
 */
export function ownedBy(reach: Reach, copies: readonly Copy[], trashed: NameRead | undefined): readonly Copy[] {
  return copies.filter((one) => {
    const owner = whose(one, trashed);
    return !owner || reaches(reach, owner);
  });
}

/** The owner of a copy; undefined where nothing says it. */
export function whose({ kind, hash }: Copy, trashed: NameRead | undefined): Scope | undefined {
  return ownerIn(hash) ?? (kind === "trash" ? trashed : undefined);
}
