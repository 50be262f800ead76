/** Tenants: names that are made of clients' keys, so that no key is kept and two of them share no conversation. */
import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Makes the name of a key's tenant: 16 hexadecimal digits, the same for the same key. */
export type TenantOf = (key: string) => string;

/**
 * Names by a secret, without which nobody can try keys against them.
 *
 * @param secret - of the store, so that a key has the same name after a restart
 */
export function tenantsBy(secret: Buffer): TenantOf {
  return (key) => createHmac("sha256", secret).update(`tenant\n${key}`).digest("hex").slice(0, 16);
}

/** The key that a request is paid with; empty where it has none. */
export function keyOf(headers: IncomingHttpHeaders, path: string): string {
  return keysOf(headers, path)[0] ?? "";
}

/** All keys that a request carries, the one that counts first. */
function keysOf(headers: IncomingHttpHeaders, path: string): readonly string[] {
  const values = ["authorization", "x-api-key", "x-goog-api-key", "api-key"].map((name) => headers[name]);
  const keys = values.map((value) => (typeof value === "string" ? value.replace(/^Bearer +/i, "") : ""));
  return [...keys, new URLSearchParams(path.replace(/^[^?]*/, "")).get("key") ?? ""].filter((key) => key !== "");
}

/** A shorter key could be a word of the text. */
const leastKey = 8;

/** A text without the keys of its request: a provider may quote the one that it refuses. */
export function withoutKeys(
  text: string,
  { headers, path }: { readonly headers: IncomingHttpHeaders; readonly path: string },
): string {
  const keys = keysOf(headers, path).filter(({ length }) => length >= leastKey);
  return keys.reduce((rest, key) => rest.replaceAll(key, "[API_KEY]"), text);
}
