/** Arguments of a session's methods as untyped hosts hand them over: refused before anything is written. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWindrowError, SessionManager } from "windrow";
import type { Session } from "windrow";
import type { ModelAnswer } from "windrow/model";
import { ramStore } from "../kit/inside/store.ts";
import { answered, asked, listed } from "../kit/sessions.ts";

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

/** Calls with a wrong argument, and the option that is refused. */
const wrong: readonly (readonly [method: keyof Untyped, given: readonly unknown[], option?: string])[] = [
  ["finish", [], "status"],
  ...["zzz", Number.NaN, -1, null, {}, "processing"].map((status) => ["finish", [status], "status"] as const),
  ...[{ a: 1 }, 5, true].map((error) => ["finish", ["failed", error], "error"] as const),
  ...["6", -1, null, { input: "100" }, { input: Number.NaN }, { output: -5 }, { inputs: 5 }].map(
    (usage) => ["endStep", [{ usage }], "usage"] as const,
  ),
  ["endStep", [{ model: 5 }], "model"],
  ["endStep", [{ error: "x" }], "error"],
  ...[null, 5, {}, { name: 5, args: {} }, { callId: 7, name: "x", args: {} }].map(
    (call) => ["startTool", [call]] as const,
  ),
  ...[null, 5, "x", []].flatMap((value) => [["recall", [value]] as const, ["pin", ["x", value]] as const]),
  ["recall", [{ query: "x" }, { maxTokens: "5" }], "maxTokens"],
];

const rows = wrong.map(([method, given, option]) => ({ method, given, option }));
it.each(rows)("$method refuses $given, changes nothing, and the session goes on", async ({ method, given, option }) => {
  const told = { code: "bad-option", ...(option !== undefined && { data: { option } }) };
  await expect(untyped[method](...given)).rejects.toMatchObject(told);
  expect(await session.inDoubt()).toEqual([]);
  expect(session.stats().state).toMatchObject({ llmCallCount: 0, totalTokensUsed: 0 });
  await session.append(asked("still here"));
});

it("destroy refuses a status that no end has", async () => {
  const destroyed = manager.destroy(session.id, "zzz" as "failed");
  await expect(destroyed).rejects.toMatchObject({ code: "bad-option", data: { option: "status" } });
  await manager.destroy(session.id, "failed", "boom");
  expect((await manager.info(session.id)).state).toMatchObject({ status: "failed", error: "boom" });
});

it("a promise that nobody awaited is refused as one, as usage and as options", async () => {
  const told = { code: "bad-option", message: expect.stringContaining("not a promise: await it first") as string };
  await expect(untyped.endStep({ usage: Promise.resolve({ input: 5 }) })).rejects.toMatchObject(told);
  await expect(SessionManager.open(Promise.resolve({ store: "ram:" }) as never)).rejects.toMatchObject(told);
  await expect(manager.create(Promise.resolve({}) as never)).rejects.toMatchObject(told);
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
    await expect(run.finish("ok", { durationMs: Number.NaN })).rejects.toMatchObject({
      data: { option: "durationMs" },
    });
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
});

const circle: Record<string, unknown> = {};
circle["self"] = circle;
let deep: unknown = "x";
for (let level = 0; level < 50_000; level++) deep = [deep];

/** Values of every type, as a program without types hands them over, and those that JSON cannot carry. */
const anything: readonly unknown[] = [
  ...[null, undefined, 5, Number.NaN, true, "x", "", Symbol("x"), () => undefined, {}, [], [null], { a: null }],
  circle,
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
  "pin's end": (session, value) => session.pin("x", { until: value }),
  "pins.remove": (session, value) => session.pins.remove(value),
  "goal.set": (session, value) => session.goal.set(value),
  "snapshot.update": (session, value) => session.snapshot.update(value),
  "records.append": (session, value) => session.records.append(value, {}),
  "records.append's data": (session, value) => session.records.append("own", value),
  "records.read": (session, value) => listed(session.records.read(value)),
  "endStep": (session, value) => session.endStep(value),
  "endStep's signal": (session, value) => session.endStep({}, value),
  "recall": (session, value) => session.recall(value),
  "recall's id": (session, value) => session.recall({ id: value }),
  "recall's query": (session, value) => session.recall({ query: value }),
  "recall's options": (session, value) => session.recall({ query: "x" }, value),
  "recall's signal": (session, value) => session.recall({ query: "x" }, {}, value),
  "explain": (session, value) => session.explain(value),
  "explain's epoch": (session, value) => session.explain({ epoch: value }),
  "messages": (session, value) => listed(session.messages(value)),
  "messages' from": (session, value) => listed(session.messages({ from: value })),
  "finish": (session, value) => session.finish(value),
  "finish's error": (session, value) => session.finish("failed", value),
  "manager.create": (_session, value) => manager.create(value),
  "manager.create's id": (_session, value) => manager.create({ id: value }),
  "manager.resume": (_session, value) => manager.resume(value),
  "manager.resume's options": (session, value) => manager.resume(session.id, value),
  "manager.fork": (_session, value) => manager.fork(value),
  "manager.fork's options": (session, value) => manager.fork(session.id, value),
  "manager.session": (_session, value) => manager.session(value),
  "manager.destroy": (_session, value) => manager.destroy(value),
  "manager.info": (_session, value) => manager.info(value),
  "manager.list": (_session, value) => listed(manager.list(value)),
};

it.each(Object.entries(callsOf))("%s takes any value, or refuses it with a code", async (_name, call) => {
  for (const value of anything) {
    const made = await manager.create();
    const outcome: unknown = await (async () => call(made, value as never))().catch((error: unknown) => error);
    expect(outcome instanceof Error && !isWindrowError(outcome) ? [typeof value, outcome] : undefined).toBeUndefined();
  }
});

it.each(["pin", "pin's end", "goal.set", "recall's id", "recall's query", "manager.create's id", "manager.resume"])(
  "%s refuses a list that is too deep for JSON",
  async (name) => {
    const outcome = (async () => callsOf[name]?.(session, deep as never))();
    await expect(outcome).rejects.toMatchObject({ code: expect.stringMatching(/^(bad-option|session-id-invalid)$/) });
  },
);
