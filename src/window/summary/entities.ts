/**
 * Entities: the facts that a conversation established, by the fields of a schema. What a model or a function reads is
 * checked by the schema's types; what is not known never overwrites what is. Pure.
 */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { Entities } from "../window.ts";

/**
 * The fields of a state and what each holds: a type, with words behind it where they help (`"string: the city"`). Types are
 * `string` (also `text`, `date`, `time`), `number`, `integer`, `boolean`, `array`, `object`, each also as a list
 * (`string[]`); a field described in other words takes any value.
 */
export type EntitySchema = Readonly<Record<string, string>>;

const recordType = "entities";

/** The line that keeps entities; `refused` are fields whose new value was none of the schema's. */
export function entitiesRecord(
  { state, through }: Entities,
  refused: readonly string[],
  timestamp: string,
): EditRecord {
  const data = { state, through, ...(refused.length > 0 && { refused }) };
  return { kind: "edit", type: recordType, data, timestamp };
}

/** The entities that a line keeps; undefined for another line. */
export function entitiesOf({ type, data }: Pick<EditRecord, "type" | "data">): Entities | undefined {
  const { state, through } = data;
  return type === recordType && isObject(state) && typeof through === "number" ? { state, through } : undefined;
}

/** A state after values were read, and the fields whose value does not fit the schema. */
export interface FittedState {
  readonly state: JsonObject;
  readonly refused: readonly string[];
}

/**
 * Puts values into a state: fields of the schema alone, and only values of their types. Null, and a value that does not fit,
 * leave what is there.
 */
export function fitEntities(schema: EntitySchema, before: JsonObject, given: JsonObject): FittedState {
  const state: Record<string, JsonValue> = {};
  const refused: string[] = [];
  for (const [field, type] of Object.entries(schema)) {
    const value = Object.hasOwn(given, field) ? given[field] : undefined;
    const known = Object.hasOwn(before, field) ? (before[field] ?? null) : null;
    const isKnown = value === undefined || value === null;
    const fits = isKnown || checkerOf(type)(value);
    if (!fits) refused.push(field);
    state[field] = isKnown || !fits ? known : value;
  }
  return { state, refused };
}

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isTruth: Check = (value) => typeof value === "boolean";

const checks: Readonly<Record<string, Check>> = {
  string: isText,
  text: isText,
  date: isText,
  time: isText,
  number: isNumber,
  float: isNumber,
  integer: Number.isSafeInteger,
  int: Number.isSafeInteger,
  boolean: isTruth,
  bool: isTruth,
  array: Array.isArray,
  list: Array.isArray,
  object: isObject,
};

function checkerOf(type: string): Check {
  const [, name = "", list] = /^\s*([a-z]+)(\[\])?(?=$|[\s:?,(|])/i.exec(type) ?? [];
  const check = Object.hasOwn(checks, name.toLowerCase()) ? checks[name.toLowerCase()] : undefined;
  if (!check || /\|(?!\s*(?:null|undefined)\b)/.test(type)) return () => true;
  return list === undefined ? check : (value) => Array.isArray(value) && value.every(check);
}
