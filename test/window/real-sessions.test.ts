/** The laws of the window over sessions that real agents wrote; skipped where the data is not there. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, it } from "vitest";
import type { Message } from "../../src/message/message.ts";
import { estimate } from "../../src/tokens/estimate.ts";
import { readTranscripts } from "../../src/transcript/read.ts";
import { Composer } from "../../src/window/composer.ts";
import { profileNames, profileOf } from "../../src/window/provider/profile.ts";
import { strategyOf } from "../../src/window/by-name.ts";
import { validateWindow } from "../../src/window/provider/validate.ts";

const root = "../shared/data/open";
const files = [
  "pi-sessions/trajectories.jsonl.gz",
  "pi-sessions/large-session.raw.jsonl.gz",
  "claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl",
  "claude-code-sessions/98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl",
  "openhands/trajectories.jsonl.gz",
  "swe-smith/trajectories.jsonl.gz",
  "swe-agent-demos/trajectories.jsonl.gz",
  "tau-bench-airline/trajectories.jsonl.gz",
].map((file) => `${root}/${file}`);

/** One window before every answer: valid, in budget, and grown only at its end unless an epoch opened. */
function follow(messages: readonly Message[], strategy: string, profile: string, budget: number): number {
  const composer = new Composer({ strategy: strategyOf(strategy), profile: profileOf(profile), counter: estimate });
  let before: readonly string[] = [];
  let windows = 0;
  messages.forEach((message, index) => {
    if (message.role === "assistant") {
      const composed = composer.compose({ budget });
      const window = composed.messages.map((one) => JSON.stringify(one));
      assert.deepEqual(validateWindow(composed.messages, profileOf(profile)), [], `call at message ${index + 1}`);
      assert(composed.tokens <= budget, `${composed.tokens} tokens at message ${index + 1}`);
      if (!composed.report.opened)
        assert.deepEqual(window.slice(0, before.length), before, `prefix at message ${index + 1}`);
      before = window.filter((_, at) => composed.messages[at]?.id !== "windrow:dynamic");
      windows++;
    }
    composer.push(index + 1, message);
  });
  return windows;
}

describe.each(files)("%s", (file) => {
  it.skipIf(!existsSync(file))(
    "gives only valid windows in budget that grow at their end",
    { timeout: 120_000 },
    async () => {
      let windows = 0;
      for (const { messages } of await readTranscripts(file)) {
        for (const strategy of ["adaptive", "sliding-window"]) {
          for (const profile of profileNames) {
            for (const budget of [8_000, 32_000]) windows += follow(messages, strategy, profile, budget);
          }
        }
      }
      assert(windows > 0);
      console.log(`${basename(dirname(file))}/${basename(file)}: ${windows} windows`);
    },
  );
  if (!existsSync(file)) console.log(`skipped: ${file} is not there`);
});
