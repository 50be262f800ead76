/** The state behind a writer that died, its numbers counted again from the session's lines. */
import { recounted } from "../shared/recount.ts";
import type { Lock, LogName, Store } from "../store.ts";
import type { Connection } from "./connection/driver.ts";
import { newestOf, rowsOf } from "./log.ts";
import type { LogRow } from "./log.ts";
import type { SessionRow } from "./session.ts";

/** Writes the state that a dead writer's lines say. Where that fails, the lock is let go. */
export async function keepRecounted(
  connection: Connection,
  row: SessionRow,
  store: Pick<Store, "setState">,
  lock: Lock,
): Promise<void> {
  const linesOf = (log: LogName): AsyncIterable<LogRow> =>
    rowsOf(connection, row, log, newestOf(connection, row.id, log));
  try {
    await store.setState(lock, await recounted(row, row.texts.state, linesOf));
  } catch (error) {
    await lock.release();
    throw error;
  }
}
