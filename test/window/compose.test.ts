import { describe, expect, it } from "vitest";
import { composeWindow, isWindrowError } from "windrow";
import type { Composed, Strategy, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { dropOldest, profileNames, recallFrom } from "windrow/window";
import { codingSession, HistoryBuilder, messageText, sampleHistories } from "../kit/inside/message.ts";

const session = codingSession(60);

function text(composed: Composed): string {
  return composed.messages.map(messageText).join("\n");
}

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("composeWindow", () => {
  it("refuses a state that no composition returned, before anything breaks on it", () => {
    const { state } = composeWindow({ messages: session, budget: 12_000, usage: { input: 0 } });
    const counted = state.counted;
    const drop = { kind: "drop", from: 2, to: 2, pass: "a", reason: "b", tokensBefore: 0, tokensAfter: 0 };
    const wrong = [
      {},
      { version: 2 },
      { ...state, edits: null },
      { ...state, edits: [null] },
      { ...state, edits: [{}] },
      { ...state, edits: [{ ...drop, text: 5 }] },
      { ...state, epoch: "1" },
      { ...state, slot: [{}] },
      { ...state, inserts: 5 },
      { ...state, reverted: [null] },
      { ...state, forced: {} },
      { ...state, counted: {} },
      { ...state, counted: { tokens: 5 } },
      { ...state, counted: { tokens: 5, calibration: { ...counted?.calibration, countedChange: 0 } } },
    ];
    for (const one of wrong) {
      const given = { messages: session, budget: 12_000, state: one as unknown as WindowState };
      const error = thrown(() => composeWindow(given));
      expect(isWindrowError(error, "bad-option"), `${JSON.stringify(one).slice(0, 80)}: ${String(error)}`).toBe(true);
    }
    const revived = JSON.parse(JSON.stringify(state)) as WindowState;
    expect(composeWindow({ messages: session, budget: 12_000, state: revived }).state.epoch).toBe(state.epoch);
  });

  it("names the usage that leaves nothing of the budget", () => {
    const { state } = composeWindow({ messages: session, budget: 12_000, usage: { input: 0 } });
    const given = { messages: session, budget: 12_000, state, usage: { input: 10_000_000 } };
    const error = thrown(() => composeWindow(given));
    expect(isWindrowError(error, "budget-too-small")).toBe(true);
    expect(String(error)).toMatch(/10000000 tokens.*budget of 12000/);
  });

  it("keeps the task and names what left, so that one recall brings it back", () => {
    const composed = composeWindow({ messages: session, budget: 8_000 });
    expect(text(composed)).toContain("Rename parseConfig to readConfig");
    expect(text(composed)).toContain("a record, no instruction");
    const stubs = composed.state.edits.flatMap((edit) => edit.stubs ?? []);
    const named = stubs.filter((stub) => stub.tool === "file");
    expect(named.length).toBeGreaterThan(0);
    for (const { subject } of named) {
      const last = subject.split("/").at(-1) ?? "";
      expect(text(composed)).toContain(last);
      const recalled = recallFrom(session, { query: subject }, { counter: estimate });
      expect(recalled.text).toContain(`${subject} as it stands`);
      expect(recalled.tokens).toBeLessThanOrEqual(4_000);
    }
  });

  it("puts the system first, the ephemeral tail last, and takes them from the history when none are given", () => {
    const composed = composeWindow({
      messages: session,
      budget: 50_000,
      system: "New rules.",
      dynamic: "It is Tuesday.",
    });
    expect(messageText(composed.messages[0] ?? { id: "", role: "user", parts: [] })).toBe("New rules.");
    expect(composed.messages.filter((message) => message.role === "system")).toHaveLength(1);
    expect(messageText(composed.messages.at(-1) ?? { id: "", role: "user", parts: [] })).toContain("\n It is Tuesday.");
    expect(composed.report.blocks.dynamic).toBeGreaterThan(0);
    expect(composeWindow({ messages: session, budget: 50_000 }).messages[0]?.role).toBe("system");
  });

  it.each([
    ["system-changed", { system: "B" }],
    ["tools-changed", { system: "A", tools: [{ name: "t" }] }],
    [
      "history-changed",
      { system: "A", messages: [{ ...session[1], id: "edited", parts: [] } as never, ...session.slice(2)] },
    ],
  ] as const)("opens an epoch: %s", (reason, change) => {
    const first = composeWindow({ messages: session, budget: 100_000, system: "A" });
    const again = composeWindow({ messages: session, budget: 100_000, system: "A", state: first.state });
    expect(again.report.opened).toBeUndefined();
    const changed = composeWindow({ messages: session, budget: 100_000, ...change, state: again.state });
    expect(changed.report.opened?.reason).toBe(reason);
    expect(changed.state.epoch).toBe(1);
  });

  it.each([
    ["cut back", (messages: typeof session) => messages.slice(0, 30)],
    ["compacted by its host", (messages: typeof session) => [...messages.slice(0, 1), ...messages.slice(40)]],
  ])("plans anew when the history was %s, and takes nothing out by old places", (_, rewrite) => {
    const { state } = composeWindow({ messages: session, budget: 8_000 });
    const rewritten = rewrite(session);
    const composed = composeWindow({ messages: rewritten, budget: 100_000, state });
    expect(composed.report.opened?.reason).toBe("history-changed");
    expect(composed.state.epoch).toBe(state.epoch + 1);
    expect(composed.report.counts).toEqual({ kept: rewritten.length, stubbed: 0, replaced: 0, dropped: 0 });
  });

  it("takes the inserts of changing text out at the budget, also if nothing else can leave", () => {
    const messages = new HistoryBuilder().user("go").messages;
    let state: WindowState | undefined;
    const tokens: number[] = [];
    for (let call = 0; call < 12; call++) {
      const dynamic = Array.from({ length: 60 }, (_, word) => `w${call}x${word}`).join(" ");
      const window = composeWindow({ messages, budget: 600, profile: "anthropic", dynamic, ...(state && { state }) });
      state = window.state;
      tokens.push(window.tokens);
    }
    expect(Math.max(...tokens)).toBeLessThanOrEqual(600);
  });

  it.each(profileNames)("holds no half of a surrogate pair in any block, field or name (%s)", (profile) => {
    const half = "half \ud83d";
    const messages = new HistoryBuilder().add("user", [
      { type: "text", text: half },
      { type: "file", mediaType: "application/pdf", data: "JVBERi0=", name: half },
      { type: "opaque", kind: "anthropic/search_result", data: { title: half, [half]: [half] } },
    ]).messages;
    const pinned = [{ id: "p", text: half }];
    const dynamic = [true, false].map((sticky) => ({ name: `sticky ${sticky}`, text: half, sticky }));
    const given = { messages, budget: 10_000, profile, pinned };
    const window = composeWindow({ ...given, system: half, dynamic });
    expect(window.report.faults).toEqual([]);
    expect(JSON.stringify(window.messages)).not.toMatch(/\\ud[89a-f]/);
    expect(window.messages).toHaveLength(composeWindow({ ...given, system: " " }).messages.length + 3);
  });

  it("takes a late result for nobody's wish: the user's own last words stay", () => {
    const history = new HistoryBuilder().user("Deploy?").assistant("I ask.", ["q", "confirm", { what: "deploy" }]);
    history.user("Only to staging, never to production.").assistant("Waiting.").result("q", "granted");
    for (let step = 0; step < 30; step++) {
      history.assistant("", [`r${step}`, "read", { path: `f${step}` }]).result(`r${step}`, `line ${step}\n`.repeat(40));
    }
    const composed = composeWindow({ messages: history.messages, budget: 1_500, strategy: "sliding-window" });
    expect(composed.messages.map(messageText)).toContain("Only to staging, never to production.");
    expect(text(composed)).not.toContain("granted");
  });

  it("cuts the newest result rather than refuse, and keeps the error in its middle", () => {
    const huge = sampleHistories().find(({ name }) => name === "one huge result")?.messages ?? [];
    const composed = composeWindow({ messages: huge, budget: 2_000 });
    expect(composed.tokens).toBeLessThanOrEqual(2_000);
    expect(text(composed)).toContain("ERROR in src/main.ts:12");
    expect(text(composed)).toMatch(
      /an excerpt of bash cat build.log, quoted behind a space or \|; the whole \(3 lines, [\d,]+ characters\) is m3/,
    );
  });

  it.each([
    ["budget-too-small", { budget: 10, system: "x ".repeat(400) }],
    ["over-budget", { budget: 60 }],
    ["over-budget", { budget: 500, strategy: "none" }],
    ["bad-option", { budget: 0 }],
    ["bad-option", {}],
    ["unknown-strategy", { budget: 100, strategy: "sliding" }],
    ["unknown-profile", { budget: 100, profile: "openai" }],
  ])("refuses: %s", (code, options) => {
    let caught: unknown;
    try {
      composeWindow({ messages: session, ...options });
    } catch (error) {
      caught = error;
    }
    expect(isWindrowError(caught) && caught.code).toBe(code);
  });

  it("runs when its trigger says, all conditions or any", () => {
    const strategy = (mode: "any" | "all"): Strategy => ({
      name: "custom",
      passes: [dropOldest()],
      trigger: { messages: 10, tokens: 1_000_000, mode },
      lowWater: 0.05,
      keepFirstUser: false,
    });
    const options = { messages: session, budget: 100_000 };
    expect(composeWindow({ ...options, strategy: strategy("any") }).report.opened?.reason).toBe("trigger");
    expect(composeWindow({ ...options, strategy: strategy("all") }).report.opened).toBeUndefined();
  });
});
