/** Reading and writing the fields of a line. */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, Usage } from "../../message/message.ts";

/** A record's fields in file order, without `seq`, `pos`, `more` and `crc`: those before `pos` and those behind it. */
export interface LineFields {
  /** A field behind `seq` with the same value, for a log whose numbers have a name of their own in the format. */
  readonly alias?: "summary_id";
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** A line that is JSON but no record. */
export class BadLine extends Error {}

/** An object with one field, or with none when the value is absent. */
export function optional(name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

/**
 * A string field.
 *
 * @throws BadLine when it is missing or something else
 */
export function text(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new BadLine(`${name} is no string`);
  return value;
}

/**
 * An integer field of at least `least`.
 *
 * @throws BadLine when it is missing or something else
 */
export function integer(fields: JsonObject, name: string, least: number): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least) {
    throw new BadLine(`${name} is no integer from ${least}`);
  }
  return value;
}

/**
 * A number field that is not negative.
 *
 * @throws BadLine when it is missing or something else
 */
export function amount(fields: JsonObject, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !(value >= 0)) throw new BadLine(`${name} is no amount`);
  return value;
}

/** Usage with the names files have. */
export function encodeUsage(usage: Usage): JsonObject {
  return {
    ...optional("input", usage.input),
    ...optional("output", usage.output),
    ...optional("cache_read", usage.cacheRead),
    ...optional("cache_write", usage.cacheWrite),
    ...optional("cache_write_hour", usage.cacheWriteHour),
    ...optional("reasoning", usage.reasoning),
  };
}

/** The reverse of {@link encodeUsage}; what is no number is left out. */
export function decodeUsage(fields: JsonValue | undefined): Usage {
  if (!isObject(fields)) throw new BadLine("usage is no object");
  const count = (name: string, field: string): object =>
    typeof fields[field] === "number" ? { [name]: fields[field] } : {};
  return {
    ...count("input", "input"),
    ...count("output", "output"),
    ...count("cacheRead", "cache_read"),
    ...count("cacheWrite", "cache_write"),
    ...count("cacheWriteHour", "cache_write_hour"),
    ...count("reasoning", "reasoning"),
  };
}
