import { expect, test } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import type { Lines, LinesOptions } from "windrow/gateway";
import { adaptive } from "windrow/window";
import type { JsonObject } from "../../kit/inside/message.ts";
import { tokensOf } from "./counting.ts";
import { faultsOf, goOn, work } from "./agent.ts";
import { answered, assistant, named, openStage, storeWith, user } from "./stage.ts";
import type { Stage } from "./stage.ts";

const budget = 20_000;
const slow = { tags: ["slow"] };
/** Waits that are over at once. */
const hasty = { whole: 50, append: 20 };
const gone = [user("Go."), assistant("Gone."), user("On.")];
const full = new WindrowError("not-durable", "No space left on the device.");
const never = new Promise<never>(() => undefined);

interface Failing {
  /** The methods of the store that fail, and those that never end. */
  readonly fails: Set<string>;
  readonly hangs: Set<string>;
  readonly stage: Stage;
}

/** A stage whose store can be made to fail. */
async function failing(options: Partial<LinesOptions> = {}, failed: readonly string[] = []): Promise<Failing> {
  const [fails, hangs] = [new Set<string>(failed), new Set<string>()];
  const store = storeWith((inner, name) => {
    const isList = name === "read" || name === "list";
    const value = inner[name as keyof Store];
    if (typeof value !== "function") return value;
    return (...given: unknown[]): unknown => {
      if (hangs.has(name)) return isList ? { [Symbol.asyncIterator]: () => ({ next: () => never }) } : never;
      if (!fails.has(name)) return (value as (...given: unknown[]) => unknown).apply(inner, given);
      if (isList) throw full;
      return Promise.reject(full);
    };
  });
  return { fails, hangs, stage: await openStage({ store, ...options }) };
}

/** Leaves lines open whose calls never end, so that closing would wait for them. */
const abandon = (stage: Stage): void => void (stage.lines = { ...stage.lines, close: async () => undefined });

test.each(["append", "create", "list", "setState"])(
  "a store whose %s fails: the client's bytes go on",
  async (method) => {
    const { stage, fails } = await failing({ budget }, [method]);
    const sending = await stage.exchange(gone.slice(0, 1), "Gone.");
    expect(sending.body).toBe(sending.raw);
    fails.clear();
    const next = await stage.exchange(gone, "Went on.");
    expect(next.note).toMatch(/^composed; epoch=0/);
    expect((await stage.lengths()).filter((length) => length === 4)).toHaveLength(1);
  },
);

test.each(["append", "setState"])("an epoch outlives a store whose %s fails", slow, async (method) => {
  const { stage, fails } = await failing({ budget });
  const { history, notes } = await work(stage, 12);
  expect(notes.at(-1)).toMatch(/epoch=[1-9]/);
  fails.add(method);
  const rest = await goOn(stage, history, 2);
  expect(rest.bodies[0]!.length).toBeLessThan(budget * 4);
  fails.clear();
  const after = await goOn(stage, history, 4);
  expect(after.notes.at(-1)).toMatch(/^composed/);
  expect((await stage.sessions()).map(({ metadata }) => metadata.forkedFrom)).toEqual([undefined]);
});

test("a store that hangs holds no request up", async () => {
  const { stage, hangs } = await failing({ budget, mostWait: hasty });
  hangs.add("append");
  const sending = await stage.send(gone.slice(0, 1));
  expect(sending.body).toBe(sending.raw);
  expect(sending.note).toMatch(/^bypassed; reason=slow/);
  expect(stage.events).toMatchObject([{ type: "request-bypassed", reason: "slow" }]);
  abandon(stage);
});

test("a pass that throws changes nothing, and the window stays in the budget", slow, async () => {
  const pass = {
    name: "broken",
    plan: () => {
      throw new Error("The pass is broken.");
    },
  };
  const stage = await openStage({ budget, strategy: { ...adaptive(), passes: [pass] } });
  const { notes, bodies } = await work(stage, 24);
  expect(notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
  expect(tokensOf(bodies.at(-1)!)).toBeLessThanOrEqual(budget);
});

test("a fork of a composed line that cannot be made in time stays in the budget", slow, async () => {
  const { stage, fails } = await failing({ budget });
  const { history, notes } = await work(stage, 24);
  expect(notes.at(-1)).toMatch(/epoch=[1-9]/);
  // The client shortens an old result, so that no window of the line's is one of the request's.
  const old = history[2];
  history[2] = JSON.parse(JSON.stringify(old).replaceAll(/line \d+/g, "line")) as JsonObject;
  expect(history[2]).not.toEqual(old);
  history.push(user("Go on."));
  fails.add("create");
  const alone = await stage.exchange(history, "Gone on.");
  expect(tokensOf(alone.raw)).toBeGreaterThan(budget);
  expect(alone.note).toMatch(/^bypassed/);
  expect(tokensOf(alone.body)).toBeLessThanOrEqual(budget);
  expect(alone.body.includes('"thinking"')).toBe(false);
  expect(faultsOf(alone.body)).toEqual([]);
  fails.clear();
  history.push(assistant("Gone on."));
  const after = await goOn(stage, history, 4);
  expect(after.notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
});

test("a line whose log cannot be read is sent without reasoning, and composed again later", slow, async () => {
  const { stage, fails } = await failing({ budget });
  const { history } = await work(stage, 12);
  await stage.restart();
  fails.add("read");
  const blind = await goOn(stage, history, 1);
  expect(blind.bodies[0]!.includes('"thinking"')).toBe(false);
  expect(tokensOf(blind.bodies[0]!)).toBeLessThanOrEqual(budget);
  fails.clear();
  const after = await goOn(stage, history, 3);
  expect(after.notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
});

test.each(["list", "read", "append", "lock"])(
  "behind a restart a store whose %s hangs: what is sent fits the epochs of before, for two requests at once",
  slow,
  async (method) => {
    const { stage, hangs } = await failing({ budget });
    const { history } = await work(stage, 12);
    await stage.lines.close();
    hangs.add(method);
    await stage.restart({ store: stage.store, budget, mostWait: hasty });
    const sent = await Promise.all(["Go on.", "Or else."].map((text) => stage.send([...history, user(text)])));
    for (const { note, body } of sent) {
      expect(note).toMatch(/^bypassed; reason=slow/);
      expect(faultsOf(body)).toEqual([]);
    }
    abandon(stage);
  },
);

test("a line without an epoch that was once sent without reasoning goes on with what fits that", async () => {
  const { stage, hangs } = await failing({ budget: 200_000 });
  const { store } = stage;
  const { history } = await work(stage, 4);
  await stage.lines.close();
  hangs.add("list");
  await stage.restart({ store, budget: 200_000, mostWait: hasty });
  const unkept: Lines = {
    ...stage.lines,
    send: async (...given) => Object.assign(await stage.lines.send(...given), { keep: async () => undefined }),
  };
  const blind = await goOn(stage, history, 1, { lines: () => unkept });
  expect(blind.bodies[0]!.includes('"thinking"')).toBe(false);
  hangs.clear();
  abandon(stage);
  await stage.restart({ store, budget: 200_000 });
  const after = await goOn(stage, history, 3);
  expect(after.bodies.at(-1)!.includes('"thinking"')).toBe(true);
});

test("a store that hangs holds few observed requests, and is told of once", async () => {
  let now = 0;
  const { stage, hangs } = await failing({ mostWait: { keep: 30 }, now: () => new Date(now) });
  await stage.exchange(gone.slice(0, 1), "Gone.");
  hangs.add("append");
  const notes: string[] = [];
  for (let at = 0; at < 60; at++, now += 5) {
    const sending = await stage.send([user(`Go ${at}.`)]);
    expect(sending.body).toBe(sending.raw);
    notes.push(sending.note);
    void sending.keep(answered("Gone."));
  }
  expect(notes.filter((note) => note.startsWith("bypassed; reason=slow")).length).toBeGreaterThan(40);
  expect(stage.events).toMatchObject([{ type: "request-not-kept", reason: "slow" }]);
  abandon(stage);
});

test("many requests of one name at once are all kept while the store answers", slow, async () => {
  const stage = await openStage({});
  const sent = Array.from({ length: 40 }, (_, at) => stage.exchange([user(`Go ${at}.`)], "Gone."));
  const notes = (await Promise.all(sent)).map(({ note }) => note);
  expect(notes.filter((note) => note.startsWith("bypassed"))).toEqual([]);
  await stage.lines.close();
  expect(await stage.sessions()).toHaveLength(40);
  expect(stage.events).toEqual([]);
});

test.each(["requests", "answers"])("%s that wait for the store hold no more bytes than they may", async (kind) => {
  const { stage, hangs } = await failing({ mostWait: { keep: 30 }, mostWaiting: 100_000 });
  hangs.add("list").add("append");
  const large = "x".repeat(40_000);
  const notes: string[] = [];
  for (let at = 0; at < 8; at++) {
    const sending = await stage.send([user(kind === "requests" ? large : "Go.")], { headers: named(`session-${at}`) });
    notes.push(sending.note);
    if (kind === "answers") void sending.keep(answered(large));
  }
  expect(notes[0]).toMatch(/^observed/);
  const last = await stage.send([user(large)], { headers: named("last") });
  expect(last.note).toMatch(/^bypassed; reason=slow/);
  abandon(stage);
});
