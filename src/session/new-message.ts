/** A message on its way to the log. */
import { randomUUID } from "node:crypto";
import type { Message, NewMessage } from "../message/message.ts";
import type { NewRecord } from "../message/record.ts";
import { countMessage } from "../tokens/counter.ts";
import type { SessionParts } from "./session-parts.ts";

/**
 * The message with its id and timestamp, checked.
 *
 * @throws WindrowError `bad-message`
 */
export function completeMessage({ check, now }: Pick<SessionParts, "check" | "now">, given: NewMessage): Message {
  const message = check(given);
  return { ...message, id: message.id ?? randomUUID(), timestamp: message.timestamp ?? now().toISOString() };
}

/** The record that carries it. */
export function messageRecord({ composer, now }: Pick<SessionParts, "composer" | "now">, message: Message): NewRecord {
  const timestamp = message.timestamp ?? now().toISOString();
  return { kind: "message", message, tokenCount: countMessage(composer.counter, message), timestamp };
}
