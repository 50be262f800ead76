/** Budgets too small for what calls bring: the report says so, and the budget that it names makes epochs rarer. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message, Report, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { replay } from "windrow/transcript";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { openManager } from "../kit/sessions.ts";

const system = "You mend parsers. ".repeat(120);

/** A session whose calls bring results of `lines` lines each, in turn. */
function history(calls: number, ...lines: readonly number[]): readonly Message[] {
  const log = new HistoryBuilder().user("Make the parser faster. ".repeat(20));
  for (let at = 0; at < calls; at++) {
    const rows = Array.from(
      { length: lines[at % lines.length] ?? 0 },
      (_, row) => `value_${at}_${row} = read(${row});`,
    );
    log.assistant(`Step ${at}.`, [`c${at}`, "read", { path: `src/part_${at}.ts` }]).result(`c${at}`, rows.join("\n"));
  }
  return log.messages;
}

/** The report of each call of a session, composed as a host without a store does. */
function reports(messages: readonly Message[], budget: number, strategy = "adaptive", recall = false): Report[] {
  let state: WindowState | undefined;
  const tools = recall ? [{ name: "recall", description: "", parameters: { type: "object" } }] : [];
  return messages.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    const window = composeWindow({ messages: messages.slice(0, at), system, tools, budget, strategy, state });
    state = JSON.parse(JSON.stringify(window.state)) as WindowState;
    return [window.report];
  });
}

function callsPerEpoch(all: readonly Report[]): number {
  const opened = all.flatMap((report, call) => (report.opened ? [call] : []));
  return opened.length < 2 ? Infinity : ((opened.at(-1) ?? 0) - (opened[0] ?? 0)) / (opened.length - 1);
}

describe("a budget that is too small", () => {
  const sizes: readonly (readonly number[])[] = [[80], [100], [40, 180], [10, 10, 200]];
  const cases = sizes.flatMap((lines) =>
    ["adaptive", "importance", "layered"].flatMap((strategy) =>
      [false, true].map((recall) => ({ lines, strategy, recall })),
    ),
  );

  it.each(cases)("names one with rarer epochs: $strategy, $lines, $recall", { tags: ["slow"] }, ({ lines, ...how }) => {
    const messages = history(60, ...lines);
    const tight = reports(messages, 4_500, how.strategy, how.recall);
    expect(callsPerEpoch(tight)).toBeLessThanOrEqual(3);
    const named = tight.findLast(({ tooSmall }) => tooSmall)?.tooSmall;
    expect(named?.warning).toContain(`A budget of ${named?.budget} would do.`);
    const wide = reports(messages, named?.budget ?? 0, how.strategy, how.recall);
    expect(callsPerEpoch(wide)).toBeGreaterThan(3);
    expect(wide.filter(({ tooSmall }) => tooSmall)).toEqual([]);
    // The history does not fit as a whole: epochs still come.
    expect(wide.filter(({ opened }) => opened).length).toBeGreaterThan(2);
  });

  it("is said from the third epoch on, and no longer where calls bring little", () => {
    const all = reports(history(24, ...Array<number>(12).fill(80), ...Array<number>(12).fill(1)), 4_500);
    const first = all.findIndex(({ tooSmall }) => tooSmall);
    expect(all.slice(0, first + 1).filter(({ opened }) => opened)).toHaveLength(3);
    expect(all.at(-1)?.tooSmall).toBeUndefined();
  });

  it("is not said where epochs are rare, nor of a strategy that frees no room", () => {
    expect(reports(history(80, 20), 16_000).some(({ tooSmall }) => tooSmall)).toBe(false);
    expect(reports(history(40, 80), 4_500, "sliding-window").some(({ tooSmall }) => tooSmall)).toBe(false);
  });

  it("is not said of epochs that a new system prompt opens", () => {
    const messages = history(20, 5);
    let state: WindowState | undefined;
    for (const [at, { role }] of messages.entries()) {
      if (role !== "assistant") continue;
      const window = composeWindow({ messages: messages.slice(0, at), system: `It is ${at}.`, budget: 16_000, state });
      expect(window.report.tooSmall).toBeUndefined();
      state = window.state;
    }
    expect(state?.epoch).toBeGreaterThan(3);
  });

  it("is said again by a session that was resumed", async () => {
    const manager = await openManager({ store: ramStore(), budget: 4_500 });
    let before: Report["tooSmall"];
    let session = await manager.create();
    for (const message of history(20, 80)) {
      if (message.role === "assistant") before = (await session.compose({ system })).report.tooSmall;
      await session.append([message]);
    }
    expect(before).toBeDefined();
    const here = (await session.compose({ system })).report.tooSmall;
    await session.close();
    session = await manager.resume(session.id);
    expect((await session.compose({ system })).report.tooSmall).toEqual(here);
  });

  it("is said by a replay of the whole session, with a budget at which it is not", { tags: ["slow"] }, async () => {
    const transcript = { id: "s", format: "trajectory", messages: history(80, 40, 180), problems: [] } as const;
    const at = (budget: number): ReturnType<typeof replay> =>
      replay(transcript, { strategies: ["adaptive"], budgets: [budget], profile: "openai-chat", counter: estimate });
    const { tooSmall, epochs } = (await at(3_500)).results[0] ?? {};
    expect(epochs).toBeGreaterThan(80 / 3);
    const wide = (await at(tooSmall?.budget ?? 0)).results[0];
    expect(wide?.tooSmall).toBeUndefined();
    expect(wide?.epochs).toBeLessThan(80 / 3);
  });
});
