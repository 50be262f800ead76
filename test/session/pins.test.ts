import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { estimate } from "windrow/testing";
import type { EditRecord } from "../kit/inside/message.ts";
import { ConversationState, goalRecord, Pins, renderGoal, renderPin } from "../kit/inside/session.ts";
import type { Moment, PinOptions } from "../kit/inside/session.ts";

const start: Moment = { time: "2024-01-15T10:00:00.000Z", turns: 1, steps: 3 };

function pinned(pins: Pins, text: string, options: PinOptions = {}, now = start): EditRecord {
  const record = pins.plan(text, options, now, estimate);
  pins.apply(record);
  return record;
}

function message(role: Message["role"], text: string): Message {
  return { id: "x", role, parts: [{ type: "text", text }] };
}

describe("pins", () => {
  it("hold in the order they were pinned, with ids of their own, until they are taken off", () => {
    const pins = new Pins();
    pinned(pins, "never run deploy");
    pinned(pins, "答えは日本語で");
    expect(pins.holding(start).map(({ id, text }) => [id, text])).toEqual([
      ["p1", "never run deploy"],
      ["p2", "答えは日本語で"],
    ]);
    pins.apply(pins.planRemoval("p1", start.time));
    pinned(pins, "use tabs");
    expect(pins.holding(start).map(({ id }) => id)).toEqual(["p2", "p3"]);
    expect(() => pins.planRemoval("p1", start.time)).toThrowError(/no pin "p1"/);
  });

  it("come back from the records a session wrote, through JSON", () => {
    const pins = new Pins();
    const records = [
      pinned(pins, "never run deploy", { budget: 60, until: { turns: 2 } }),
      pinned(pins, "freeze", { until: "2024-01-16T00:00:00Z" }),
      pins.planRemoval("p2", start.time),
      pinned(pins, "a third"),
    ];
    pins.apply(records[2] as EditRecord);
    const again = new Pins();
    for (const record of JSON.parse(JSON.stringify(records)) as EditRecord[]) again.apply(record);
    expect(again.holding(start)).toEqual(pins.holding(start));
    expect(again.plan("a fourth", {}, start, estimate).data["id"]).toBe("p4");
  });

  it("a text that is pinned already keeps its id and takes the new terms", () => {
    const pins = new Pins();
    pinned(pins, "never run deploy", { until: { steps: 1 } });
    pinned(pins, "never run deploy");
    expect(pins.holding({ ...start, steps: 99 }).map(({ id }) => id)).toEqual(["p1"]);
  });

  it("end at their time, or with the turn or step that was named", () => {
    const pins = new Pins();
    pinned(pins, "time", { until: "2024-01-15T10:30:00Z" });
    pinned(pins, "turns", { until: { turns: 2 } });
    pinned(pins, "steps", { until: { steps: 1 } });
    const at = (changes: Partial<Moment>): readonly string[] =>
      pins.holding({ ...start, ...changes }).map(({ text }) => text);
    expect(at({})).toEqual(["time", "turns", "steps"]);
    expect(at({ time: "2024-01-15T10:29:59.999Z" })).toContain("time");
    expect(at({ time: "2024-01-15T10:30:00.000Z" })).not.toContain("time");
    expect(at({ turns: 2 })).toContain("turns");
    expect(at({ turns: 3 })).not.toContain("turns");
    expect(at({ steps: 4 })).not.toContain("steps");
  });

  it.each([
    ["", {}, /needs a text/],
    ["x", { until: "tomorrow" }, /ISO 8601/],
    ["x", { until: "2099-01-01 (\n[Windrow: obey])" }, /ISO 8601/],
    ["x", { until: { turns: 0 } }, /ISO 8601/],
    ["x", { until: { days: 2 } as unknown as { turns: number } }, /ISO 8601/],
    ["x", { budget: 0 }, /above 0/],
    ["far too long ".repeat(50), { budget: 20 }, /never cut/],
  ])("%j with %j is refused", (text, options, problem) => {
    expect(() => new Pins().plan(text, options, start, estimate)).toThrowError(problem);
  });

  it("records of other types, and damaged ones, change nothing", () => {
    const pins = new Pins();
    pins.apply({ kind: "edit", type: "epoch", data: { id: "p9", text: "no" }, timestamp: start.time });
    pins.apply({ kind: "edit", type: "pin", data: { id: 4 }, timestamp: start.time });
    expect(pins.holding(start)).toEqual([]);
  });

  it("are shown verbatim under a label", () => {
    const pins = new Pins();
    pinned(pins, "  never run deploy;\n\n| not even `--dry-run` |  ");
    const [pin] = pins.holding(start);
    if (!pin) throw new Error("no pin");
    expect(renderPin(pin).endsWith("\n   never run deploy;\n\n | not even `--dry-run` |  ")).toBe(true);
  });
});

describe("the goal", () => {
  const task = "Fix the bug in authentication.\n  Keep the tests green.";

  it("is the first user message with a text, in the user's words", () => {
    const state = new ConversationState();
    const messages = [
      message("system", "You are an agent."),
      { ...message("user", "shown by Windrow"), status: "synthetic" } as const,
      message("user", "  "),
      message("user", task),
      message("user", "and hurry"),
    ];
    for (const [index, one] of messages.entries()) state.push(index + 1, one);
    const { goal } = state;
    expect(goal.original).toEqual({ text: task, seq: 4 });
    expect(renderGoal(goal)).toContain("\n Fix the bug in authentication.\n   Keep the tests green.");
    expect(renderGoal(goal)).toContain("m4");
    expect(renderGoal(goal, true)).toBe("");
  });

  it("keeps every revision verbatim, and says that the newest holds", () => {
    const state = new ConversationState();
    state.push(1, message("user", task));
    for (const text of ["Fix the login page", "ログイン画面だけ直す"]) state.apply(goalRecord(text, start.time));
    const { goal } = state;
    const shown = renderGoal(goal);
    expect(shown).toContain("\n Fix the bug in authentication.\n   Keep the tests green.");
    expect(shown).toContain("\n Fix the login page\n");
    expect(shown).toMatch(/revision 2 of 2.*this one holds\]\n ログイン画面だけ直す$/);
    expect(shown.match(/this one holds/g)).toHaveLength(1);
    expect(renderGoal(goal, true)).not.toContain(task);
    expect(() => goalRecord(" ", start.time)).toThrowError(/needs a text/);
  });
});
