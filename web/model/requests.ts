/** Requests that passed a gateway, and their lines, in words. */
import type { RequestRow } from "../../src/viewer/requests.ts";
import type { ListedSession } from "../../src/viewer/viewer.ts";

/** How a request went, in words, and whether that is bad. */
export function requestWords(row: RequestRow): { readonly words: string; readonly isBad: boolean } {
  const { status, error, isAborted, isIncomplete, bypassed, fixed, clearedTokens, mends, stop } = row;
  const isFailed = status !== null && (status === 0 || status >= 400);
  const words = [
    status === null ? "" : status === 0 ? "not reached" : String(status),
    error ?? "",
    isAborted ? "the client left" : isIncomplete && !isFailed ? "broke off" : "",
    bypassed === null ? "" : `bypassed: ${bypassed}`,
    fixed === null ? "" : `passed as it came: ${fixed}`,
    clearedTokens === null ? "" : `the provider cleared ${clearedTokens.toLocaleString("en-US")} tokens`,
    mends.length > 0 ? `mended: ${mends.join(", ")}` : "",
    stop ?? "",
  ];
  return { words: words.filter((word) => word !== "").join(" · "), isBad: isFailed || error !== null };
}

/**
 * Sessions in their order, but lines of one client's session together where the newest of them is: the oldest first, and
 * behind each line those that go on from it.
 */
export function groupedLines(
  sessions: readonly ListedSession[],
): readonly (ListedSession & { readonly isNext?: true })[] {
  const groups = new Map<string, ListedSession[]>();
  for (const session of sessions) {
    const { client, session: name } = session.line ?? {};
    const key = name === undefined ? session.id : JSON.stringify([client, name]);
    const group = groups.get(key);
    if (group) group.push(session);
    else groups.set(key, [session]);
  }
  return [...groups.values()].flatMap((group) =>
    descended(group).map((session, place) => (place === 0 ? session : { ...session, isNext: true as const })),
  );
}

/** The lines of a group, each behind the one that it goes on from. */
function descended(newestFirst: readonly ListedSession[]): readonly ListedSession[] {
  const group = newestFirst.toReversed();
  const ids = new Set(group.map(({ id }) => id));
  const ordered = new Set<ListedSession>();
  const put = (session: ListedSession): void => {
    if (ordered.has(session)) return;
    ordered.add(session);
    for (const other of group) if (other.line?.parent?.id === session.id) put(other);
  };
  for (const session of group) if (!ids.has(session.line?.parent?.id ?? "")) put(session);
  // Lines that name each other as parents have no first one.
  for (const session of group) put(session);
  return [...ordered];
}
