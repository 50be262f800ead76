/** Messages as they were given, by what the log has: of one that a mask changed, the differences are in memory. */
import { isObject } from "../message/json.ts";
import type { JsonObject, JsonValue, Message } from "../message/message.ts";
import type { StoredRecordOf } from "../message/record.ts";

/** The way from a logged value to the one that was given. */
type Difference =
  | { readonly kind: "piece"; readonly start: number; readonly end: number; readonly text: string }
  | { readonly kind: "fields"; readonly without: ReadonlySet<string>; readonly fields: ReadonlyMap<string, Difference> }
  | { readonly kind: "items"; readonly items: ReadonlyMap<number, Difference> }
  | { readonly kind: "whole"; readonly value: JsonValue };

/** The messages of a session that its log has masked: what the mask took out of them, without their images. */
export class MaskedMessages {
  readonly #differences = new Map<number, Difference>();

  /** Keeps what a message has otherwise than its line in the log. */
  keep(seq: number, given: Message, logged: Message): void {
    const difference = differenceOf(given as unknown as JsonValue, logged as unknown as JsonValue);
    if (difference) this.#differences.set(seq, difference);
  }

  /** The message of a record as it was given. */
  of({ seq, message }: StoredRecordOf<"message">): Message {
    const difference = message.masks && this.#differences.get(seq);
    return difference ? (applied(message as unknown as JsonValue, difference) as unknown as Message) : message;
  }
}

function differenceOf(given: JsonValue, logged: JsonValue): Difference | undefined {
  if (given === logged) return undefined;
  if (typeof given === "string" && typeof logged === "string") return pieceOf(given, logged);
  if (Array.isArray(given) && Array.isArray(logged) && given.length === logged.length) {
    const items = new Map<number, Difference>();
    for (const [index, item] of given.entries()) {
      const difference = differenceOf(item as JsonValue, logged[index] as JsonValue);
      if (difference) items.set(index, difference);
    }
    return items.size > 0 ? { kind: "items", items } : undefined;
  }
  if (isObject(given) && isObject(logged)) return fieldsOf(given, logged);
  return { kind: "whole", value: structuredClone(given) };
}

function fieldsOf(given: JsonObject, logged: JsonObject): Difference | undefined {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  // A name that was masked changes the order of fields, too.
  if (names.some((name) => logged[name] === undefined)) return { kind: "whole", value: structuredClone(given) };
  const fields = new Map<string, Difference>();
  for (const name of names) {
    const difference = differenceOf(given[name] as JsonValue, logged[name] as JsonValue);
    if (difference) fields.set(name, difference);
  }
  const without = new Set(Object.keys(logged).filter((name) => given[name] === undefined));
  return fields.size > 0 || without.size > 0 ? { kind: "fields", without, fields } : undefined;
}

/** The piece between the beginning and the end that two texts share. A copy: a slice would keep the whole text. */
function pieceOf(given: string, logged: string): Difference {
  const most = Math.min(given.length, logged.length);
  let start = 0;
  while (start < most && given[start] === logged[start]) start++;
  let end = 0;
  while (end < most - start && given.at(-1 - end) === logged.at(-1 - end)) end++;
  return { kind: "piece", start, end, text: structuredClone(given.slice(start, given.length - end)) };
}

function applied(logged: JsonValue, difference: Difference): JsonValue {
  switch (difference.kind) {
    case "piece": {
      const { start, end, text } = difference;
      if (typeof logged !== "string") return logged;
      return logged.slice(0, start) + text + logged.slice(logged.length - end);
    }
    case "items":
      return (logged as readonly JsonValue[]).map((item, index) => at(item, difference.items.get(index)));
    case "fields": {
      const fields = Object.entries(logged as JsonObject).filter(([name]) => !difference.without.has(name));
      return Object.fromEntries(fields.map(([name, value]) => [name, at(value, difference.fields.get(name))]));
    }
    case "whole":
      return difference.value;
  }
}

function at(logged: JsonValue, difference: Difference | undefined): JsonValue {
  return difference ? applied(logged, difference) : logged;
}
