/** Several gateways over one store, and a client whose conversation reaches now one, now the other. */
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { isWindrowError } from "windrow";
import { openLines } from "windrow/gateway";
import type { Lines, LinesOptions } from "windrow/gateway";
import { openStore } from "windrow/store";
import { ramStore } from "../../kit/inside/store.ts";
import { faultsOf, runAgent } from "./agent.ts";
import { openStage, secret, user } from "./stage.ts";
import type { Stage } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };
const budget = 20_000;
const mostWait = { whole: 60_000, append: 60_000 };

async function another({ folder }: Stage, options: Partial<LinesOptions> = {}): Promise<Lines> {
  const store = await openStore(folder);
  const lines = await openLines({ secret, mostWait, budget, ...options, store });
  onTestFinished(async () => {
    await lines.close();
    await store.close();
  });
  return lines;
}

/** Waits until nobody holds the only session. */
async function released(stage: Stage): Promise<void> {
  const [info] = await stage.sessions();
  for (;;) {
    try {
      return await (await stage.store.lock({}, info!.metadata.uuid)).release();
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
  const other = await another(stage);
  const gateways = [stage.lines, other, stage.lines, other];
  const history = [user("Find the largest number in all files.")];
  const faults: string[][] = [];
  const notes: string[] = [];
  for (const [place, lines] of gateways.entries()) {
    if (place > 0) history.push(user(`Task ${place}.`));
    const run = await runAgent({ rounds: place === 0 ? 8 : 2, headers, lines: () => lines, history });
    faults.push(run.bodies.flatMap((body) => faultsOf(body)));
    notes.push(run.notes.at(-1)!);
  }
  expect(faults).toEqual(gateways.map(() => []));
  for (const note of notes) expect(note).toMatch(/^composed; epoch=[1-9]/);
  const found = (await stage.sessions()).map(({ metadata }) => metadata.forkedFrom?.uuid);
  expect(found).toEqual([undefined, (await stage.sessions())[0]!.metadata.uuid]);
});

test("a gateway knows the sessions that another one made since it began", async () => {
  const stage = await openStage({ budget });
  const other = await another(stage);
  // It has looked at the store before.
  await runAgent({ rounds: 0, task: "Something else.", lines: () => other });
  const { history } = await runAgent({ rounds: 8, headers: session, lines: () => stage.lines });
  await stage.lines.close();
  history.push(user("Go on."));
  const after = await runAgent({ rounds: 3, headers: session, lines: () => other, history });
  expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
  expect(after.notes[0]).toMatch(/^composed; epoch=[1-9]/);
  const found = await stage.sessions();
  expect(found.map(({ metadata }) => metadata.taskKey["session"])).toEqual([undefined, "session-1"]);
});

test(
  "a line that another gateway wrote on is read again by the very request that finds it so",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget, idleTimeout: 1 });
    const other = await another(stage, { idleTimeout: 1 });
    const history = [user("Find the largest number in all files.")];
    const faults: string[][] = [];
    for (const [place, lines] of [stage.lines, other, stage.lines, other].entries()) {
      if (place > 0) history.push(user(`Task ${place}.`));
      const run = await runAgent({ rounds: place === 0 ? 8 : 2, headers: session, lines: () => lines, history });
      faults.push(run.bodies.flatMap((body) => faultsOf(body)));
      for (const note of run.notes) expect(note).toMatch(/^composed/);
      await released(stage);
    }
    expect(faults.flat()).toEqual([]);
    expect(await stage.sessions()).toHaveLength(1);
  },
);

test("a session that is dated in the future hides none that another gateway makes", async () => {
  const stage = await openStage({ budget });
  const tomorrow = (): Date => new Date(Date.now() + 86_400_000);
  const wrong = await another(stage, { now: tomorrow });
  await runAgent({ rounds: 0, task: "An old one.", lines: () => wrong });
  await wrong.close();
  const [one, other] = [await another(stage), await another(stage)];
  await runAgent({ rounds: 0, task: "Its own.", lines: () => other });
  const { history } = await runAgent({ rounds: 1, task: "Shared.", lines: () => one });
  await one.close();
  history.push(user("Go on."));
  await runAgent({ rounds: 0, history, lines: () => other });
  const found = await Promise.all((await stage.sessions()).map(({ metadata }) => stage.messages(metadata.uuid)));
  expect(found.map(({ length }) => length).toSorted((left, right) => left - right)).toEqual([2, 2, 6]);
});

test("requests that begin with unknown answers do not each read which sessions there are", async () => {
  const inner = ramStore();
  let [lists, now] = [0, 1_000_000];
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== "list") return typeof value === "function" ? (value.bind(target) as unknown) : value;
      return (...given: Parameters<typeof inner.list>) => {
        lists++;
        now += 50;
        return inner.list(...given);
      };
    },
  });
  const options = { store, budget, now: () => new Date(now) };
  const stage = await openStage(options);
  const asked = async (lines: Lines, task: string): Promise<void> => {
    const shots = [user(`Is it ${task}?`), { role: "assistant", content: "Yes." }, user(task)];
    await runAgent({ rounds: 0, history: shots, lines: () => lines });
  };
  await asked(stage.lines, "First.");
  lists = 0;
  for (let at = 0; at < 20; at++) {
    await asked(stage.lines, `Case ${at}.`);
    now += 10;
  }
  expect(lists).toBeLessThan(3);
  const other = await openLines({ secret, mostWait, ...options });
  const { history } = await runAgent({ rounds: 1, task: "Shared.", lines: () => other });
  await other.close();
  now += 1_000;
  history.push(user("Go on."));
  await runAgent({ rounds: 0, history, lines: () => stage.lines });
  const found = await Promise.all((await stage.sessions()).map(({ metadata }) => stage.messages(metadata.uuid)));
  expect(Math.max(...found.map(({ length }) => length))).toBe(6);
});
