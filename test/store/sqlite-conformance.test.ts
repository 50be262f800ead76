import { describe, it } from "vitest";
import { register } from "../../src/conformance.ts";
import { storeConformance } from "../../src/store/testing/conformance.ts";
import { driver, sqliteFixture } from "./sqlite-fixtures.ts";

const capabilities = { durable: true, shared: true };

describe.skipIf(!driver)("sqlite", () => {
  register(storeConformance(capabilities, sqliteFixture), { describe, it });
});
