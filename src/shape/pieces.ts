/** Answers that a host holds as several messages, for hosts that hold an answer as one. */
import type { Message } from "../message/message.ts";
import { isPiece } from "../message/step.ts";

/** Messages in which the pieces of one answer are one message; the very array where there are none. */
export function joinPieces(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(isPiece)) return messages;
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const goesOn = before && isPiece(before) && isPiece(message);
    if (goesOn) joined[joined.length - 1] = { ...before, parts: [...before.parts, ...message.parts] };
    else joined.push(message);
  }
  return joined;
}
