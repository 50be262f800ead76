/** Rows of a database, as what they say of a session. */
import { parseDocument } from "../format/documents.ts";
import { noCounts } from "../format/seal.ts";
import type { Head } from "../engine.ts";
import type { LogName } from "../store.ts";
import type { Taker } from "./holder.ts";
import { ownerNamed } from "./rules.ts";
import type { Counters } from "./session-log.ts";

/**
 * The head in a row of docs/format.md's columns.
 *
 * @param heartbeatAt - the newest heartbeat of its holder: ISO 8601, UTC
 */
export function headOfRow(row: Readonly<Record<string, unknown>>, heartbeatAt: string, silentMs: number): Head {
  const { holder, hidden, aside_of: asideOf } = row;
  const taker = typeof holder === "string" ? parseDocument(holder) : undefined;
  return {
    id: String(row["id"]),
    documents: { metadata: String(row["metadata"]), state: String(row["state"]), mark: String(row["mark"]) },
    listing: {
      ...ownerNamed(row),
      status: String(row["status"]),
      createdMs: Number(row["created_ms"]),
      isHidden: hidden === true || hidden === 1,
      ...(typeof asideOf === "string" && { asideOf }),
    },
    made: Number(row["made"]),
    revision: Number(row["revision"]),
    origin: Number(row["origin"]),
    generation: Number(row["generation"]),
    holder: taker && ({ ...taker, heartbeatAt } as unknown as Taker),
    silentMs,
  };
}

/** The last numbers of a session, by the newest line of each log that has lines. */
export function countersOf(
  newest: Iterable<readonly [log: LogName, line: { readonly seq?: unknown; readonly pos?: unknown } | undefined]>,
): Counters {
  const seqs = noCounts();
  let pos = 0;
  for (const [log, line] of newest) {
    seqs[log] = Number(line?.seq ?? 0);
    pos = Math.max(pos, Number(line?.pos ?? 0));
  }
  return { seqs, pos };
}
