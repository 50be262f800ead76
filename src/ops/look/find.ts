/** Finding a session by what a person types: its id, the beginning of it, or `latest`. */
import { WindrowError } from "../../errors.ts";
import { shown } from "../../shown.ts";
import { isSessionId, notFound } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { conversations } from "../../store/memory-logs.ts";
import { sessionTitle } from "./title.ts";

/** Fewest characters of an id that name a session. */
const shortestPrefix = 4;

/** Newest sessions among which `latest` is looked for: one that was begun later may have ended long ago, as a fork does. */
const newest = 50;

/** Sessions an error message lists. */
const listed = 8;

/** Whether a text can name a session: `latest`, an id, or the beginning of one. */
export function namesSession(name: string): boolean {
  return name === "latest" || (typeof name === "string" && /^[0-9a-f-]{4,36}$/i.test(name));
}

/**
 * The id among some that a name means: the id itself, or its beginning.
 *
 * @throws WindrowError `bad-option` if several begin so
 */
export function idNamed(ids: Iterable<string>, name: string): string | undefined {
  const found = namesSession(name) ? [...ids].filter((id) => id.startsWith(name.toLowerCase())) : [];
  if (found.length < 2) return found[0];
  const message = `"${name}" is the beginning of ${found.length} ids; give more of it.`;
  throw new WindrowError("bad-option", message, { id: name, candidates: found });
}

/**
 * The session that a name means.
 *
 * @param name - an id, at least its first four characters where no other id begins so, or `latest`: of the 50 sessions that
 *   were begun last the one that was written last
 * @throws WindrowError `session-not-found`; `bad-option` for a name that is too short or means several, which it lists
 */
export async function findSession(store: Store, scope: Scope, name: string): Promise<SessionInfo> {
  if (!namesSession(name)) {
    const message = `${shown(name)} names no session: give its id, at least the first ${shortestPrefix} characters, or latest.`;
    throw new WindrowError("bad-option", message, { id: name });
  }
  if (isSessionId(name.toLowerCase())) return store.info(scope, name.toLowerCase());
  if (name === "latest") {
    let latest: SessionInfo | undefined;
    for await (const session of conversations(store, scope, { limit: newest })) {
      if (latest === undefined || session.state.updatedAt > latest.state.updatedAt) latest = session;
    }
    if (latest) return latest;
    throw new WindrowError("session-not-found", "There is no session in this store.", { id: name });
  }
  const found: SessionInfo[] = [];
  let closed: WindrowError | undefined;
  const unreadable = (_place: string, error: WindrowError): void => {
    if (error.code === "store-unavailable") closed ??= error;
  };
  for await (const session of conversations(store, scope, { unreadable })) {
    if (session.metadata.uuid.startsWith(name.toLowerCase())) found.push(session);
  }
  const [only] = found;
  if (only === undefined) throw closed ?? notFound(name);
  if (found.length === 1) return only;
  const titled = found.slice(0, listed).map(async ({ metadata }) => {
    return `\n  ${metadata.uuid}  created ${metadata.createdAt}  ${await sessionTitle(store, scope, metadata)}`;
  });
  const more = found.length > listed ? `\n  … and ${found.length - listed} more` : "";
  const message = `"${name}" is the beginning of ${found.length} ids; give more of it:${(await Promise.all(titled)).join("")}${more}`;
  throw new WindrowError("bad-option", message, { id: name, candidates: found.map(({ metadata }) => metadata.uuid) });
}
