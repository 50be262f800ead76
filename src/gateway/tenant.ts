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
  for (const name of ["authorization", "x-api-key", "x-goog-api-key", "api-key"]) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value.replace(/^Bearer +/i, "");
  }
  return new URLSearchParams(path.replace(/^[^?]*/, "")).get("key") ?? "";
}
