/** The single references that windows of a replay lack, and the recalls that would have brought them. */
import { describe, expect, it } from "vitest";
import { loadCounter } from "windrow";
import type { Message } from "windrow";
import { readTranscripts, replay } from "windrow/transcript";
import type { ReplayOptions } from "windrow/transcript";
import { recallFrom } from "windrow/window";
import { messageText } from "../kit/inside/message.ts";
import { AtomReader } from "../kit/inside/replay.ts";
import type { ReplayedMiss, ReplayedWindow } from "../kit/inside/replay.ts";
import { calls, characters, result, says, transcript, user } from "./histories.ts";

const old = "function first(alpha) {\n  return alpha + firstConstant;\n}";

const messages: readonly Message[] = [
  user("fix the bug"),
  calls("a", "read", { path: "src/first.ts" }),
  result("a", `${old}\n${"some filler text\n".repeat(30)}\nexport const unseenName = 1;`),
  ...Array.from({ length: 20 }, (_, step) => [
    calls(`c${step}`, "read", { path: `src/file${step}.ts` }),
    result(`c${step}`, `name_${step} ${"line of text\n".repeat(20)}`),
  ]).flat(),
  calls("edit", "edit", { path: "src/first.ts", old_string: old, new_string: "" }),
  result("edit", "done"),
  calls("grep", "grep", { words: "unseenName" }),
  result("grep", "src/first.ts"),
  says("done"),
];

async function replayed(
  strategy: string,
  changes: Partial<ReplayOptions> = {},
): Promise<{ misses: readonly ReplayedMiss[]; windows: readonly ReplayedWindow[]; oneHop: number | null }> {
  const misses: ReplayedMiss[] = [];
  const windows: ReplayedWindow[] = [];
  const { results } = await replay(transcript(messages, "a-model"), {
    strategies: [strategy],
    budgets: [2_000],
    profile: "anthropic",
    counter: characters,
    farDistance: 100,
    onMiss: (miss) => misses.push(miss),
    onWindow: (window) => windows.push(window),
    ...changes,
  });
  return { misses, windows, oneHop: results[0]?.lookback.oneHop ?? null };
}

describe("a miss", () => {
  it("is what the window lacks and an earlier message has", async () => {
    const { misses, windows } = await replayed("sliding-window");
    expect(misses.length).toBeGreaterThan(0);
    const reader = new AtomReader();
    for (const { text, source, index } of misses) {
      const window = windows.find((one) => one.index === index)?.composed.messages ?? [];
      expect(window.some((message) => reader.has(message, text))).toBe(false);
      expect(source).toBeLessThan(index);
      expect(JSON.stringify(messages[source]).replaceAll("\\n  ", "\\n")).toContain(JSON.stringify(text).slice(1, -1));
    }
  });

  it("comes with the recall of the window that brings it", async () => {
    const [demo] = await readTranscripts("fixtures/demo-session.jsonl");
    const misses: ReplayedMiss[] = [];
    const counter = await loadCounter("estimate");
    const onMiss = (miss: ReplayedMiss): void => void misses.push(miss);
    await replay(demo!, { strategies: ["adaptive"], budgets: [6_000], profile: "anthropic", counter, onMiss });
    const recalled = misses.filter(({ recall }) => recall !== undefined);
    expect(recalled.length).toBeGreaterThan(0);
    for (const { recall = {}, index, text } of recalled) {
      const answer = recallFrom(demo!.messages.slice(0, index), recall, { maxTokens: 4_000, counter });
      // A listing has its numbers before the lines.
      const lines = answer.text.split("\n").map((line) => line.replace(/^[\s|]+/, ""));
      const unnumbered = lines.map((line) => line.replace(/^\d+\t\s*/, ""));
      expect([...lines, ...unnumbered].join("\n")).toContain(text);
    }
  });

  it("is not there where the whole history is sent, nor looked for where nobody asks", async () => {
    expect((await replayed("none")).misses).toEqual([]);
    const [asked, unasked] = [await replayed("adaptive"), await replayed("adaptive", { onMiss: undefined } as never)];
    expect(unasked.misses).toEqual([]);
    expect(unasked.oneHop).toBe(asked.oneHop);
  });
});

it("numbers what a window shows as the log does", async () => {
  const shown: string[] = [];
  await replay(transcript(messages, "a-model"), {
    strategies: ["adaptive"],
    budgets: [2_000],
    profile: "anthropic",
    counter: characters,
    onWindow: (window) => {
      for (const { seq, message } of window.shown().messages) {
        const original = messages[seq - 1];
        if (seq > 0 && message.id === original?.id && message.role === "user") shown.push(messageText(message));
      }
    },
  });
  expect(new Set(shown)).toContain("fix the bug");
});
