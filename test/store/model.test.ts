import fc from "fast-check";
import { describe, it } from "vitest";
import { ramEngine } from "../kit/inside/store.ts";
import { runs } from "../kit/runs.ts";
import { asModelled } from "./model.ts";

describe.runIf(process.platform === "linux")("the session store, as a model says it", () => {
  it("keeps what it acknowledged, refuses what it should, and ends what a crash left", () =>
    fc.assert(
      asModelled(async () => ramEngine()),
      { numRuns: runs * 5 },
    ));
});
