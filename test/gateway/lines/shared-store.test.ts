/** Several gateways over one store, and a client whose conversation reaches now one, now the other. */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { isWindrowError } from "windrow";
import { openLines } from "windrow/gateway";
import { goOn, work } from "./agent.ts";
import { another, assistant, openStage, secret, session, storeWith, user } from "./stage.ts";
import type { Asked, Stage } from "./stage.ts";

const budget = 20_000;

/** Waits until nobody holds the only session. */
async function released(stage: Stage): Promise<void> {
  const uuid = await stage.only();
  for (;;) {
    try {
      return await (await stage.store.lock({}, uuid)).release();
    } catch (error) {
      if (!isWindrowError(error, "session-busy")) throw error;
      await setTimeout(20);
    }
  }
}

test.each([
  ["named", session],
  ["nameless", {}],
])("a %s conversation that another gateway holds goes on in a fork, with reasoning that fits", async (_, headers) => {
  const stage = await openStage({ budget });
  const other = await another(stage, { budget });
  const { history, notes } = await work(stage, 8, { headers });
  const all = [notes.at(-1)];
  for (const gateway of [other, stage, other]) all.push((await goOn(gateway, history, 2, { headers })).notes.at(-1));
  for (const note of all) expect(note).toMatch(/^composed; epoch=[1-9]/);
  const [first, ...forks] = await stage.sessions();
  expect(forks.map(({ metadata }) => metadata.forkedFrom?.uuid)).toEqual([first!.metadata.uuid]);
});

test(
  "a line that another gateway wrote on is read again by the request that finds it so",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget, idleTimeout: 1 });
    const other = await another(stage, { budget, idleTimeout: 1 });
    const { history } = await work(stage, 8);
    for (const gateway of [other, stage, other]) {
      await released(stage);
      const { notes } = await goOn(gateway, history, 2);
      for (const note of notes) expect(note).toMatch(/^composed/);
    }
    await stage.only();
  },
);

test("a session that is dated in the future hides none that another gateway makes", async () => {
  const stage = await openStage({ budget });
  const wrong = await another(stage, { budget, now: () => new Date(Date.now() + 86_400_000) });
  const nameless = { headers: {} };
  await work(wrong, 0, { task: "An old one.", ...nameless });
  await wrong.lines.close();
  const [one, other] = [await another(stage, { budget }), await another(stage, { budget })];
  await work(other, 0, { task: "Its own.", ...nameless });
  const { history } = await work(one, 1, { task: "Shared.", ...nameless });
  await one.lines.close();
  await goOn(other, history, 0, nameless);
  expect((await stage.lengths()).toSorted((left, right) => left - right)).toEqual([2, 2, 6]);
});

test("requests that begin with unknown answers do not each read which sessions there are", async () => {
  let [lists, now] = [0, 1_000_000];
  const store = storeWith((inner, name) => {
    if (name !== "list") return undefined;
    return (...given: Parameters<typeof inner.list>) => {
      lists++;
      now += 50;
      return inner.list(...given);
    };
  });
  const stage = await openStage({ store, budget, now: () => new Date(now) });
  const asked = (gateway: Asked, task: string) =>
    work(gateway, 0, { history: [user(`Is it ${task}?`), assistant("Yes."), user(task)], headers: {} });
  await asked(stage, "First.");
  lists = 0;
  for (let at = 0; at < 20; at++, now += 10) await asked(stage, `Case ${at}.`);
  expect(lists).toBeLessThan(3);
  const mostWait = { whole: 60_000, append: 60_000 };
  const other = await openLines({ secret, mostWait, store, budget, now: () => new Date(now) });
  const { history } = await work(stage, 1, { task: "Shared.", headers: {}, lines: () => other });
  await other.close();
  now += 1_000;
  await goOn(stage, history, 0, { headers: {} });
  expect(Math.max(...(await stage.lengths()))).toBe(6);
});
