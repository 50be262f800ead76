/**
 * Host fields that a message has no place for, stored under the adapter's name, and the way back to the host's very object.
 */
import { WindrowError } from "../errors.ts";
import { isOwnShape } from "../message/foreign.ts";
import { isObject, sameJson } from "../message/json.ts";
import { shown } from "../shown.ts";
import type { JsonObject, JsonValue, Message, Part } from "../message/message.ts";

/** Stands, in what is kept, for a field that the host's object did not have. No host writes it. */
export const absent = "windrow:absent";

/** Deepest nesting of a host's message that is followed. */
const deepest = 500;

/** A field of a host's object as it stands in what is kept. */
export function orAbsent(value: JsonValue | undefined): JsonValue {
  return value === undefined ? absent : value;
}

/**
 * The fields that one adapter put into a message's `extra` or a part's `opaque`; undefined where that came from
 * elsewhere.
 */
export function keptOf(adapter: string, holder: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(holder)) return undefined;
  const kept = holder[adapter];
  return isObject(kept) ? kept : undefined;
}

/**
 * A part's `opaque` with what one adapter keeps.
 *
 * @param marked - keeps the name even with nothing under it: the part is the adapter's own
 */
export function keep(adapter: string, fields: JsonObject, marked = false): { readonly opaque?: JsonObject } {
  return marked || Object.keys(fields).length > 0 ? { opaque: { [adapter]: fields } } : {};
}

/** An object without the fields that stand as {@link absent}. */
export function present(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== absent));
}

/** The text block that stands for a part a provider does not take in its place. */
export function standIn(part: Part): JsonObject {
  return {
    type: "text",
    text: part.type === "opaque" ? `[${part.kind}] ${JSON.stringify(part.data)}` : `[${part.type}]`,
  };
}

/**
 * The host's messages as they were given.
 *
 * @throws WindrowError `bad-message` for what is no list, and for messages that are Windrow's own already
 */
export function hostMessages<Host>(given: readonly Host[], reader: string): readonly Host[] {
  if (!Array.isArray(given)) {
    const type = given === null ? "null" : typeof given;
    throw new WindrowError("bad-message", `${reader} takes a list of messages, not ${type}.`, {});
  }
  const index = given.findIndex(isOwnShape);
  if (index === -1) return given;
  throw badMessage(index, `it is a message of Windrow's own already, and goes on without ${reader}`);
}

/**
 * Windrow's messages as they were given to a writer of the host's.
 *
 * @throws WindrowError `bad-message` for what is no list, such as the whole window, and for messages of another shape
 */
export function ownMessages(given: readonly Message[], writer: string): readonly Message[] {
  if (!Array.isArray(given)) {
    const mend = isObject(given) && "messages" in given ? `: write ${writer}(window.messages)` : "";
    const message = `${writer} takes a list of Windrow's messages, not ${shown(given)}${mend}.`;
    throw new WindrowError("bad-message", message, {});
  }
  const index = given.findIndex((message: unknown) => !isObject(message) || !Array.isArray(message["parts"]));
  if (index === -1) return given;
  throw badMessage(index, `it is none of Windrow's, which have \`parts\`; ${writer} writes those of a window`);
}

/** The host's message at a place as JSON; what JSON cannot carry (undefined fields, functions) is left out. */
export function hostMessage(value: unknown, index: number, what: string): JsonObject {
  const json = jsonOf(value, 0, index);
  if (isObject(json)) return json;
  throw badMessage(index, `it is not ${what}: it needs a role and content`);
}

/** The error for a value that is no message of the host. */
export function badMessage(index: number, why: string): WindrowError {
  return new WindrowError("bad-message", `Message ${index} cannot be read: ${why}.`, { index });
}

/** The value itself where it is JSON already, else a copy of what JSON carries of it. */
function jsonOf(value: unknown, depth: number, index: number): JsonValue | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object") return undefined;
  if (depth > deepest) throw badMessage(index, `it is nested more than ${deepest} levels deep`);
  if ("toJSON" in value && typeof value.toJSON === "function") return jsonOf(value.toJSON(), depth + 1, index);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => jsonOf(item, depth + 1, index) ?? null);
    return items.every((item, place) => item === value[place]) ? (value as readonly JsonValue[]) : items;
  }
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  const fields = entries.map(([key, item]) => [key, jsonOf(item, depth + 1, index)] as const);
  if (fields.every(([, item], place) => item !== undefined && item === entries[place]?.[1])) return value as JsonObject;
  return Object.fromEntries(fields.filter((field): field is readonly [string, JsonValue] => field[1] !== undefined));
}

/**
 * The host's objects behind decoded messages: a message that nothing changed goes back as the very object it came as.
 * Holds no message alive.
 */
export class Originals<Host extends object = object> {
  readonly #objects = new WeakMap<Message, Host>();

  /** Remembers where a message came from, and returns it. */
  note(message: Message, object: Host): Message {
    this.#objects.set(message, object);
    return message;
  }

  /** The host's object, or undefined for a message that an edit made or that was read from a store. */
  of(message: Message): Host | undefined {
    return this.#objects.get(message);
  }
}

/** The host's object if `built` says the same; otherwise `built`, as where an API would refuse what the host has. */
export function hostOr(host: object | undefined, built: object): object {
  if (host === undefined) return built;
  const says = (object: unknown): boolean => sameJson(built as JsonObject, object as JsonObject);
  // Most hosts' objects are JSON already.
  return says(host) || says(jsonOf(host, 0, 0) ?? null) ? host : built;
}

/** The content of a message or result as the host wrote it, where its parts do not say: null, "", [] or none at all. */
export function contentNote(host: JsonObject, partCount: number, alone: boolean): JsonObject {
  const { content } = host;
  if (content === undefined) return { content: absent };
  if (partCount === 0) return { content };
  return Array.isArray(content) && alone ? { content: [] } : {};
}
