/**
 * Taking a session from its holder. One that died needs nothing but a look; from one that lives it is taken by force and
 * with a fence: the old holder finds out before it acknowledges anything more, and whatever it still writes lands in
 * files that no longer have a name.
 */
import { WindrowError } from "../../../errors.ts";
import { timestamp } from "../../shared/clock.ts";
import { finished } from "../../shared/rules.ts";
import type { Holding, Scope, Store, UnlockOptions } from "../../store.ts";
import type { Place } from "../layout.ts";
import { unavailable } from "../../../disk/safe-write.ts";
import { holderOf } from "./lock.ts";
import type { LockTools } from "./lock.ts";
import { steal } from "./steal.ts";

/** Frees a session, and writes down why in its `edits.jsonl` when that took force. Answers how it was found. */
export async function unlockSession(
  store: Store,
  scope: Scope,
  place: Place,
  { force = false, reason }: UnlockOptions,
  tools: LockTools,
): Promise<Holding> {
  if (place.completed) throw finished(place.id);
  const found = holderOf(place.folder, tools.disk);
  if (found.state === "none") return found;
  if (found.state === "held" && force) {
    if (reason === undefined || reason.trim() === "") {
      const message = "Taking a session from a live process needs a reason, which is written into its log.";
      throw new WindrowError("bad-option", message, { id: place.id, option: "reason" });
    }
    try {
      steal(place.folder, tools).release();
    } catch (error) {
      throw unavailable(error, "Taking a session over", place.folder);
    }
  }
  const lock = await store.lock(scope, place.id);
  try {
    if (found.state === "held") {
      const { processId = 0, hostname = "", generation = 0 } = found.owner ?? {};
      const data = { reason: reason ?? "", process_id: processId, hostname, generation };
      await store.append(lock, [{ kind: "edit", type: "unlocked", data, timestamp: timestamp(tools.clock) }]);
    }
  } finally {
    await lock.release();
  }
  return found;
}
