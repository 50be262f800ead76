/**
 * JSON from outside: limits of depth and size, so that no code that walks it overflows the stack, and readers that
 * narrow it.
 */
import { WindrowError } from "../errors.ts";
import type { JsonObject, JsonValue, Message } from "./message.ts";

/** Most levels of objects and arrays inside of each other that JSON from outside may have. */
export const deepestJson = 500;

/** Levels that a record or a transcript line adds around such JSON. */
const levelsAround = 24;

/** Most values that one message or record may hold. */
const mostValues = 2_000_000;

/** Settings of {@link jsonFault}. */
export interface JsonLimits {
  /** Accepts undefined fields and items: they are left out when the value is written. Default false. */
  readonly undefinedToo?: boolean;
  /** Allows for the levels of a whole record, line or document. Default false. */
  readonly whole?: boolean;
}

/**
 * The reason why a value is not usable as JSON, as the end of a sentence; undefined when it is usable. Never throws.
 */
export function jsonFault(value: unknown, limits: JsonLimits = {}): string | undefined {
  try {
    const most = deepestJson + (limits.whole === true ? levelsAround : 0);
    return faultIn(value, most, { left: mostValues }, limits.undefinedToo === true);
  } catch (error) {
    return `reading it fails (${error instanceof Error ? error.message : String(error)})`;
  }
}

function faultIn(value: unknown, levels: number, count: { left: number }, undefinedToo: boolean): string | undefined {
  if (count.left-- <= 0) return `it holds more than ${mostValues.toLocaleString("en-US")} values`;
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) || undefinedToo ? undefined : `${value} is no number that JSON has`;
    case "undefined":
      return undefinedToo ? undefined : "a value in it is undefined";
    case "object":
      break;
    default:
      return `it holds a ${typeof value}, which JSON cannot carry`;
  }
  if (value === null || (undefinedToo && ArrayBuffer.isView(value))) return undefined;
  if (levels <= 0) return `it is nested more than ${deepestJson} levels deep, or holds itself`;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      const fault = faultIn(item, levels - 1, count, undefinedToo);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const fault = faultIn((value as Readonly<Record<string, unknown>>)[key], levels - 1, count, undefinedToo);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const checked = new WeakSet<Message>();

/**
 * Checks a host's message before any code walks it. A message that passed is not checked again.
 *
 * @param index - its place, from 0
 * @throws WindrowError `bad-message`
 */
export function checkMessageJson(message: Message, index: number): void {
  if (typeof message !== "object" || message === null || checked.has(message)) return;
  const fault = jsonFault(message, { undefinedToo: true, whole: true });
  if (fault !== undefined)
    throw new WindrowError("bad-message", `Message ${index} cannot be used: ${fault}.`, { index });
  checked.add(message);
}

const ownField = { enumerable: true, configurable: true, writable: true };

/** A deep copy. The value must have no {@link jsonFault}. */
export function copyJson(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value as JsonObject)) {
    // An assignment would set the prototype and lose the field.
    if (key === "__proto__") Object.defineProperty(copy, key, { ...ownField, value: copyJson(item) });
    else copy[key] = copyJson(item);
  }
  return copy;
}

/** Parses a text as JSON; undefined when it is no JSON, or deeper than {@link deepestJson}. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return jsonFault(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object. Its fields are not checked: parsed JSON holds nothing but JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value when it is a JSON object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** The value when it is an array, else undefined. */
export function asArray(value: unknown): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
}

/** The value when it is a string, else undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A string as it is, nothing for no value, and any other value as JSON. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : (value ?? null) === null ? "" : JSON.stringify(value);
}

/** The value when it is a string that is not empty, else undefined. */
export function asName(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value when it is a finite number from 0, else undefined. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The fields of a JSON object; no fields for any other value. */
export function fieldsOf(value: unknown): JsonObject {
  return asObject(value) ?? {};
}

/** The objects of an array, in order; empty when there is no array. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return (asArray(value) ?? []).map(asObject).filter((item) => item !== undefined);
}

/** A time as ISO 8601 UTC, from ISO text, milliseconds or seconds since 1970; undefined for anything else. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  // 1e11 ms is March 1973, and 1e11 s the year 5138: a smaller number was meant as seconds.
  const date = new Date(typeof value === "number" && value < 1e11 ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** An object without its undefined fields, as `exactOptionalPropertyTypes` requires. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}

/** The fields of an object that are not in `known`; undefined when there are none. */
export function restOf(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const entries = Object.entries(object).filter(([key]) => !known.has(key));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** An object without some of its fields. */
export function without(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !fields.includes(key)));
}

/** Whether two JSON values are deeply equal; the order of an object's fields does not matter. */
export function sameJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item: JsonValue, index) => sameJson(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  );
}
