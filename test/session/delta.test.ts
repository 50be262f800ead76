/** A session whose results repeat: deltas in its windows, in its records, after a restart and after an undo. */
import { expect, it } from "vitest";
import type { SessionManager } from "windrow";
import type { Session } from "windrow";
import { resultText, toolResults } from "../kit/inside/message.ts";
import { asked, newFolder, openManager } from "../kit/sessions.ts";

async function open(store: string): Promise<SessionManager> {
  return openManager({ store, budget: 6_000, strategy: { use: "adaptive", delta: true } });
}

const file = Array.from({ length: 90 }, (_, row) => `export const value${row} = compute(${row});`);

/** A file that is read again and again, changed in one line each time. */
async function reads(session: Session, from: number, to: number): Promise<void> {
  for (let turn = from; turn < to; turn++) {
    await session.compose();
    const call = { type: "tool-call" as const, callId: `c${turn}`, name: "read", args: { path: "src/values.ts" } };
    await session.append({ role: "assistant", parts: [call] });
    const content = file.with(turn % file.length, `export const changed = ${turn};`).join("\n");
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId: call.callId, content }] });
  }
}

it("shows a file that is read again by what is new in it, and the same after a restart", async () => {
  const folder = await newFolder();
  const manager = await open(folder);
  const session = await manager.create();
  await session.append(asked("Watch src/values.ts for me."));
  await reads(session, 1, 80);
  expect(session.stats().epoch).toBeGreaterThan(0);
  const window = await session.compose();
  expect(window.tokens).toBeLessThanOrEqual(6_000);
  const results = window.messages.flatMap((message) => toolResults(message)).map(resultText);
  const newest = results.at(-1) ?? "";
  expect(newest).toMatch(/^\[Windrow: lines 1-\d+ unchanged: m\d+ lines 1-\d+\]$/m);
  expect(newest).toContain("\nexport const changed = 79;\n");
  expect(newest.split("\n").length).toBeLessThan(10);
  const explained = await session.explain();
  expect(explained.items.at(-1)).toMatchObject({ fate: "stubbed", pass: "delta" });
  const { text } = await session.recall({ id: `m${explained.items.at(-1)?.seq}` }, { maxTokens: 20_000 });
  expect(text).toContain("export const value89 = compute(89);");
  await manager.close();

  const again = await open(folder);
  const resumed = await again.resume(session.id);
  expect((await resumed.compose()).report.windowHash).toBe(window.report.windowHash);
  await resumed.undo();
  const { messages } = await resumed.compose({ budget: 1_000_000 });
  expect(JSON.stringify(messages)).not.toContain(" unchanged: m");
});
