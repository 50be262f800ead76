/** The age of a session: the time of its last record. */
import type { Scope, SessionInfo, Store } from "../../store/store.ts";

/**
 * When the last record of a session was written, by its own word, in milliseconds since 1970; of one without records,
 * when it ended. Undefined where no time can be read.
 */
export async function lastRecordAt(
  store: Store,
  scope: Scope,
  { metadata, state }: SessionInfo,
): Promise<number | undefined> {
  if (state.archived) return Date.parse(state.archived.lastRecordAt) || Date.parse(state.updatedAt);
  const times: number[] = [];
  for (const kind of ["message", "tool", "call", "usage", "summary", "snapshot", "edit"] as const) {
    for await (const { timestamp } of store.read(scope, metadata.uuid, { kind, last: 1 }))
      times.push(Date.parse(timestamp));
  }
  if (times.length === 0) times.push(Date.parse(state.completedAt ?? state.updatedAt));
  const last = Math.max(...times.filter((one) => !Number.isNaN(one)));
  return Number.isFinite(last) ? last : undefined;
}
