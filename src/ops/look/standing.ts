/** How sessions stand, by their status and by who writes them. */
import type { FinalStatus, Holding, Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
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
  const isAsked = !isFinal(status) && status !== "closed";
  return standingWith(status, isAsked ? await store.holding.holder(scope, metadata.uuid) : undefined);
}

/** How a session of a status stands with its holder; undefined where the store cannot tell who that is. */
export function standingWith(status: SessionStatus, holder: Holding | undefined): SessionStanding {
  if (isFinal(status) || status === "closed") return status;
  return holder?.state === "gone" ? "died" : holder?.state === "none" ? "closed" : "running";
}
