/** The state behind a writer that died, its numbers counted again from the session's lines. */
import { decodeState, parseDocument } from "../format/documents.ts";
import { kindLogs } from "../format/logs.ts";
import { StateCount, atLeast } from "../shared/state-count.ts";
import type { SessionState } from "../store.ts";
import { recordOf } from "../shared/session-log.ts";
import type { Database } from "./database.ts";
import { rowsOf } from "./log.ts";
import type { SessionRow } from "./session.ts";

/** A session's state, with what its dead writer wrote last; a line that is damaged adds nothing. */
export async function recounted(
  database: Database,
  { key, metadata, state }: SessionRow,
  text: string,
): Promise<SessionState> {
  const count = new StateCount(metadata.createdAt);
  for (const kind of ["usage", "tool", "edit"] as const) {
    for await (const { line } of rowsOf(database, key, kindLogs[kind])) {
      const record = recordOf(kind, line);
      if (record?.kind === "usage" || record?.kind === "tool" || record?.kind === "edit") count.take(record);
    }
  }
  return atLeast(decodeState(parseDocument(text)) ?? state, count.numbers);
}
