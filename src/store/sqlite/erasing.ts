/** The table `erasing`: the sessions whose erasure was begun and has not ended. It is made when it is first written to. */
import { alreadyExists, beingErased } from "../shared/rules.ts";
import type { Connection } from "./connection/driver.ts";

/**
 * Refuses an id that is taken, or whose erasure has not ended. Inside a transaction.
 *
 * @param isTaken - whether a session has it
 * @throws WindrowError `session-exists`, `session-busy`
 */
export function checkFreeId(connection: Connection, id: string, isTaken: boolean): void {
  if (isTaken) throw alreadyExists(id);
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'erasing'";
  if (connection.get(sql) && connection.get("SELECT session_id FROM erasing WHERE session_id = ?", id))
    throw beingErased(id);
}
