/** Ways to keep what a part has no place for: without any loss, or beside the envelope of a transcript. */
import { isObject } from "../message/json.ts";
import type { JsonObject, JsonValue } from "../message/message.ts";
import { keep, keptOf } from "./host-fields.ts";

/** What only a keeper without loss keeps. */
interface KeptToo {
  /** How odd values stood, and fields that say no more than the part. */
  readonly odd?: JsonObject;
  /** Whether the part is the shape's own with no fields, too. Default false. */
  readonly isOwn?: boolean;
}

/** Keeps the fields of blocks that parts have no place for. */
export interface Keeper {
  /** Stands before the kinds of opaque parts. */
  readonly kind: string;
  /** Whether a block has to come back exactly: one that could not is carried whole, and odd values are noted. */
  readonly isExact: boolean;
  /** A part's `opaque` with the fields that it has no place for. */
  readonly keep: (fields: JsonObject, more?: KeptToo) => { readonly opaque?: JsonObject };
  /** The kept fields that go back into a block; undefined for a part of another origin. */
  readonly of: (opaque: JsonValue | undefined) => JsonObject | undefined;
}

/** Keeps all fields, under a name. @param kind - default: the name */
export function exactly(name: string, kind = name): Keeper {
  return {
    kind,
    isExact: true,
    keep: (fields, { odd, isOwn = false } = {}) => keep(name, { ...fields, ...odd }, isOwn),
    of: (opaque) => keptOf(name, opaque),
  };
}

/** Keeps fields as they are, under no name. @param written - the fields that go back into a block */
export function flatly(kind: string, written: readonly string[] = []): Keeper {
  return {
    kind,
    isExact: false,
    keep: (fields) => (Object.keys(fields).length > 0 ? { opaque: fields } : {}),
    of: (opaque) =>
      Object.fromEntries(Object.entries(isObject(opaque) ? opaque : {}).filter(([name]) => written.includes(name))),
  };
}
