/** Pieces and errors of answers, the same for every shape: blocks, items and calls while they come, and the error in it. */
import { asCount, asName, asObject, asString, fieldsOf } from "../message/json.ts";
import type { JsonObject, JsonValue } from "../message/message.ts";
import type { Answer } from "./shape.ts";

/** Most blocks or items of an answer. */
const mostPlaces = 10_000;

/** Blocks, items or calls while they come, in the order of their beginnings: servers give one index to several. */
export class Drafts<Draft> {
  readonly all: Draft[] = [];
  readonly #newest = new Map<JsonValue, Draft>();

  /** Begins one more. */
  begin(index: JsonValue | undefined, draft: Draft): void {
    if (this.all.length >= mostPlaces) return;
    this.all.push(draft);
    if (asCount(index) !== undefined) this.#newest.set(index ?? 0, draft);
  }

  /** The one that a piece with an index goes on: the newest with it, or of all where there is no index. */
  at(index: JsonValue | undefined): Draft | undefined {
    return asCount(index) === undefined ? this.all.at(-1) : this.#newest.get(index ?? 0);
  }
}

/**
 * The error in an answer: its `error` as an object or a text; undefined where it has none.
 *
 * @param isError - whether an event is one by its name, and so by its own fields. Default false
 */
export function errorOf(fields: JsonObject, isError = false): Answer["error"] {
  const { error } = fields;
  if (typeof error === "string") return { type: "error", message: error };
  const inner = asObject(error) ?? (isError ? fields : undefined);
  if (!inner) return undefined;
  const code = asCount(inner["code"]);
  // An event's own type says only that it is an error.
  const own = inner === fields ? undefined : asName(inner["type"]);
  const named = own ?? asName(inner["code"]) ?? asName(inner["status"]);
  const type = named ?? (code === undefined ? "error" : String(code));
  return { type, message: asString(inner["message"]) ?? asString(fieldsOf(inner["error"])["message"]) ?? "" };
}
