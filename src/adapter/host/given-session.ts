/** The check of a session that a host's door is given. */
import { WindrowError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { shown } from "../../shown.ts";

/**
 * A session as a host's door was given it.
 *
 * @param owner - the door, for the error
 * @throws WindrowError `bad-option` for anything else, such as the promise of one
 */
export function asSession(session: Session, owner: string): Session {
  if (typeof (session as Partial<Session> | undefined)?.attach === "function") return session;
  const given = session instanceof Promise ? "a promise of one: write await before it" : shown(session);
  throw new WindrowError(
    "bad-option",
    `${owner} takes a session, as \`await manager.create()\` gives it, not ${given}.`,
  );
}
