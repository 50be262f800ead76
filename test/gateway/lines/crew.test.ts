import { expect, test } from "vitest";
import { Crew } from "../../../src/gateway/lines/crew.ts";

test("a crew does a few pieces at a time, in the order of calls, also behind one that fails", async () => {
  const crew = new Crew(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  let most = 0;
  let working = 0;
  const work = async (n: number): Promise<number> => {
    begun.push(n);
    most = Math.max(most, ++working);
    await new Promise<void>((resolve) => ends.push(resolve));
    working--;
    if (n === 1) throw new Error("the second one fails");
    return n;
  };
  const done = Promise.allSettled(Array.from({ length: 6 }, (_, n) => crew.run(() => work(n))));
  expect(begun).toEqual([]);
  for (let n = 0; n < 6; n++) {
    while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    ends.shift()!();
  }
  expect((await done).map(({ status }) => status)).toEqual(
    Array.from({ length: 6 }, (_, n) => (n === 1 ? "rejected" : "fulfilled")),
  );
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});
