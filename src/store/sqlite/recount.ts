/** The state behind a writer that died, its numbers counted again from the session's lines. */
import { kindLogs } from "../format/logs.ts";
import { StateCount, atLeast } from "../shared/state-count.ts";
import type { Lock, SessionState, Store } from "../store.ts";
import type { Connection } from "./connection/driver.ts";
import { newestOf, recordOf, rowsOf } from "./log.ts";
import type { SessionRow } from "./session.ts";

/** Writes the state that a dead writer's lines say. Where that fails, the lock is let go. */
export async function keepRecounted(
  connection: Connection,
  row: SessionRow,
  store: Pick<Store, "setState">,
  lock: Lock,
): Promise<void> {
  try {
    await store.setState(lock, await recounted(connection, row));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A session's state, with what its dead writer wrote last; a line that is damaged adds nothing. */
async function recounted(connection: Connection, { id, metadata, state }: SessionRow): Promise<SessionState> {
  const count = new StateCount(metadata.createdAt);
  for (const kind of ["usage", "tool", "edit"] as const) {
    const log = kindLogs[kind];
    for await (const { line } of rowsOf(connection, id, log, newestOf(connection, log))) {
      const record = recordOf(kind, line);
      if (record?.kind === "usage" || record?.kind === "tool" || record?.kind === "edit") count.take(record);
    }
  }
  return atLeast(state, count.numbers);
}
