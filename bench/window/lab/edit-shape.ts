/** Calls that edit a text, whatever the tool's name, recognised by the shape of their arguments. */
import type { JsonValue } from "../../../src/message/message.ts";

/** One replacement in a call's arguments. */
export interface TextEdit {
  /** The text to replace, which must be in the file. */
  readonly old: string;
  /** The new text; empty for a deletion. */
  readonly fresh: string;
}

const old = /^old(?:[_A-Z]|$)/;
/** Argument names that queries also use: an old text counts only beside a new one. */
const sought = /^(?:search|find|original|before)(?:[_A-Z]|$)/;
const fresh = /^(?:new|replace|replacement|updated|after)(?:[_A-Z]|$)/;

/**
 * The replacements in a call's arguments: in every object that holds a text under `old…` (`oldText`, `old_string`), or
 * under `search…`, `find…`, `original…` or `before…` beside one under `new…`, `replace…`, `updated…` or `after…`.
 */
export function textEdits(args: JsonValue): readonly TextEdit[] {
  if (typeof args !== "object" || args === null) return [];
  const items: readonly (readonly [string, JsonValue])[] = Object.entries(args);
  const textUnder = (name: RegExp): string | undefined => {
    const found = items.find(([key, value]) => name.test(key) && typeof value === "string");
    return found?.[1] as string | undefined;
  };
  const put = textUnder(fresh);
  const taken = textUnder(old) ?? (put === undefined ? undefined : textUnder(sought));
  const own = taken === undefined || taken.trim() === "" ? [] : [{ old: taken, fresh: put ?? "" }];
  return [...own, ...items.flatMap(([, value]) => textEdits(value))];
}
