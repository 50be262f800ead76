/** The recalls on record, oldest first. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { recallId } from "../../window/stub/stub.ts";
import type { RecallRow } from "../viewer.ts";
import type { EpochIndex, Place } from "./epoch-index.ts";
import type { UsageIndex } from "./usage-index.ts";

/** Reads the recalls of a session: what was asked, and what came back. */
export async function recallRows(place: Place, epochs: EpochIndex, usage: UsageIndex): Promise<readonly RecallRow[]> {
  const rows: RecallRow[] = [];
  const [first] = epochs.recalls;
  const last = epochs.recalls.at(-1);
  if (first === undefined || last === undefined) return rows;
  const query = { kind: "edit", from: first, to: last } as const;
  for await (const { type, data, pos, timestamp } of place.store.read(place.scope, place.id, query)) {
    if (type !== "recall") continue;
    const { tokens, seqs, error } = data;
    rows.push({
      at: timestamp,
      asked: askedIn(data),
      tokens: typeof tokens === "number" ? tokens : null,
      seqs: Array.isArray(seqs) ? seqs.filter((seq: JsonValue): seq is number => typeof seq === "number") : [],
      error: typeof error === "string" ? error : null,
      call: usage.callBefore(pos),
    });
  }
  return rows;
}

/** The question of a recall in words: its id, its words, its range. */
function askedIn({ id, query, from, to }: JsonObject): string {
  const asked = [id, query].filter((value): value is string => typeof value === "string" && value !== "");
  if (typeof from === "number" || typeof to === "number") {
    asked.push(recallId(Number(from ?? 1), Number(to ?? from ?? 1)));
  }
  return asked.join(" ");
}
