/** Which keys name a tenant, and which stay out of what is kept. */
import { expect, test } from "vitest";
import { tenantsBy } from "windrow/gateway";
import { keyOf, withoutKeys } from "../kit/inside/gateway.ts";

const path = "/v1/messages?beta=true";
const key = "canary-key-77123456";

test.each([
  ["x-api-key", { "x-api-key": key }],
  ["a bearer", { authorization: `Bearer ${key}` }],
  ["one key in two headers", { "authorization": `Bearer ${key}`, "x-api-key": key }],
  ["a cookie that changes by itself", { "x-api-key": key, "cookie": `__cf_bm=${Math.random()}` }],
  ["a token against forged requests", { "x-api-key": key, "x-csrf-token": `${Math.random()}` }],
  [
    "headers with such words",
    { "x-api-key": key, "max-tokens": "9", "idempotency-key": "i-1", "anthropic-beta": "tokens" },
  ],
  ["the gateway's own", { "x-api-key": key, "x-windrow-token": "secret" }],
])("a client with %s has its key's name", (_, headers) => {
  expect(keyOf(headers, path)).toBe(key);
});

test("a key in the path counts, and two ways to name it are one", () => {
  expect(keyOf({}, `/v1beta/models/m:generateContent?key=${key}`)).toBe(key);
  expect(keyOf({}, `/v1/messages?api_key=${key}`)).toBe(key);
  expect(keyOf({}, path)).toBe("");
});

test.each([
  ["x-litellm-api-key", (name: string) => ({ "x-litellm-api-key": name })],
  ["cf-aig-authorization", (name: string) => ({ "cf-aig-authorization": `Bearer ${name}` })],
  ["cf-access-client-secret", (name: string) => ({ "authorization": "Bearer team", "cf-access-client-secret": name })],
  ["ocp-apim-subscription-key", (name: string) => ({ "ocp-apim-subscription-key": name })],
  ["helicone-auth", (name: string) => ({ "authorization": "Bearer team", "helicone-auth": `Bearer ${name}` })],
  [
    "x-api-key beside a team's Authorization",
    (name: string) => ({ "authorization": "Bearer team", "x-api-key": name }),
  ],
])("two clients that differ in %s alone are two tenants", (_, headersOf) => {
  const tenants = tenantsBy(Buffer.alloc(32, 7));
  const [one, other] = ["key-of-one", "key-of-other"].map((name) => tenants(keyOf(headersOf(name), path)));
  expect(one).not.toBe(other);
  expect(tenants(keyOf(headersOf("key-of-one"), path))).toBe(one);
});

test.each([
  ["x-litellm-api-key", { "x-litellm-api-key": key }],
  ["cf-aig-authorization", { "cf-aig-authorization": `Bearer ${key}` }],
  ["a scheme of its own", { authorization: `Token ${key}` }],
  ["a scheme with a dash", { authorization: `Snowflake-Jwt ${key}` }],
  ["a cookie", { cookie: `a=b; session=${key}` }],
])("a key by %s stands in no text that is kept", (_, headers) => {
  const said = withoutKeys(`Invalid token: ${Object.values(headers).join(" ")}. Received: ${key}`, { headers, path });
  expect(said).not.toContain("canary");
  expect(said).toMatch(/^Invalid token: .*\[API_KEY\]\. Received: \[API_KEY\]$/);
});
