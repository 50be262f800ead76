/** Dynamic text: an ephemeral tail, or sticky; and the predicted cost of requests. */
import { expect, it } from "vitest";
import { messageText } from "../../src/message/message.ts";
import type { Message } from "../../src/message/message.ts";
import { codingSession } from "../../src/message/samples.ts";
import { composeWindow } from "../../src/window/compose.ts";
import type { WindowState } from "../../src/window/window.ts";

const messages = [...codingSession(120, 20)];

function calls(): readonly number[] {
  return messages.flatMap(({ role }, index) => (role === "assistant" && index > 0 ? [index] : []));
}

it("keeps sticky text in its place until the next epoch, and shows it again only when it changes", () => {
  let state: WindowState | undefined;
  const windows = calls().map((index) => {
    const text = `retrieved: ${Math.floor(index / 10)}`;
    const dynamic = [{ name: "rag", text, sticky: true }];
    const window = composeWindow({ messages: messages.slice(0, index), budget: 8_000, state, dynamic });
    state = window.state;
    return { ...window, text, texts: window.messages.map(messageText) };
  });
  expect(windows.filter(({ tokens }) => tokens > 8_000)).toEqual([]);
  for (const { texts, text } of windows) expect(texts.filter((shown) => shown === text)).toHaveLength(1);
  const opened = windows.filter(({ report }) => report.opened);
  expect(opened.length).toBeGreaterThan(1);
  for (const { texts, text } of opened) expect(texts.filter((shown) => shown.startsWith("retrieved:"))).toEqual([text]);
  for (const [place, { messages: now, report }] of windows.entries()) {
    const before = report.opened ? [] : (windows[place - 1]?.messages ?? []);
    expect(now.slice(0, before.length)).toEqual(before);
  }
});

it("is sticky wherever the profile binds reasoning to its prefix", () => {
  const first = composeWindow({
    messages: messages.slice(0, calls()[1]),
    budget: 8_000,
    profile: "anthropic",
    dynamic: "it is 3 o'clock",
  });
  const next = composeWindow({
    messages: messages.slice(0, calls()[2]),
    budget: 8_000,
    profile: "anthropic",
    dynamic: "it is 4 o'clock",
    state: first.state,
  });
  expect(next.messages.slice(0, first.messages.length)).toEqual(first.messages);
  expect(messageText(next.messages.at(-1)!)).toBe("it is 4 o'clock");
});

it("predicts what a call costs: cached, fresh and the ephemeral tail", () => {
  const profile = "anthropic";
  const first = composeWindow({ messages: messages.slice(0, calls()[4]), budget: 8_000, profile });
  expect(first.report.cost).toEqual({ cached: 0, fresh: first.tokens, equivalents: Math.round(1.25 * first.tokens) });
  const next = composeWindow({ messages: messages.slice(0, calls()[5]), budget: 8_000, profile, state: first.state });
  expect(next.report.cost.cached).toBe(first.tokens);
  expect(next.report.cost.fresh).toBe(next.tokens - first.tokens);
  expect(next.report.cost.equivalents).toBe(Math.round(0.1 * first.tokens + 1.25 * (next.tokens - first.tokens)));
});

it("cuts a result above the cap as it comes in, without an epoch, and leaves a way back", () => {
  const body = Array.from({ length: 2_000 }, (_, line) => `line ${line} of the report`).join("\n");
  const history: Message[] = [
    { id: "u", role: "user", parts: [{ type: "text", text: "read it" }] },
    {
      id: "a",
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c", name: "read", args: { path: "report.txt" } }],
    },
    { id: "t", role: "tool", parts: [{ type: "tool-result", callId: "c", name: "read", content: body }] },
  ];
  const input = { messages: history, budget: 100_000, ingestCap: 500 };
  const first = composeWindow(input);
  const text = messageText({ ...first.messages[2]!, parts: first.messages[2]!.parts });
  expect(first.tokens).toBeLessThan(700);
  expect(first.report.opened).toBeUndefined();
  expect(JSON.stringify(first.messages[2])).toContain("m3");
  expect(text).not.toBe(body);
  const more: Message[] = [...history, { id: "a2", role: "assistant", parts: [{ type: "text", text: "done" }] }];
  more.push({ id: "u2", role: "user", parts: [{ type: "text", text: "thanks" }] });
  const next = composeWindow({ ...input, messages: more, state: first.state });
  expect(next.messages.slice(0, 3)).toEqual(first.messages);
  expect(next.report.opened).toBeUndefined();
  expect(next.report.counts.stubbed).toBe(1);
  expect(composeWindow({ ...input, messages: more }).report.windowHash).toBe(next.report.windowHash);
});

it("says what each tool costs, and warns above their budget", () => {
  const tools = [
    { name: "read", description: "Reads a file." },
    { name: "search", description: "Searches. ".repeat(200) },
  ];
  const { report } = composeWindow({ messages: messages.slice(0, calls()[0]), budget: 8_000, tools, toolsBudget: 100 });
  expect(report.tools.tools.map(({ name }) => name)).toEqual(["search", "read"]);
  expect(report.tools.tokens).toBe(report.blocks.tools);
  expect(report.tools.warning).toContain("search");
});
