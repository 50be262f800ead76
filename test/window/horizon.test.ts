/** The horizon of a digest: behind it messages are not read, and a resume knows the same one. */
import { describe, expect, it } from "vitest";
import type { Composed, Message, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { strategyOf } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { Composer, openaiChat } from "../kit/inside/window.ts";

const budget = 8_000;

/** Steps whose results have 30,000 characters each: 80 of them move the horizon. */
function steps(count: number): readonly Message[] {
  const history = new HistoryBuilder().user("Keep the services.");
  for (let step = 0; step < count; step++) {
    const lines = Array.from(
      { length: 200 },
      (_, line) => `${step}:${line} ${"request served in time ".repeat(6)}${line}`,
    );
    history.assistant("", [`c${step}`, step % 5 === 0 ? "read" : "logs", { path: `src/part${step % 7}.ts` }]);
    history.result(`c${step}`, lines.join("\n"));
    if (step % 9 === 0) history.user(`Number ${step}: never touch part ${step}.`);
  }
  return history.messages;
}

const messages = steps(150);

function composerOf(count: number, state?: WindowState): Composer {
  const composer = new Composer({
    strategy: strategyOf("adaptive"),
    profile: openaiChat,
    counter: estimate,
    ...(state && { state: JSON.parse(JSON.stringify(state)) as WindowState }),
  });
  feed(composer, 0, count);
  return composer;
}

function feed(composer: Composer, from: number, to: number): void {
  for (let at = from; at < to; at++) composer.push(at + 1, messages[at] as Message);
}

/** Composes in a composer that went on and in one that resumes, from `from` on: the bytes are the same. */
function goesOn(live: Composer, from: number, before: Composed | undefined): readonly number[] {
  const horizons = new Set<number>();
  let composed = before;
  let fed = from;
  for (let to = from + 40; to <= messages.length; to += 40) {
    feed(live, fed, to);
    fed = to;
    const resumed = composerOf(to, live.state).compose({ budget });
    composed = live.compose({ budget });
    expect(resumed.report.windowHash, `at m${to}`).toBe(composed.report.windowHash);
    expect(resumed.state).toEqual(composed.state);
    horizons.add(composed.state.horizon ?? 1);
  }
  return [...horizons];
}

describe("a horizon that moves", { timeout: 120_000 }, () => {
  it("moves the same in a process that resumes", { tags: ["slow"] }, () => {
    expect(goesOn(composerOf(0), 0, undefined).length).toBeGreaterThan(2);
  });

  it.each([0.3, 1])(
    "does not move where a composition is aborted after %d of its turns",
    { tags: ["slow"] },
    (share) => {
      const begun = () => {
        const live = composerOf(0);
        feed(live, 0, 60);
        const before = live.compose({ budget });
        feed(live, 60, 140);
        return { live, before, work: live.composing({ budget }) };
      };
      const whole = begun().work;
      let turns = 0;
      while (whole.next().done !== true) turns++;
      const { live, before, work } = begun();
      for (let turn = 0; turn < Math.floor(turns * share); turn++) expect(work.next().done).toBe(false);
      work.return(before);
      expect(live.state.horizon).toBeUndefined();
      goesOn(live, 140, before);
    },
  );

  it("moves with an epoch that was made elsewhere", { tags: ["slow"] }, () => {
    const live = composerOf(0);
    feed(live, 0, 60);
    live.compose({ budget });
    feed(live, 60, 140);
    live.compose({ budget: 1_000_000_000 });
    const [first] = live.view().steps.filter(({ kind, protected: stays }) => kind === "assistant" && !stays);
    const { from, to } = first ?? { from: 0, to: 0 };
    const edit = { kind: "drop", from, to, pass: "test", reason: "a test", tokensBefore: 0, tokensAfter: 0 } as const;
    expect(live.commit([edit], "over-budget")).toBe(true);
    expect(live.state.horizon).toBeGreaterThan(1);
    goesOn(live, 140, undefined);
  });
});
