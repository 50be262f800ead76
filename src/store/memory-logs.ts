/** The sessions that are no conversations: logs of a memory. Lists of sessions leave them out. */
import { uuidOf } from "./shared/rules.ts";
import type { ListQuery, Scope, SessionInfo, SessionMetadata, Store } from "./store.ts";

/** The value of `config.purpose` of a memory's log. */
export const memoryPurpose = "memory";

/** Whether a session is a memory's log, and no conversation. */
export function isMemoryLog({ config }: Pick<SessionMetadata, "config">): boolean {
  return config.purpose === memoryPurpose;
}

/** The sessions of a scope as `Store.list` gives them, without the logs of a memory. */
export async function* conversations(
  store: Store,
  scope: Scope,
  { limit, ...query }: ListQuery = {},
): AsyncGenerator<SessionInfo, void, undefined> {
  let left = limit ?? Infinity;
  if (left <= 0) return;
  for await (const session of store.list(scope, query)) {
    if (isMemoryLog(session.metadata)) continue;
    yield session;
    if (--left <= 0) return;
  }
}

/** The logs that memories keep by themselves; the metadata of another one names it. */
export const memoryNames: readonly string[] = ["facts", "files", "items", "receipts"];

/** The ids of the two sessions that hold the log of a memory by turns. */
export function memoryLogIds({ tenant = "", user = "" }: Scope, name: string): readonly [string, string] {
  const idOf = (turn: string): string => uuidOf(["windrow-memory", tenant, user, name, turn]);
  return [idOf("a"), idOf("b")];
}
