import fc from "fast-check";
import type { Step } from "./scenario.ts";

const size = fc.oneof(
  { weight: 5, arbitrary: fc.nat(300) },
  { weight: 3, arbitrary: fc.integer({ min: 3_000, max: 9_000 }) },
  { weight: 1, arbitrary: fc.constant(70_000) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      sizes: fc.array(size, { minLength: 1, maxLength: 3 }),
      tools: fc.boolean(),
      wait: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("state" as const), status: fc.constantFrom("processing", "compressing") }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "reopen" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "finish" as const }) },
);

/** What a writer does, when it is stopped, and the seed of what the power cut leaves. */
export const crashes = fc.tuple(
  fc.array(step, { minLength: 1, maxLength: 8 }),
  fc.oneof(fc.nat(60), fc.nat(250)),
  fc.integer({ min: 0, max: 0x7fff_ffff }),
);
