import { expect, test } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import type { Lines, Sending, WireRequest } from "windrow/gateway";
import { adaptive } from "windrow/window";
import type { JsonObject } from "../../kit/inside/message.ts";
import { ramStore } from "../../kit/inside/store.ts";
import { countMessages, loadCounter } from "./counting.ts";
import { faultsOf, runAgent } from "./agent.ts";
import { answered, bodyOf, exchange, openStage, requestOf, user } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };
const budget = 20_000;
const full = new WindrowError("not-durable", "No space left on the device.");

interface Failing extends Pick<Store, "append" | "create" | "lock" | "list" | "read"> {
  /** The methods that fail, and those that never end. */
  readonly fails: Set<string>;
  readonly hangs: Set<string>;
  readonly store: Store;
}

/** A call that never ends, or a list whose first item never comes. */
function hanging(isList: boolean): unknown {
  const never = new Promise<never>(() => undefined);
  return isList ? { [Symbol.asyncIterator]: () => ({ next: () => never }) } : never;
}

/** A store whose methods can be made to fail. */
function failing(): Pick<Failing, "fails" | "hangs" | "store"> {
  const inner = ramStore();
  const [fails, hangs] = [new Set<string>(), new Set<string>()];
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        if (hangs.has(String(name))) return hanging(name === "read" || name === "list");
        if (fails.has(String(name))) {
          if (name === "read" || name === "list") throw full;
          return Promise.reject(full);
        }
        return (value as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });
  return { fails, hangs, store };
}

test.each(["append", "create", "list", "setState"])(
  "a store whose %s fails: the client's bytes go on",
  async (method) => {
    const { store, fails } = failing();
    fails.add(method);
    const stage = await openStage({ store, budget });
    const request = requestOf(bodyOf([user("Go.")]), session);
    const sending = await exchange(stage.lines, request, answered("Gone."));
    expect(sending.body).toBe(request.call.body);
    fails.clear();
    const later = requestOf(bodyOf([user("Go."), { role: "assistant", content: "Gone." }, user("On.")]), session);
    const next = await exchange(stage.lines, later, answered("Went on."));
    expect(next.note).toMatch(/^composed; epoch=0/);
    const found = await stage.sessions();
    const messages = await Promise.all(found.map(({ metadata }) => stage.messages(metadata.uuid)));
    expect(messages.filter(({ length }) => length === 4)).toHaveLength(1);
  },
);

test.each(["append", "setState"])(
  "behind an epoch a store whose %s fails leaves the last window and the new tail",
  { tags: ["slow"] },
  async (method) => {
    const { store, fails } = failing();
    const stage = await openStage({ store, budget });
    const { history, notes } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
    expect(notes.at(-1)).toMatch(/epoch=[1-9]/);
    fails.add(method);
    history.push(user("Go on."));
    const rest = await runAgent({ rounds: 2, headers: session, lines: () => stage.lines, history });
    expect(rest.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect(rest.bodies[0]!.length).toBeLessThan(budget * 4);
    fails.clear();
    history.push(user("And further."));
    const after = await runAgent({ rounds: 4, headers: session, lines: () => stage.lines, history });
    expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect(after.notes.at(-1)).toMatch(/^composed/);
    expect((await stage.sessions()).map(({ metadata }) => metadata.forkedFrom)).toEqual([undefined]);
  },
);

test("a store that hangs holds no request up", async () => {
  const { store, hangs } = failing();
  const stage = await openStage({ store, budget, mostWait: { whole: 50, append: 20 } });
  hangs.add("append");
  const request = requestOf(bodyOf([user("Go.")]), session);
  const sending = await stage.lines.send(request, "tenant-a");
  expect(sending.body).toBe(request.call.body);
  expect(sending.note).toMatch(/^bypassed; reason=slow/);
  expect(stage.events).toMatchObject([{ type: "request-bypassed", reason: "slow" }]);
  // The append never ends, so closing would wait for it.
  stage.lines = { ...stage.lines, close: async () => undefined };
});

test(
  "a planner that throws leaves the client's bytes, and behind an epoch the last window",
  { tags: ["slow"] },
  async () => {
    let isBroken = true;
    const strategy = adaptive();
    const passes = strategy.passes.map((pass) => ({
      ...pass,
      *planning(...given: Parameters<NonNullable<typeof pass.planning>>) {
        if (isBroken) throw new Error("The planner is broken.");
        return yield* pass.planning!(...given);
      },
    }));
    const stage = await openStage({ budget, strategy: { ...strategy, passes } });
    const { history, bodies } = await runAgent({ rounds: 8, headers: session, lines: () => stage.lines });
    expect(bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect(stage.events).toMatchObject([{ type: "request-bypassed", reason: "error" }]);
    isBroken = false;
    history.push(user("Go on."));
    const planned = await runAgent({ rounds: 3, headers: session, lines: () => stage.lines, history });
    expect(planned.notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
    isBroken = true;
    history.push(user("Further."));
    const after = await runAgent({ rounds: 8, headers: session, lines: () => stage.lines, history });
    expect(after.notes.at(-1)).toMatch(/^bypassed; reason=error/);
    expect([...planned.bodies, ...after.bodies].flatMap((body) => faultsOf(body))).toEqual([]);
  },
);

test("a fork of a composed line that cannot be made in time stays in the budget", { tags: ["slow"] }, async () => {
  const { store, fails } = failing();
  const tokensOf = await loadCounter();
  const stage = await openStage({ store, budget });
  const { history, notes } = await runAgent({ rounds: 24, headers: session, lines: () => stage.lines });
  expect(notes.at(-1)).toMatch(/epoch=[1-9]/);
  // The client shortens an old result, so that no window of the line's is one of the request's.
  const [, , old] = history;
  history[2] = JSON.parse(JSON.stringify(old).replaceAll(/line \d+/g, "line")) as JsonObject;
  expect(history[2]).not.toEqual(old);
  history.push(user("Go on."));
  const request = requestOf(bodyOf(history), session);
  expect(countMessages(tokensOf, request.call.body)).toBeGreaterThan(budget);
  fails.add("create");
  const alone = await exchange(stage.lines, request, answered("Gone on."));
  expect(alone.note).toMatch(/^bypassed/);
  expect(countMessages(tokensOf, alone.body)).toBeLessThanOrEqual(budget);
  expect(alone.body.includes('"thinking"')).toBe(false);
  expect(faultsOf(alone.body)).toEqual([]);
  fails.clear();
  history.push({ role: "assistant", content: "Gone on." }, user("And further."));
  const after = await runAgent({ rounds: 4, headers: session, lines: () => stage.lines, history });
  expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
  expect(after.notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
});

test(
  "a line whose log cannot be read is sent without reasoning, and composed again later",
  { tags: ["slow"] },
  async () => {
    const { store, fails } = failing();
    const stage = await openStage({ store, budget });
    const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
    await stage.restart();
    fails.add("read");
    history.push(user("Go on."));
    const blind = await runAgent({ rounds: 1, headers: session, lines: () => stage.lines, history });
    expect(blind.bodies[0]!.includes('"thinking"')).toBe(false);
    expect(countMessages(await loadCounter(), blind.bodies[0]!)).toBeLessThanOrEqual(budget);
    fails.clear();
    history.push(user("And further."));
    const after = await runAgent({ rounds: 3, headers: session, lines: () => stage.lines, history });
    expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect(after.notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
  },
);

test("a session that another gateway writes goes on in a fork", async () => {
  const stage = await openStage({ budget });
  await exchange(stage.lines, requestOf(bodyOf([user("Go.")]), session), answered("Gone."));
  const { openLines } = await import("windrow/gateway");
  const { openStore } = await import("windrow/store");
  const { secret } = await import("./stage.ts");
  const store = await openStore(stage.folder);
  const other = await openLines({ store, secret, budget, mostWait: { whole: 60_000, append: 60_000 } });
  const request = requestOf(bodyOf([user("Go."), { role: "assistant", content: "Gone." }, user("On.")]), session);
  const sending = await exchange(other, request, answered("Went on."));
  expect(sending.body).toBe(request.call.body);
  expect(sending.note).toMatch(/^composed; epoch=0/);
  const [first, fork] = (await stage.sessions()).map(({ metadata }) => metadata);
  expect(fork?.forkedFrom).toEqual({ uuid: first?.uuid, at: 2 });
  expect(await stage.messages(fork!.uuid)).toHaveLength(4);
  await other.close();
  await store.close();
});

test.each(["list", "read", "append", "lock"])(
  "behind a restart a store whose %s hangs: what is sent fits the epochs of before, also where another request waits",
  { tags: ["slow"] },
  async (method) => {
    const { store, hangs } = failing();
    const stage = await openStage({ store, budget });
    const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
    await stage.lines.close();
    hangs.add(method);
    await stage.restart({ store, budget, mostWait: { whole: 50, append: 20 } });
    const asked = (text: string): WireRequest => requestOf(bodyOf([...history, user(text)]), session);
    const sent = await Promise.all(["Go on.", "Or else."].map((text) => stage.lines.send(asked(text), "tenant-a")));
    for (const { note, body } of sent) {
      expect(note).toMatch(/^bypassed; reason=slow/);
      expect(faultsOf(body)).toEqual([]);
    }
    // The call never ends, so closing would wait for it.
    stage.lines = { ...stage.lines, close: async () => undefined };
  },
);

test("a line without an epoch that was once sent without reasoning goes on with what fits that", async () => {
  const { store, hangs } = failing();
  const stage = await openStage({ store, budget: 200_000 });
  const { history } = await runAgent({ rounds: 4, headers: session, lines: () => stage.lines });
  await stage.lines.close();
  hangs.add("list");
  await stage.restart({ store, budget: 200_000, mostWait: { whole: 50, append: 20 } });
  const unkept: Lines = {
    ...stage.lines,
    send: async (...given) => Object.assign(await stage.lines.send(...given), { keep: async () => undefined }),
  };
  history.push(user("Go on."));
  const blind = await runAgent({ rounds: 1, headers: session, lines: () => unkept, history });
  expect(blind.bodies[0]!.includes('"thinking"')).toBe(false);
  hangs.clear();
  stage.lines = { ...stage.lines, close: async () => undefined };
  await stage.restart({ store, budget: 200_000 });
  history.push(user("And further."));
  const after = await runAgent({ rounds: 3, headers: session, lines: () => stage.lines, history });
  expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
  expect(after.bodies.at(-1)!.includes('"thinking"')).toBe(true);
});

test("a store that hangs holds few observed requests, and is told of once", async () => {
  const { store, hangs } = failing();
  let now = 0;
  const mostWait = { keep: 30 };
  const stage = await openStage({ store, mostWait, now: () => new Date(now) });
  const asked = (words: string): WireRequest => requestOf(bodyOf([user(words)]), session);
  await exchange(stage.lines, asked("Go."), answered("Gone."));
  hangs.add("append");
  const notes: string[] = [];
  for (let at = 0; at < 60; at++) {
    const sending = await stage.lines.send(asked(`Go ${at}.`), "tenant-a");
    expect(sending.body.toString()).toContain(`Go ${at}.`);
    notes.push(sending.note);
    void sending.keep(answered("Gone."));
    now += 5;
  }
  const refused = notes.filter((note) => note.startsWith("bypassed; reason=slow"));
  expect(refused.length).toBeGreaterThan(40);
  expect(stage.events).toMatchObject([{ type: "request-not-kept", reason: "slow" }]);
  // The call never ends, so closing would wait for it.
  stage.lines = { ...stage.lines, close: async () => undefined };
});

test("many requests of one name at once are all kept while the store answers", { tags: ["slow"] }, async () => {
  const stage = await openStage({});
  const sent = Array.from({ length: 40 }, (_, at) =>
    exchange(stage.lines, requestOf(bodyOf([user(`Go ${at}.`)]), session), answered("Gone.")),
  );
  const notes = (await Promise.all(sent)).map(({ note }) => note);
  expect(notes.filter((note) => note.startsWith("bypassed"))).toEqual([]);
  await stage.lines.close();
  expect(await stage.sessions()).toHaveLength(40);
  expect(stage.events).toEqual([]);
});

test("requests that wait for the store hold no more bytes than they may", async () => {
  const { store, hangs } = failing();
  const stage = await openStage({ store, mostWait: { keep: 30 }, mostWaiting: 100_000 });
  hangs.add("list");
  hangs.add("append");
  const bodies = Array.from({ length: 8 }, (_, at) => requestOf(bodyOf([user(`${at} ${"x".repeat(40_000)}`)])));
  const notes: string[] = [];
  for (const request of bodies) notes.push((await stage.lines.send(request, "tenant-a")).note);
  expect(notes.filter((note) => note.startsWith("bypassed; reason=slow")).length).toBeGreaterThan(4);
  stage.lines = { ...stage.lines, close: async () => undefined };
});

test("answers that wait for the store hold no more bytes than they may", async () => {
  const { store, hangs } = failing();
  const stage = await openStage({ store, mostWait: { keep: 30 }, mostWaiting: 100_000 });
  hangs.add("list");
  hangs.add("append");
  const send = (name: string, text: string): Promise<Sending> =>
    stage.lines.send(requestOf(bodyOf([user(text)]), { "x-claude-code-session-id": name }), "tenant-a");
  const large = "x".repeat(30_000);
  expect((await send("first", large)).note).toMatch(/^observed/);
  for (let at = 0; at < 8; at++) {
    const sending = await send(`session-${at}`, "Go.");
    void sending.keep(answered("x".repeat(40_000)));
  }
  expect((await send("last", large)).note).toMatch(/^bypassed; reason=slow/);
  stage.lines = { ...stage.lines, close: async () => undefined };
});
