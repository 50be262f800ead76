/** Windows under the budget "auto": they begin small, grow where calls come back to what left them, and shrink again. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeWindow, isWindrowError, SessionManager } from "windrow";
import type { Composed, ManagerOptions, Message, WindowState } from "windrow";
import { strategyOf } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { composeStored } from "../kit/inside/ops.ts";
import { runs } from "../kit/runs.ts";
import { ramStore } from "../kit/inside/store.ts";
import { newFolder, openManager } from "../kit/sessions.ts";

const model = { contextWindow: 100_000, maxOutput: 8_000 };
/** Three quarters of the model's window. */
const most = 75_000;
const floor = 2_000;
const auto = { strategy: { use: "adaptive", floor }, budget: "auto", model } as const;

type Call = "reads" | "reads again" | "names" | "recalls";

interface Step {
  readonly call: Call;
  /** Lines of the result. */
  readonly lines: number;
}

const kinds: readonly Call[] = ["reads", "reads again", "names", "recalls"];

/** The lines of a file that only this step has read before. */
function fileText(at: number, lines: number): string {
  return Array.from({ length: lines }, (_, row) => `const value_${at}_${row} = read(${at * 7 + row});`).join("\n");
}

/** A session with one call for each step; calls come back to what the call `behind` steps before has brought. */
function historyOf(steps: readonly Step[], behind = 30): readonly Message[] {
  const log = new HistoryBuilder().user("Make the parser faster.");
  steps.forEach(({ call, lines }, at) => {
    const old = Math.max(0, at - behind);
    const given = {
      "reads": ["read", { path: `src/part_${at}.ts` }],
      "reads again": ["bash", { command: "cat it" }],
      "names": ["grep", { pattern: `value_${old}_3` }],
      "recalls": ["recall", { id: "m3" }],
    } as const;
    const [tool, args] = given[call];
    log.assistant("", [`c${at}`, tool, args]);
    log.result(`c${at}`, call === "reads again" ? fileText(old, steps[old]?.lines ?? 0) : fileText(at, lines));
  });
  return log.messages.map((message) => ({ ...message, timestamp: "2026-01-01T00:00:00Z" }));
}

function steps(count: number, call: Call, lines = 8): readonly Step[] {
  return Array.from({ length: count }, () => ({ call, lines }));
}

/** Every second call of such a kind. */
function everySecond(count: number, call: Call): readonly Step[] {
  return steps(count, "reads").map((step, at) => (at % 2 === 0 ? { ...step, call } : step));
}

/** The windows of a session, one before each answer. */
async function windowsOf(messages: readonly Message[], options: ManagerOptions = auto): Promise<readonly Composed[]> {
  const session = await (await openManager(options)).create();
  const windows: Composed[] = [];
  for (const message of messages) {
    if (message.role === "assistant") windows.push(await session.compose());
    await session.append(message);
  }
  return windows;
}

const sizeOf = ({ state }: Composed): number => state.sizing?.size ?? floor;

/** Where a size is another one than that of the window before, and no epoch has opened. */
function grownWithoutEpoch(windows: readonly Composed[]): readonly number[] {
  return windows.flatMap((window, at) =>
    at > 0 && !window.report.opened && sizeOf(window) !== sizeOf(windows[at - 1] as Composed) ? [at] : [],
  );
}

describe("a window that sizes itself", () => {
  it("begins at the floor, and stays there where no call comes back", async () => {
    const windows = await windowsOf(historyOf(steps(100, "reads", 4)));
    expect(windows.filter(({ report }) => report.opened).length).toBeGreaterThan(3);
    expect(new Set(windows.map(sizeOf))).toEqual(new Set([floor]));
    expect(Math.max(...windows.map(({ tokens }) => tokens))).toBeLessThanOrEqual(floor);
  });

  it.each(["reads again", "names", "recalls"] as const)(
    "grows where every second call %s what left, and shrinks to the floor when none does",
    async (call) => {
      const history = historyOf([...steps(40, "reads"), ...everySecond(40, call), ...steps(140, "reads")]);
      const sizes = (await windowsOf(history)).map(sizeOf);
      const largest = Math.max(...sizes);
      expect(new Set(sizes.slice(0, 40))).toEqual(new Set([floor]));
      expect(largest).toBeGreaterThanOrEqual(1.9 * floor);
      expect(sizes.lastIndexOf(largest)).toBeGreaterThan(55);
      expect(sizes.at(-1)).toBe(floor);
    },
  );

  it("grows until it holds fifteen calls, where these bring more", async () => {
    const windows = await windowsOf(historyOf(steps(50, "reads", 25)));
    const { size = 0, calls = 0, tokens = 0 } = windows.at(-1)?.state.sizing ?? {};
    expect(size).toBeGreaterThanOrEqual((15 * tokens) / calls);
    expect(size).toBeLessThan((15 * Math.SQRT2 * tokens) / calls);
    expect(windows.at(-1)?.state.sizing?.returns).toBe(0);
    expect(grownWithoutEpoch(windows)).toEqual([]);
  });

  it.each(["adaptive", "importance", "layered"])("grows with the strategy %s", async (use) => {
    const history = historyOf([...steps(80, "reads"), ...everySecond(80, "recalls")]);
    const strategy = { ...strategyOf(use), floor };
    const sizes = (await windowsOf(history, { ...auto, strategy })).map(sizeOf);
    expect(new Set(sizes.slice(0, 80))).toEqual(new Set([floor]));
    expect(sizes.at(-1)).toBeGreaterThan(floor);
  });

  it("has 16,000 tokens where its strategy says no other", () => {
    const messages = historyOf(steps(110, "reads", 12));
    const { report, tokens } = composeWindow({ messages, budget: "auto", model });
    expect([report.budget, report.opened?.reason]).toEqual([16_000, "over-budget"]);
    expect(tokens).toBeLessThanOrEqual(16_000);
  });

  it("has system, tools, pinned blocks and dynamic text beside its size", () => {
    const messages = historyOf(steps(40, "reads"));
    const beside = { system: "You mend parsers. ".repeat(300), dynamic: "It is Tuesday. ".repeat(100) };
    const pinned = [{ id: "p1", text: "Never deploy. ".repeat(100) }];
    const { report } = composeWindow({ messages, ...auto, ...beside, pinned });
    const { system, tools, pinned: pins, dynamic } = report.blocks;
    expect(report.budget).toBe(floor + system + tools + pins + dynamic);
    expect(system + pins + dynamic).toBeGreaterThan(1_000);
  });

  it("keeps the newest step whole where the model has room for it", async () => {
    const history = historyOf([...steps(30, "reads"), ...steps(1, "reads", 700), ...steps(1, "reads")]);
    const window = (await windowsOf(history)).at(-1) as Composed;
    expect(JSON.stringify(window.messages)).toContain(JSON.stringify(fileText(30, 700)));
    expect(window.tokens).toBeGreaterThan(2 * floor);
    const fixed = (await windowsOf(history, { ...auto, budget: floor })).at(-1) as Composed;
    expect(JSON.stringify(fixed.messages)).not.toContain(JSON.stringify(fileText(30, 700)));
  });

  it("is not above the budget of its model, where the floor is", () => {
    const small = { contextWindow: 2_000, maxOutput: 100 };
    const messages = historyOf(steps(40, "reads"));
    const { report, tokens } = composeWindow({ messages, ...auto, model: small });
    expect(report.budget).toBe(1_500);
    expect(tokens).toBeLessThanOrEqual(1_500);
  });

  it("is the whole history with the strategy none, which has no size", () => {
    const messages = historyOf(steps(90, "reads", 16));
    const { report, state } = composeWindow({ messages, budget: "auto", model, strategy: "none" });
    expect(report.tokens).toBeGreaterThan(16_000);
    expect([report.budget, report.sizing, state.sizing]).toEqual([most, undefined, undefined]);
    const large = historyOf(steps(90, "reads", 100));
    const compose = (): unknown => composeWindow({ messages: large, budget: "auto", model, strategy: "none" });
    expect(compose).toThrow(expect.objectContaining({ code: "over-budget" }));
  });

  it("is the one that is composed for its stored session by others", { tags: ["slow"] }, async () => {
    const store = ramStore();
    const session = await (await openManager({ budget: "auto", model, store })).create();
    const [own, others]: [Composed[], string[]] = [[], []];
    for (const message of historyOf(steps(44, "reads", 60))) {
      if (message.role === "assistant") {
        others.push((await composeStored(store, {}, await store.info({}, session.id))).report.windowHash);
        own.push(await session.compose());
      }
      await session.append(message);
    }
    expect(others).toEqual(own.map(({ report }) => report.windowHash));
    expect(own.filter(({ report }) => report.opened?.reason === "over-budget").length).toBeGreaterThan(2);
  });

  it("needs a model to be bound by", () => {
    const compose = (): unknown => composeWindow({ messages: historyOf(steps(1, "reads")), budget: "auto" });
    expect(compose).toThrow(expect.objectContaining({ code: "bad-option" }));
  });
});

describe("the report", () => {
  it("says the size and why", async () => {
    const windows = await windowsOf(historyOf([...steps(40, "reads"), ...everySecond(40, "recalls")]));
    expect(windows[0]?.report.sizing).toBe(
      "2,000 tokens beside system and tools, until something has left the window.",
    );
    expect(windows.at(-1)?.report.sizing).toMatch(
      /^\d+,\d{3} tokens beside system and tools: of the last \d+ calls, which brought \d+ tokens each, [1-9]\d* came back to what had left the window\.$/,
    );
  });

  it("says nothing of a size under a fixed budget", async () => {
    const history = historyOf(steps(40, "reads"));
    const windows = await windowsOf(history, { strategy: "adaptive", budget: floor });
    expect(windows.at(-1)?.state.epoch).toBeGreaterThan(0);
    expect(windows.flatMap(({ report, state }) => [report.sizing, state.sizing]).filter(Boolean)).toEqual([]);
  });
});

const agent = fc.record({
  steps: fc.array(
    fc.record({ call: fc.constantFrom(...kinds), lines: fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 250 })) }),
    {
      minLength: 12,
      maxLength: 40,
    },
  ),
  behind: fc.integer({ min: 2, max: 20 }),
  /** Before which calls the session is closed and resumed, and looked at by a reader, and which epochs are undone. */
  pauses: fc.array(fc.nat({ max: 40 }), { maxLength: 40 }),
  looks: fc.array(fc.nat({ max: 40 }), { maxLength: 20 }),
  undos: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
  floor: fc.integer({ min: 500, max: 4_000 }),
  contextWindow: fc.integer({ min: 6_000, max: 60_000 }),
});

type Agent = typeof agent extends fc.Arbitrary<infer T> ? T : never;

/** The options, and the most tokens of a window. */
function optionsOf({ floor: least, contextWindow }: Agent) {
  const sized = { contextWindow, maxOutput: 100 };
  const strategy = { use: "adaptive", floor: least };
  return { given: { strategy, budget: "auto", model: sized } as const, budget: Math.floor(0.75 * contextWindow) };
}

/** What is compared of a window: its bytes, and the state that the next one begins with. */
function compared({ report: { windowHash, sizing }, state }: Composed): unknown {
  return JSON.parse(JSON.stringify({ windowHash, sizing, state: { previous: 0, forced: [], inserts: [], ...state } }));
}

/** The windows of a session over files: paused where `isPaused` says so. */
async function lived(one: Agent, isPaused: boolean): Promise<readonly Composed[]> {
  const { given } = optionsOf(one);
  const folder = await newFolder();
  const open = (): Promise<SessionManager> => SessionManager.open({ ...given, store: folder });
  let manager = await open();
  let session = await manager.create();
  const windows: Composed[] = [];
  let call = 0;
  for (const message of historyOf(one.steps, one.behind)) {
    if (message.role === "assistant") {
      if (isPaused && one.pauses.includes(call)) {
        await manager.close();
        manager = await open();
        session = await manager.resume(session.id);
      }
      if (one.undos.includes(call) && session.stats().epoch > 0)
        await session.undo().catch((error: unknown) => assert(isWindrowError(error, "not-found")));
      const reader =
        isPaused && one.looks.includes(call) ? await manager.resume(session.id, { readOnly: true }) : undefined;
      const read = await reader?.compose();
      const window = await session.compose();
      if (read) assert.deepEqual(compared(read), compared(window), `a reader at call ${call}`);
      windows.push(window);
      call++;
    }
    await session.append(message);
  }
  await manager.close();
  return windows;
}

describe("a session that sizes its window", () => {
  it(
    "is within its limits, and changes its size with an epoch alone",
    { tags: ["slow"], timeout: 6_000 * runs },
    async () => {
      await fc.assert(
        fc.asyncProperty(agent, async (one) => {
          const { given, budget } = optionsOf(one);
          const windows = await windowsOf(historyOf(one.steps, one.behind), given);
          for (const { report, tokens, state } of windows) {
            assert(tokens <= report.budget && report.budget <= budget, `${tokens} of ${report.budget} of ${budget}`);
            assert(report.budget >= Math.min(one.floor, budget));
            assert((state.sizing?.size ?? one.floor) >= Math.min(one.floor, budget));
          }
          assert.deepEqual(grownWithoutEpoch(windows), []);
        }),
      );
    },
  );

  it("composes the same bytes from the JSON of its state", { tags: ["slow"], timeout: 6_000 * runs }, async () => {
    await fc.assert(
      fc.asyncProperty(agent, async (one) => {
        const { given } = optionsOf(one);
        const messages = historyOf(one.steps, one.behind);
        const windows = await windowsOf(messages, given);
        const { strategy, model: sized } = given;
        let state: WindowState | undefined;
        let call = 0;
        for (const [at, { role }] of messages.entries()) {
          if (role !== "assistant") continue;
          const composed = composeWindow({
            messages: messages.slice(0, at),
            strategy,
            budget: "auto",
            model: sized,
            state,
          });
          assert.deepEqual(compared(composed), compared(windows[call] as Composed), `call ${call}`);
          state = JSON.parse(JSON.stringify(composed.state)) as WindowState;
          call++;
        }
      }),
    );
  });

  it(
    "goes on the same when it is closed and resumed, undone and read by others",
    { tags: ["slow"], timeout: 6_000 * runs },
    async () => {
      await fc.assert(
        fc.asyncProperty(agent, async (one) => {
          const live = await lived(one, false);
          const paused = await lived(one, true);
          for (const [call, window] of live.entries())
            assert.deepEqual(compared(paused[call] as Composed), compared(window), `call ${call}`);
        }),
      );
    },
  );
});
