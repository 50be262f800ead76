/**
 * A session that this process writes: its fence and its state, both inside the transaction that writes. A session that is
 * made anew under its id, or comes back from the trash, has the same numbers and another taking, or none.
 */
import { encodeState } from "../format/documents.ts";
import { ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { fenced } from "../shared/unlock.ts";
import type { SessionState } from "../store.ts";
import type { Connection, SqlValue } from "./connection/driver.ts";
import type { Counters } from "./log.ts";
import { goOn, sealOf } from "./seal.ts";
import type { Continued } from "./seal.ts";
import type { SessionRow } from "./session.ts";

/** A session that a store writes. */
export interface Held {
  readonly id: string;
  readonly counters: Counters;
  readonly stopHeartbeat: () => void;
  holder: Taker;
}

/** The condition of SQL that a process still has the session it took; the values of {@link takingOf}. */
export const isHolder = "id = ? AND generation = ? AND instr(holder, ?) > 0";

/** A session as a process took it, for {@link isHolder}. */
export function takingOf(id: string, { generation, taking }: Taker): readonly SqlValue[] {
  return [id, generation, `"taking":${JSON.stringify(taking)}`];
}

/** A session that this process took, with its row as it was before. */
export interface Taken {
  readonly row: SessionRow;
  readonly holder: Taker;
  readonly continued: Continued;
}

/** Makes a session's new holder known, inside a transaction. */
export function takeRow(connection: Connection, row: SessionRow, holder: Taker): Taken {
  const continued = goOn(connection, row.id, row.texts.state);
  const sql = "UPDATE sessions SET generation = ?, holder = ? WHERE id = ?";
  connection.run(sql, holder.generation, JSON.stringify(holder), row.id);
  return { row, holder, continued };
}

/**
 * Makes sure that no other process took the session over, and that it is the one that was taken. Inside a transaction, a
 * take-over is either before it and seen here, or after it.
 *
 * @throws WindrowError `fenced`
 */
export function checkFence(connection: Connection, { id, holder }: Held): void {
  connection.checkOnce(holder, () => {
    const row = connection.get(`SELECT id FROM sessions WHERE ${isHolder}`, ...takingOf(id, holder));
    if (!row) throw fenced({ owner: ownerOf(holder) });
  });
}

/**
 * Writes a session's state.
 *
 * @param hash - over all logs, with the last state
 */
export function writeState(connection: Connection, { id, counters }: Held, state: SessionState, hash?: string): void {
  const sql = "UPDATE sessions SET state = ?, status = ? WHERE id = ?";
  connection.run(sql, encodeState(state, {}, sealOf(counters, hash)), state.status, id);
}
