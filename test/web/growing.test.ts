/** A log that grows while its rows are asked for, and a server that goes and comes back. */
import { expect, it } from "vitest";
import type { OutlineRow } from "windrow/viewer";
import { growingLog } from "../../web/state/growing-log.ts";
import type { GrowingLog } from "../../web/state/growing-log.ts";
import { fakeSource } from "../viewer/fake-source.ts";

function served(
  length: number,
  isDown = false,
): { readonly rows: GrowingLog; readonly server: { length: number; isDown: boolean } } {
  const server = { length, isDown };
  const { source } = fakeSource({
    async outline(_id, from, to) {
      if (server.isDown) throw new Error("no answer");
      const last = Math.min(to, server.length);
      return Array.from({ length: last - from + 1 }, (_, place) => ({ seq: from + place }) as OutlineRow);
    },
  });
  return { rows: growingLog(source, "one"), server };
}

/** A row, once every answer that is under way arrived. */
async function rowOf({ outline }: GrowingLog, seq: number): Promise<number | undefined> {
  outline.at(seq);
  await new Promise((resolve) => setImmediate(resolve));
  return outline.at(seq)?.seq;
}

it("rows that were asked for before the log grew come with the rest of it", async () => {
  const { rows, server } = served(3);
  rows.grow(3);
  expect(await rowOf(rows, 3)).toBe(3);
  server.length = 250;
  rows.grow(250);
  expect([await rowOf(rows, 4), await rowOf(rows, 200), await rowOf(rows, 250)]).toEqual([4, 200, 250]);
  // A page that is told of less than it knows keeps all.
  rows.grow(249);
  expect(rows.messages.value).toBe(250);
});

it("rows that a server could not give are asked for again when it is back", async () => {
  const { rows, server } = served(3, true);
  rows.grow(3);
  expect(await rowOf(rows, 2)).toBeUndefined();
  server.isDown = false;
  expect(await rowOf(rows, 2)).toBeUndefined();
  rows.retry();
  expect(await rowOf(rows, 2)).toBe(2);
});

it("the first rows are asked for once, and again where the log grew meanwhile", async () => {
  const asked: (readonly number[])[] = [];
  const { source } = fakeSource({
    async outline(_id, from, to) {
      asked.push([from, to]);
      const length = asked.length === 1 ? 2 : 3;
      return Array.from({ length }, (_, place) => ({ seq: from + place }) as OutlineRow);
    },
  });
  const rows = growingLog(source, "one");
  rows.grow(3);
  expect(await rowOf(rows, 3)).toBe(3);
  expect(asked).toEqual([
    [1, 200],
    [1, 200],
  ]);
  const same = growingLog(source, "two");
  same.grow(3);
  expect([await rowOf(same, 3), asked.length]).toEqual([3, 3]);
});
