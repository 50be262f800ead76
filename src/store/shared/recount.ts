/** The state behind a writer that died, its numbers counted again from the session's lines. */
import { decodeState, parseDocument } from "../format/documents.ts";
import { kindLogs } from "../format/logs.ts";
import { noCounts, sealIn } from "../format/seal.ts";
import type { LogName, SessionMetadata, SessionState } from "../store.ts";
import { recordOf } from "./session-log.ts";
import type { Counters } from "./session-log.ts";
import { StateCount, atLeast } from "./state-count.ts";

/** The logs that the numbers of a state are counted from. */
const countedKinds = ["usage", "tool", "edit"] as const;

/** Whether lines were written behind a state that its numbers do not count: their writer wrote no other. */
export function isBehind(text: string, { seqs }: Pick<Counters, "seqs">): boolean {
  const counts = sealIn(parseDocument(text))?.counts ?? noCounts();
  return countedKinds.some((kind) => counts[kindLogs[kind]] < seqs[kindLogs[kind]]);
}

/**
 * A session's state, with what its dead writer wrote last.
 *
 * @param text - of the state, read after the session was taken
 * @param linesOf - every line of a log
 */
export async function recounted(
  { metadata, state }: { readonly metadata: SessionMetadata; readonly state: SessionState },
  text: string,
  linesOf: (log: LogName) => AsyncIterable<{ readonly line: string }>,
): Promise<SessionState> {
  const { numbers } = await countedIn(metadata.createdAt, linesOf);
  return atLeast(decodeState(parseDocument(text)) ?? state, numbers);
}

/** The numbers of a session, counted from its lines; a line that is damaged adds nothing. */
export async function countedIn(
  createdAt: string,
  linesOf: (log: LogName) => AsyncIterable<{ readonly line: string }> | Promise<readonly { readonly line: string }[]>,
): Promise<StateCount> {
  const count = new StateCount(createdAt);
  for (const kind of countedKinds) {
    for await (const { line } of await linesOf(kindLogs[kind])) {
      const record = recordOf(kind, line);
      if (record?.kind === "usage" || record?.kind === "tool" || record?.kind === "edit") count.take(record);
    }
  }
  return count;
}
