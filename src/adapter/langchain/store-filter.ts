/** Filters of LangGraph's stores: a field's value, or operators such as `{ $gte: 3 }`. */
import { sameJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";

const operators: Readonly<Record<string, (value: JsonValue | undefined, wanted: unknown) => boolean>> = {
  $eq: (value, wanted) => isSame(value, wanted),
  $ne: (value, wanted) => !isSame(value, wanted),
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.some((one) => isSame(value, one)),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.some((one) => isSame(value, one)),
};

/** Whether a field of an item is as a filter wants it. */
export function matches(value: JsonValue | undefined, wanted: unknown): boolean {
  const asked = typeof wanted === "object" && wanted !== null && !Array.isArray(wanted) ? Object.entries(wanted) : [];
  const isOperators = asked.length > 0 && asked.every(([name]) => Object.hasOwn(operators, name));
  return isOperators ? asked.every(([name, of]) => operators[name]?.(value, of)) : isSame(value, wanted);
}

function isSame(value: JsonValue | undefined, wanted: unknown): boolean {
  return sameJson(value, wanted as JsonValue | undefined);
}
