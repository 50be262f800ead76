/** Addresses of stores that name no path: refused with a code, and nothing tells the password in them. */
import { inspect } from "node:util";
import { expect, it } from "vitest";
import { openStore } from "windrow/store";

it.each([
  "file://user:hunter2-secret@host/contexts",
  "sqlite://user:hunter2-secret@host/all.db",
  "file:///a%2Fhunter2-secret",
  "file:///%zz/hunter2-secret",
])("%s is refused without its secret", async (address) => {
  const refused: unknown = await openStore(address).catch((error: unknown) => error);
  expect(refused).toMatchObject({ name: "WindrowError", code: "bad-option" });
  expect(inspect(refused, { depth: 9 })).not.toContain("hunter2-secret");
});
