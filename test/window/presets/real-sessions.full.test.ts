/** The laws of the window for every strategy and preset, over sessions that real agents wrote; skipped where absent. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "vitest";
import { validateWindow } from "windrow";
import type { Message } from "windrow";
import { estimate } from "windrow/testing";
import { readTranscripts } from "windrow/transcript";
import { profileNames, profileOf, strategyNames, strategyOf } from "windrow/window";
import { Composer } from "../../kit/inside/window.ts";
import { someOf } from "../../kit/recorded.ts";
import { runs } from "../../kit/runs.ts";

const root = "../shared/data/open";
const files = [
  "pi-sessions/trajectories.jsonl.gz",
  // The same session as pi wrote it.
  ...(runs > 1_000 ? ["pi-sessions/large-session.raw.jsonl.gz"] : []),
  "claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl",
  "claude-code-sessions/4c289ca8-f8bb-4588-8400-88b78beb784d.jsonl",
  "claude-code-sessions/98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl",
  "claude-code-sessions/b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl",
  "openhands/trajectories.jsonl.gz",
  "swe-smith/trajectories.jsonl.gz",
  "swe-agent-demos/trajectories.jsonl.gz",
  "tau-bench-airline/trajectories.jsonl.gz",
].map((file) => `${root}/${file}`);
const strategies = strategyNames.filter((name) => name !== "none");

/** One window before every answer: valid, in budget, in the order of the log, and grown at its end within an epoch. */
function follow(messages: readonly Message[], name: string, profileName: string, budget: number): number {
  const profile = profileOf(profileName);
  const composer = new Composer({ strategy: strategyOf(name), profile, counter: estimate });
  let before: readonly Message[] = [];
  let windows = 0;
  messages.forEach((message, index) => {
    if (message.role === "assistant") {
      const { messages: window, tokens, report } = composer.compose({ budget });
      const at = `${name} for ${profileName} at ${budget}, message ${index + 1}`;
      assert.deepEqual(validateWindow(window, profile), [], at);
      assert(tokens <= budget, `${at}: ${tokens} tokens`);
      const { kept, stubbed, replaced, dropped } = report.counts;
      assert.equal(kept + stubbed + replaced + dropped, index, at);
      if (!report.opened) before.forEach((one, place) => assert.deepEqual(window[place], one, at));
      // The ephemeral tail is for its call only.
      before = window.filter(({ id }) => id !== "windrow:dynamic");
      windows++;
    }
    composer.push(index + 1, message);
  });
  return windows;
}

describe.each(files)("%s", (file) => {
  it.skipIf(!existsSync(file))("gives valid windows in budget by every strategy", { timeout: 1_200_000 }, async () => {
    let windows = 0;
    let turn = 0;
    for (const { messages } of someOf(await readTranscripts(file))) {
      for (const name of strategies) {
        // One setting a strategy and session, another each time; all of them in the long run.
        const profiles = runs > 1_000 ? profileNames : [profileNames[turn % profileNames.length] ?? ""];
        const budgets = runs > 1_000 ? [8_000, 32_000] : [turn++ % 2 === 0 ? 8_000 : 32_000];
        for (const profile of profiles)
          for (const budget of budgets) windows += follow(messages, name, profile, budget);
      }
    }
    assert(windows > 0);
  });
});
