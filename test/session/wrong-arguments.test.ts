/** Arguments of a session's methods as untyped hosts hand them over: refused before anything is written. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWindrowError, SessionManager } from "windrow";
import type { Session } from "windrow";
import type { ModelAnswer } from "windrow/model";
import { ramStore } from "../kit/inside/store.ts";
import { answered, asked } from "../kit/sessions.ts";

/** A session's methods, as a program without types sees them. */
type Untyped = Record<
  "finish" | "endStep" | "startTool" | "recall" | "pin",
  (...given: readonly unknown[]) => Promise<unknown>
>;

let manager: SessionManager;
let session: Session;
let untyped: Untyped;

beforeEach(async () => {
  manager = await SessionManager.open({ store: "ram:", budget: 10_000 });
  session = await manager.create();
  await session.append(asked("Hi"));
  untyped = session as unknown as Untyped;
});

afterEach(() => manager.close());

const refused = (option: string): object => ({
  code: "bad-option",
  data: expect.objectContaining({ option }) as object,
});

it.each([["zzz"], [Number.NaN], [-1], [null], [{}], ["processing"]])(
  "finish and destroy refuse the status %o, and the session goes on",
  async (status) => {
    await expect(untyped.finish(status)).rejects.toMatchObject(refused("status"));
    await expect(manager.destroy(session.id, status as "failed")).rejects.toMatchObject(refused("status"));
    await session.append(asked("still here"));
    await session.finish("failed", "boom");
    expect((await manager.info(session.id)).state).toMatchObject({ status: "failed", error: "boom" });
  },
);

it("finish asks for a status", async () => {
  await expect(untyped.finish()).rejects.toMatchObject(refused("status"));
});

it.each([[{ a: 1 }], [5], [true]])("finish refuses the error %o", async (error) => {
  await expect(untyped.finish("failed", error)).rejects.toMatchObject(refused("error"));
});

it.each([
  ["a text", "6"],
  ["a number", -1],
  ["null", null],
  ["a count that is a text", { input: "100" }],
  ["NaN", { input: Number.NaN }],
  ["less than nothing", { output: -5 }],
  ["an unknown count", { inputs: 5 }],
])("endStep refuses as usage %s, and counts nothing", async (_name, usage) => {
  await expect(untyped.endStep({ usage })).rejects.toMatchObject(refused("usage"));
  expect(session.stats().state).toMatchObject({ llmCallCount: 0, totalTokensUsed: 0 });
});

it("a promise that nobody awaited is refused as one, as usage and as options", async () => {
  const late = Promise.resolve({ input: 5 });
  const message = expect.stringContaining("not a promise: await it first") as string;
  await expect(untyped.endStep({ usage: late })).rejects.toMatchObject({ ...refused("usage"), message });
  const open = SessionManager.open(Promise.resolve({ store: "ram:" }) as never);
  await expect(open).rejects.toMatchObject({ code: "bad-option", message });
  await expect(manager.create(Promise.resolve({}) as never)).rejects.toMatchObject({ code: "bad-option", message });
});

it("endStep refuses other options by name and by value", async () => {
  await expect(untyped.endStep({ model: 5 })).rejects.toMatchObject(refused("model"));
  await expect(untyped.endStep({ error: "x" })).rejects.toMatchObject(refused("error"));
});

it.each([[null], [5], [{}], [{ name: 5, args: {} }], [{ callId: 7, name: "x", args: {} }]])(
  "startTool refuses the call %o",
  async (call) => {
    await expect(untyped.startTool(call)).rejects.toMatchObject({ code: "bad-option" });
    expect(await session.inDoubt()).toEqual([]);
  },
);

it("recall, pin and snapshot refuse what is no object of options", async () => {
  for (const value of [null, 5, "x", []]) {
    await expect(untyped.recall(value)).rejects.toMatchObject({ code: "bad-option" });
    await expect(untyped.pin("x", value)).rejects.toMatchObject({ code: "bad-option" });
    await expect(session.snapshot.update(value as object)).rejects.toMatchObject({ code: "bad-option" });
  }
  await expect(untyped.recall({ query: "x" }, { maxTokens: "5" })).rejects.toMatchObject(refused("maxTokens"));
});

describe("the result of a run", () => {
  it.each([
    [{ output: "ok" }, '{"output":"ok"}'],
    [{ role: "admin", name: "Ann" }, '{"role":"admin","name":"Ann"}'],
    [5, "5"],
    [true, "true"],
    [null, "null"],
    [[1, 2], "[1,2]"],
  ])("may be the JSON value %o", async (result, text) => {
    const run = await session.startTool({ name: "look", args: {} });
    const { parts } = await run.finish(result);
    expect(parts).toMatchObject([{ type: "tool-result", callId: run.callId, name: "look", content: text }]);
    expect(await session.inDoubt()).toEqual([]);
  });

  it("has a time that is a number", async () => {
    const run = await session.startTool({ name: "look", args: {} });
    await expect(run.finish("ok", { durationMs: Number.NaN })).rejects.toMatchObject(refused("durationMs"));
    await run.finish("ok", { durationMs: 3 });
    expect(session.stats().state.toolCallCount).toBe(1);
  });
});

describe("a summarizer's answer", () => {
  const messages = async (answer: unknown): Promise<Session> => {
    const store = ramStore();
    const summarizer = async (): Promise<ModelAnswer> => answer as ModelAnswer;
    const options = { store, budget: 1_000, strategy: "coding-agent", compaction: "blocking", summarizer } as const;
    const made = await (await SessionManager.open(options)).create();
    for (let at = 0; at < 16; at++) {
      await made.append(asked("u".repeat(300)));
      await made.prepare();
      await made.compose();
      await made.append(answered("a"));
      await made.endStep({ usage: { input: 100, output: 1 } });
    }
    return made;
  };

  it.each([
    [{ input: "500", output: Number.NaN }],
    [{ input: -500 }],
    [null],
    [undefined],
    ["none"],
    [{ prompt_tokens: 5 }],
  ])("costs nothing where its usage is %o", async (usage) => {
    const { state } = (await messages({ text: "All well.", finish: "stop", usage })).stats();
    expect(state.compressionCount).toBeGreaterThan(0);
    expect(state.totalTokensUsed).toBe(16 * 101);
  });

  it.each([[undefined], [5], [{ text: 5, finish: "stop" }], [{ content: "All well." }]])(
    "is a failure where it is %o",
    async (answer) => {
      const made = await messages(answer);
      expect(made.stats().state.compressionCount).toBe(0);
      expect(made.stats().breaker.failures).toBeGreaterThan(0);
    },
  );
});

it("state.json never holds a word or a number that doctor would call damage", async () => {
  const folder = await mkdtemp(join(tmpdir(), "windrow-arguments-"));
  const files = await SessionManager.open({ store: folder, budget: 1_000 });
  const made = await files.create();
  const host = made as unknown as Untyped;
  await host.endStep({ usage: { input: "5" } }).catch(() => undefined);
  await host.finish("zzz").catch(() => undefined);
  await made.endStep({ usage: { input: 5 } });
  const text = await readFile(join(folder, "running", made.id, "state.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ status: "processing", total_tokens_used: 5 });
  await files.close();
  await rm(folder, { recursive: true });
});

/** Values of every type, as a program without types hands them over. */
const anything: readonly unknown[] = [
  ...[null, undefined, 5, Number.NaN, true, "x", "", Symbol("x"), () => undefined, {}, [], [null], { a: null }],
];

/** Each method, called with a value in the place of each of its arguments. */
const callsOf: Readonly<Record<string, (session: Session, value: never) => unknown>> = {
  "append": (session, value) => session.append(value),
  "append of a list": (session, value) => session.append([value]),
  "append of parts": (session, value) => session.append({ role: "user", parts: value }),
  "append of a part": (session, value) => session.append({ role: "user", parts: [value] }),
  "append's signal": (session, value) => session.append(asked("x"), value),
  "compose": (session, value) => session.compose(value),
  "compose's signal": (session, value) => session.compose({}, value),
  "prepare": (session, value) => session.prepare(value),
  "compact": (session, value) => session.compact(value),
  "startTool": (session, value) => session.startTool(value),
  "startTool's options": (session, value) => session.startTool({ name: "x", args: {} }, value),
  "pin": (session, value) => session.pin(value),
  "pin's options": (session, value) => session.pin("x", value),
  "pins.remove": (session, value) => session.pins.remove(value),
  "goal.set": (session, value) => session.goal.set(value),
  "snapshot.update": (session, value) => session.snapshot.update(value),
  "records.append": (session, value) => session.records.append(value, {}),
  "records.append's data": (session, value) => session.records.append("own", value),
  "records.read": async (session, value) => {
    for await (const _ of session.records.read(value));
  },
  "endStep": (session, value) => session.endStep(value),
  "endStep's signal": (session, value) => session.endStep({}, value),
  "recall": (session, value) => session.recall(value),
  "recall's options": (session, value) => session.recall({ query: "x" }, value),
  "recall's signal": (session, value) => session.recall({ query: "x" }, {}, value),
  "explain": (session, value) => session.explain(value),
  "explain's epoch": (session, value) => session.explain({ epoch: value }),
  "diff": (session, value) => session.diff(value),
  "diff's second": (session, value) => session.diff(0, value),
  "messages": async (session, value) => {
    for await (const _ of session.messages(value));
  },
  "messages' from": async (session, value) => {
    for await (const _ of session.messages({ from: value }));
  },
  "finish": (session, value) => session.finish(value),
  "finish's error": (session, value) => session.finish("failed", value),
  "manager.create": (_session, value) => manager.create(value),
  "manager.resume": (_session, value) => manager.resume(value),
  "manager.resume's options": (session, value) => manager.resume(session.id, value),
  "manager.fork": (_session, value) => manager.fork(value),
  "manager.fork's options": (session, value) => manager.fork(session.id, value),
  "manager.session": (_session, value) => manager.session(value),
  "manager.destroy": (_session, value) => manager.destroy(value),
  "manager.info": (_session, value) => manager.info(value),
  "manager.list": async (_session, value) => {
    for await (const _ of manager.list(value));
  },
};

describe.each(Object.entries(callsOf))("%s", (_name, call) => {
  it.each(anything.map((value) => [value]))("takes %o, or refuses it with a code", async (value) => {
    const outcome: unknown = await (async () => call(session, value as never))().catch((error: unknown) => error);
    const raw = outcome instanceof Error && !isWindrowError(outcome) ? outcome : undefined;
    expect(raw).toBeUndefined();
  });
});
