/** How sessions stand, by their status and by who writes them. */
import type { FinalStatus, Scope, SessionInfo, Store } from "../../store/store.ts";
import { isFinal } from "../../store/shared/rules.ts";

/**
 * How a session stands: a process writes it (`running`), its process is gone without letting go (`died`), it was let go in
 * order, long ago or just now, and can be resumed (`closed`), or it has ended.
 */
export type SessionStanding = "running" | "died" | "closed" | FinalStatus;

/** How a session stands now; one of a store that cannot tell who writes it counts as running until it ends. */
export async function standingOf(
  store: Store,
  scope: Scope,
  { metadata, state }: SessionInfo,
): Promise<SessionStanding> {
  const { status } = state;
  if (isFinal(status) || status === "closed") return status;
  const holder = await store.holding?.holder(scope, metadata.uuid);
  return holder?.state === "gone" ? "died" : holder?.state === "none" ? "closed" : "running";
}
