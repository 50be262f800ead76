/** A session that a host's door is given, and the messages that its log holds. */
import { WindrowError } from "../../errors.ts";
import type { Message } from "../../message/message.ts";
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

/**
 * The messages of a session's log, for a host's door that gives them back.
 *
 * @throws WindrowError `bad-option` as {@link asSession}, `closed`, `store-unavailable`
 */
export async function loggedMessages(session: Session, owner: string): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const message of asSession(session, owner).messages()) messages.push(message);
  return messages;
}
