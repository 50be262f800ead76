/** Places of blocks and items in an answer, and the error that it carries: the same for every shape. */
import { asCount, asName, asObject, asString, fieldsOf } from "../message/json.ts";
import type { JsonObject, JsonValue } from "../message/message.ts";
import type { Answer } from "./shape.ts";

/** Most blocks or items of an answer. */
const mostPlaces = 10_000;

/** The place of a block or item in an answer; undefined for what is none, and for one that no answer has. */
export function placeOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < mostPlaces ? value : undefined;
}

/** The error in an answer: its `error` as an object or a text; undefined where it has none. */
export function errorOf(fields: JsonObject): Answer["error"] {
  const { error } = fields;
  if (typeof error === "string") return { type: "error", message: error };
  const inner = asObject(error);
  if (!inner) return undefined;
  const code = asCount(inner["code"]);
  const named = asName(inner["type"]) ?? asName(inner["code"]) ?? asName(inner["status"]);
  const type = named ?? (code === undefined ? "error" : String(code));
  return { type, message: asString(inner["message"]) ?? asString(fieldsOf(inner["error"])["message"]) ?? "" };
}
