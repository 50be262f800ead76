/** A cut never leaves half a secret: windows are cut after the session's own mask, whatever that mask knows. */
import { expect, it } from "vitest";
import { composeWindow, SessionManager } from "windrow";
import type { Message } from "windrow";
import { createMask, openStore } from "windrow/store";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import { newFolder } from "../kit/sessions.ts";
import { excerpt } from "../kit/inside/window.ts";
import { textsOf } from "./samples.ts";

/** 50 characters, of which no eight that follow each other may be found. */
const secret = "zebrafieldmountain42quietriverlanternbookcase77abc";
const pieces = Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8));

const strategies = ["adaptive", "layered", "rolling-summary", "coding-agent", "miki"];

it.each(strategies)(
  "%s: no cut leaves a part of a registered secret on the disk",
  { tags: ["slow"] },
  async (strategy) => {
    const folder = await newFolder();
    const store = await openStore(folder, { mask: createMask({ values: { HOUSE: secret } }) });
    const manager = await SessionManager.open({
      store,
      strategy,
      budget: 4_000,
      ingestCap: 300,
      compaction: "blocking",
    });
    const session = await manager.create();
    await session.append({ role: "user", parts: [{ type: "text", text: `Deploy it. ${"x ".repeat(20)}${secret}` }] });
    for (let call = 0; call < 24; call += 1) {
      const callId = `c${call}`;
      const command = `${"run-task ".repeat(4)}${"p".repeat(40 + call)} --key ${secret} --then ${"q".repeat(call)}`;
      await session.append({
        role: "assistant",
        parts: [{ type: "tool-call", callId, name: "shell", args: { command } }],
      });
      const long = `${"w".repeat(100 + 3 * call)}${secret}${"v".repeat(200)}`;
      const content = `started\n${long}\n${"line of output\n".repeat(10 + call)}ERROR in ${secret}\ndone ${call}`;
      await session.append({ role: "tool", parts: [{ type: "tool-result", callId, content }] });
      await session.compose();
      await session.endStep({ usage: {} });
      const { text } = await session.recall({ query: "ERROR started" }, { maxTokens: 300 });
      await session.append({ role: "assistant", parts: [{ type: "text", text: text.replaceAll(secret, "") }] });
    }
    await session.compact().catch(() => false);
    await session.compose();
    await session.finish("completed");
    await manager.close();

    const texts = await textsOf(folder);
    const found = pieces.filter((piece) => texts.some((text) => text.includes(piece)));
    expect(texts.some((text) => text.includes("[HOUSE]"))).toBe(true);
    expect(found).toEqual([]);
  },
);

it("excerpts, recall and windows of a host cut after the mask they are given", () => {
  const mask = (text: string): string => text.replaceAll(secret, "[HOUSE]");
  const line = `${"a".repeat(130)}${secret}${"b".repeat(2_000)}`;
  const history: Message[] = [
    { id: "u", role: "user", parts: [{ type: "text", text: "go" }] },
    { id: "a", role: "assistant", parts: [{ type: "tool-call", callId: "c", name: "sh", args: { command: line } }] },
    { id: "t", role: "tool", parts: [{ type: "tool-result", callId: "c", content: `${line}\n`.repeat(30) }] },
    { id: "a2", role: "assistant", parts: [{ type: "text", text: "done" }] },
  ];
  const shown = [
    excerpt(`${line}\n${"word ".repeat(900)}`, { maxTokens: 120, counter: estimate, mask }),
    recallFrom(history, { query: "aaaa" }, { counter: estimate, maxTokens: 1_500, mask }).text,
    JSON.stringify(composeWindow({ messages: history, budget: 3_000, ingestCap: 200, mask }).state),
  ];
  for (const text of shown) expect(pieces.filter((piece) => text.includes(piece))).toEqual([]);
});
