/** The list of a store's sessions. */
import { checkQuery } from "../shared/rules.ts";
import type { ListQuery, Scope, SessionInfo } from "../store.ts";
import { headsOf, pageSize, read, unreadable } from "./found.ts";
import type { Core, Found } from "./found.ts";

/** Sessions as {@link Store.list} gives them. */
export async function* listed(
  core: Core,
  scope: Scope,
  query: ListQuery,
  describe: (found: Found) => SessionInfo,
): AsyncGenerator<SessionInfo> {
  core.alive();
  checkQuery(query);
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  const { status, unfinished: isUnfinished, without } = query;
  const asked = { scope, status, isHidden: false, isUnfinished, without };
  for await (const head of headsOf(core, asked, Math.min(pageSize, left))) {
    const found = read(head);
    if (!found) {
      query.unreadable?.(head.id, unreadable(head.id));
      continue;
    }
    yield describe(found);
    core.alive();
    left -= 1;
    if (left === 0) return;
  }
}
