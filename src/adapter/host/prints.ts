/** Fingerprints of what messages say, by which a host's messages are found again in a log. */
import { maskJson } from "../../mask/mask.ts";
import type { SecretRules } from "../../mask/text.ts";
import { hashText } from "../../message/hash.ts";
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message } from "../../message/message.ts";

/** A fingerprint of a value; the order of its fields does not matter: a message from disk has them in another one. */
export function printOf(value: unknown): number {
  return hashText(JSON.stringify(value, (_key, one: unknown) => (isObject(one) ? sorted(one) : one)));
}

function sorted(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Fingerprints of messages. Secrets are masked first, so a message has the same one before and after a resume. */
export class Prints {
  readonly #rules: SecretRules;
  readonly #known = new WeakMap<Message, number>();

  /** @param rules - by which the store masks what it keeps */
  constructor(rules: SecretRules) {
    this.#rules = rules;
  }

  /** The fingerprint of a message's role, parts and extra fields. */
  of(message: Message): number {
    let print = this.#known.get(message);
    if (print === undefined) {
      const { role, parts, extra = {} } = message;
      print = printOf(maskJson(this.#rules, [role, parts, extra] as unknown as JsonValue));
      this.#known.set(message, print);
    }
    return print;
  }

  /** The same with the message's time. */
  keyOf(message: Message): string {
    return `${this.of(message)} ${message.timestamp ?? ""}`;
  }
}
