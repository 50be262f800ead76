import { describe, it } from "vitest";
import { register, storeConformance } from "windrow/testing";
import { driver, sqliteFixture } from "../kit/sqlite-stores.ts";

const capabilities = { durable: true, shared: true };

describe.skipIf(!driver)("sqlite", () => {
  register(storeConformance(capabilities, sqliteFixture), { describe, it });
});
