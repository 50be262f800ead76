/** The sessions of Mastra's threads. */
import { isWindrowError } from "../../errors.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { uuidOf } from "../../store/shared/rules.ts";

/** A thread of Mastra's memory. */
export interface MastraThread {
  readonly threadId?: string | undefined;
  /** The user or the organisation whose thread it is. */
  readonly resourceId?: string | undefined;
}

/** The id of the session that a manager given to `windowProcessor` keeps for a thread of Mastra's memory: a UUID. */
export function sessionIdOf(threadId: string): string {
  return uuidOf(["mastra", threadId]);
}

/** The session of a thread; a new one where there is none, or for a run without a thread. */
export async function sessionFor(manager: SessionManager, thread: MastraThread): Promise<Session> {
  const { threadId, resourceId } = thread;
  if (threadId === undefined) return manager.create();
  const id = sessionIdOf(threadId);
  try {
    return await manager.session(id);
  } catch (error) {
    if (!isWindrowError(error, "session-not-found")) throw error;
    const resource = resourceId === undefined ? {} : { resource: resourceId };
    return manager.create({ id, taskKey: { thread: threadId, ...resource } });
  }
}
