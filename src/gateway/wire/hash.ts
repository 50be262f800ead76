/** Hashes of JSON values: the same for the same value, whatever the order of an object's members and its white space. */
import { createHmac, hash } from "node:crypto";
import { isObject } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";

/** A value as JSON text whose objects have their members in the order of their names. */
export function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_, item: JsonValue) => (isObject(item) ? sorted(item) : item));
}

function sorted(value: { readonly [key: string]: JsonValue }): { [key: string]: JsonValue } {
  const keys = Object.keys(value);
  // A member that is named as an index stands first, whatever the order in which it was set.
  return Object.fromEntries(keys.toSorted().map((key) => [key, value[key] ?? null]));
}

/** The hash of a value, in 64 hexadecimal digits. */
export function hashJson(value: JsonValue): string {
  return hash("sha256", canonicalJson(value), "hex");
}

/** The hash of bytes, as they are looked up by. */
export function hashBytes(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}

/** Digits of a print. */
const printDigits = 32;

/** The print of a hash: it says nothing of the value to whoever has not the secret. */
export function printOf(secret: Buffer, hashed: string): string {
  return createHmac("sha256", secret).update(hashed).digest("hex").slice(0, printDigits);
}
