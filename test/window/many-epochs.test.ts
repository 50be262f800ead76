/** Many epochs in one process: what is kept from one to the next changes no window. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { strategyOf } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { Composer, openaiChat } from "../kit/inside/window.ts";

const acts = [
  "read",
  "part",
  "edit",
  "write",
  "search",
  "touch",
  "move",
  "tests",
  "rule",
  "request",
  "answer",
] as const;

/** Something that is done to one of a few files. */
const step = fc.record({ act: fc.constantFrom(...acts), file: fc.nat(4), size: fc.integer({ min: 4, max: 30 }) });

/** The text of a file at a step: some lines stand in every file, some change with each step. */
function textOf(file: number, size: number, at: number): readonly string[] {
  return Array.from({ length: size }, (_, line) => {
    if (line % 5 === 4) return "}";
    if (line % 3 === 0) return `  const shared_${line} = readValue(source, ${line});`;
    return `  export const value_${file}_${line} = ${line % 4 === 1 ? at : 0};`;
  });
}

function history(steps: readonly { act: (typeof acts)[number]; file: number; size: number }[]): readonly Message[] {
  const log = new HistoryBuilder().user("Make the parser in src/part_0.ts faster. Keep retry_limit at 3.");
  for (const [at, { act, file, size }] of steps.entries()) {
    const path = `src/part_${file}.ts`;
    const lines = textOf(file, size, at);
    const call = (name: string, args: Record<string, string>, result: string): unknown =>
      log.assistant(`Step ${at}: ${act} ${path}.`, [`c${at}`, name, args]).result(`c${at}`, result);
    const old = `  export const value_${file}_1 = 0;`;
    if (act === "read") call("read", { path }, lines.join("\n"));
    if (act === "part") call("read", { path }, lines.map((line, index) => `${index + 3}\t${line}`).join("\n"));
    if (act === "edit") call("edit", { path, old_string: old, new_string: `${old} // ${at}` }, "done");
    if (act === "write") call("write", { path, content: lines.join("\n") }, "written");
    if (act === "search")
      call(
        "bash",
        { command: `grep -rn value_ src` },
        lines.map((line, index) => `${path}:${index}:${line}`).join("\n"),
      );
    if (act === "touch") call("bash", { command: `sed -i s/0/${at}/ ${path}` }, "");
    if (act === "move") call("bash", { command: `mv ${path} src/part_${(file + 1) % 5}.ts` }, "");
    if (act === "tests")
      call(
        "bash",
        { command: "npm test" },
        lines.map((line) => `FAIL ${path} Error: ${line} retry_limit ${at}`).join("\n"),
      );
    if (act === "rule") log.user(`Never change value_${file}_${size} again. Set retry_limit to ${size}.`);
    if (act === "request") log.user(`Read ${path} once more, and say what value_${file}_1 is now.`);
    if (act === "answer") log.assistant(`value_${file}_1 in ${path} is ${at}; retry_limit is ${size}.`);
  }
  return log.messages;
}

function composerOf(messages: readonly Message[], state?: WindowState): Composer {
  const composer = new Composer({
    strategy: strategyOf("adaptive"),
    profile: openaiChat,
    counter: estimate,
    ...(state && { state: JSON.parse(JSON.stringify(state)) as WindowState }),
  });
  messages.forEach((message, at) => composer.push(at + 1, message));
  return composer;
}

describe("a composer that went through many epochs", { timeout: 60_000 }, () => {
  it("composes what one composes that resumes from its state", { tags: ["slow"] }, () => {
    let epochs = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 90 }), fc.constantFrom(1_800, 3_000), (steps, budget) => {
        const messages = history(steps);
        const live = composerOf([]);
        for (const [at, message] of messages.entries()) {
          live.push(at + 1, message);
          if (message.role === "assistant") continue;
          const { state } = live;
          const composed = live.compose({ budget });
          if (!composed.report.opened) continue;
          epochs++;
          const resumed = composerOf(messages.slice(0, at + 1), state).compose({ budget });
          expect(resumed.messages).toEqual(composed.messages);
          expect(resumed.state).toEqual(composed.state);
        }
      }),
      { numRuns: 8 },
    );
    expect(epochs).toBeGreaterThan(50);
  });
});
