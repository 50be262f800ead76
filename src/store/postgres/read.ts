/** Reading the records of a session in Postgres. */
import type { RecordKind, StoredRecordOf } from "../../message/record.ts";
import { kindLogs } from "../format/logs.ts";
import { inArchive } from "../shared/rules.ts";
import { recordOf } from "../shared/session-log.ts";
import type { ReadQuery, Recovered } from "../store.ts";
import type { Database } from "./database.ts";
import type { LogEnds } from "./ends.ts";
import { knownRows, rowsOf } from "./log.ts";
import { checkAttached } from "./session.ts";
import type { SessionRow } from "./session.ts";

/** The listener of a reader: it hears of damage, and says who writes the session. */
export interface ReadListener {
  /** A line that is no record. */
  readonly damaged: (span: Recovered) => void;
  /** Whether this store writes the session, so that no archive takes its records. */
  readonly isMine: () => boolean;
}

/**
 * The records that a query asks for, oldest first, as they are kept.
 *
 * @param ends - of a session that this process took, where they may be used
 * @throws WindrowError `session-archived` and `session-not-found`, also in the middle
 */
export async function* readRecords<K extends RecordKind>(
  database: Database,
  row: SessionRow,
  query: ReadQuery<K>,
  { damaged, isMine }: ReadListener,
  ends: LogEnds | undefined,
): AsyncGenerator<StoredRecordOf<K>> {
  const { id, state } = row;
  if (state.archived) throw inArchive(id, state.archived);
  const file = kindLogs[query.kind];
  let [count, newest] = [0, 0];
  const known = ends?.known(query);
  const rows = known ? knownRows(database, row, file, known) : rowsOf(database, row, file, query);
  for await (const { seq, line } of rows) {
    [count, newest] = [count + 1, seq];
    const record = recordOf(query.kind, line);
    if (record) yield record as StoredRecordOf<K>;
    else damaged({ file, offset: seq, length: line.length, problem: "damaged", quarantine: "" });
  }
  // Records that an archive took meanwhile look like a log that ended.
  const { last = Infinity, limit = Infinity, to = Infinity } = query;
  if (count < last && count < limit && newest < to && !isMine()) {
    const upTo = Math.min(to, Number.MAX_SAFE_INTEGER);
    await checkAttached(database, row, [{ log: file, seq: newest, to: upTo }]);
  }
}
