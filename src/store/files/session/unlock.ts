/**
 * Taking a session from its holder. From a dead holder it is taken with a look. A live holder is fenced: it finds out
 * before it acknowledges anything more, and its later writes land in files that no longer have a name.
 */
import { timestamp } from "../../shared/clock.ts";
import { finished } from "../../shared/rules.ts";
import { unlockEdit } from "../../shared/unlock.ts";
import type { Holding, Scope, Store, UnlockOptions } from "../../store.ts";
import type { Follow } from "../follow.ts";
import { unavailable } from "../../../disk/safe-write.ts";
import { holderOf } from "../../lock/lock.ts";
import type { LockTools } from "../../lock/lock.ts";
import { steal } from "../../lock/steal.ts";
import { recounted } from "./state.ts";

/** Frees a session, and writes down why in its `edits.jsonl` when that took force. Answers how it was found. */
export async function unlockSession(
  store: Store,
  scope: Scope,
  now: Follow,
  options: UnlockOptions,
  tools: LockTools,
): Promise<Holding> {
  const { place } = now();
  if (place.completed) throw finished(place.id);
  const found = holderOf(place.folder, tools.disk);
  if (found.state === "none") return found;
  const edit = unlockEdit(place.id, found, options, timestamp(tools.clock));
  if (edit) {
    try {
      steal(place.folder, tools).release();
    } catch (error) {
      throw unavailable(error, "Taking a session over", place.folder);
    }
  }
  const lock = await store.lock(scope, place.id);
  try {
    if (edit) {
      now();
      await store.append(lock, [edit]);
      // A holder that was passed over left a lock that says nothing of it, so its lines are counted here.
      const { metadata, state } = await store.info(scope, place.id);
      await store.setState(lock, await recounted(place, metadata, state, tools.disk));
    }
  } finally {
    await lock.release();
  }
  return found;
}
