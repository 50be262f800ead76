import { expect, test } from "vitest";
import { Crew, deferred } from "../../kit/inside/gateway.ts";

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

test("a piece that does not end holds nobody else", async () => {
  const crew = new Crew(1, 20);
  const hung = deferred<undefined>();
  const first = crew.run(() => hung.promise);
  expect(await Promise.all([crew.run(async () => 2), crew.run(async () => 3)])).toEqual([2, 3]);
  hung.resolve(undefined);
  await first;
  const begun: number[] = [];
  const held = deferred<undefined>();
  const one = crew.run(async () => {
    begun.push(1);
    await held.promise;
  });
  const two = crew.run(async () => void begun.push(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual([1]);
  held.resolve(undefined);
  await Promise.all([one, two]);
});
