/** Tenants: names that are made of clients' keys, so that no key is kept and two of them share no conversation. */
import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { answerOf } from "../handed-in.ts";
import type { Handed } from "../handed-in.ts";
import { asString } from "../message/json.ts";
import { passingSecret } from "./secret.ts";

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

/**
 * A host's function whose answers are checked: for one that is no name, the key has a name that is gone with the process, so
 * that two clients never share one.
 */
export function checkedTenants(tenants: TenantOf | undefined): TenantOf {
  const passing = tenantsBy(passingSecret());
  return tenants
    ? (key) =>
        answerOf(
          tenants,
          handedName,
          () => tenants(key),
          () => passing(key),
        )
    : passing;
}

const handedName: Handed<string> = {
  name: "`tenants`",
  code: "tenant-failed",
  wanted: "the name of a tenant as a text, at once",
  otherwise: "Such keys have names until the process ends.",
  read: asString,
};

/** Headers whose keys are known by their names alone, the one that counts first. */
const known = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/** Names of headers and parameters that end in a word for a key; `max-tokens` or `idempotency-key` is none. */
const secretName =
  /(^|[-_])(authorization|auth|(api|access|auth|secret|subscription|virtual)[-_]?key|token|secret|assertion)$/i;

/** Secrets that change by themselves, and those of the gateway's own: no client is known by them. */
const passingName = /^x-windrow|csrf|xsrf|^proxy-/i;

/**
 * The key that a request is paid with; empty where it has none. One that carries several is named by all of them: behind a
 * gateway of a team each has the same first one.
 */
export function keyOf(headers: IncomingHttpHeaders, path: string): string {
  return [...new Set(keysOf(headers, path))].join("\n");
}

/** All keys that a request carries, the one that counts first. */
function keysOf(headers: IncomingHttpHeaders, path: string): readonly string[] {
  const others = Object.keys(headers).filter((name) => isSecret(name) && !known.includes(name));
  const values = [...known, ...others.toSorted()].map((name) => headers[name]);
  const keys = values.map((value) => (typeof value === "string" ? value.replace(/^Bearer +/i, "") : ""));
  const parameters = [...new URLSearchParams(path.replace(/^[^?]*/, ""))];
  const given = parameters.filter(([name]) => name === "key" || isSecret(name)).map(([, value]) => value);
  return [...keys, ...given].filter((key) => key !== "");
}

function isSecret(name: string): boolean {
  return secretName.test(name) && !passingName.test(name);
}

/** A shorter key could be a word of the text. */
const leastKey = 8;

/**
 * A text without the keys and cookies of its request: a provider may quote the one that it refuses, with the word of its
 * scheme or without.
 */
export function withoutKeys(
  text: string,
  { headers, path }: { readonly headers: IncomingHttpHeaders; readonly path: string },
): string {
  const cookies = (headers.cookie ?? "").split(";").map((pair) => pair.replace(/^[^=]*=/, "").trim());
  const keys = [...keysOf(headers, path), ...cookies].flatMap((key) => [key, key.replace(/^[\w-]+ +/, "")]);
  const long = keys.filter(({ length }) => length >= leastKey).toSorted((left, right) => right.length - left.length);
  return long.reduce((rest, key) => rest.replaceAll(key, "[API_KEY]"), text);
}
