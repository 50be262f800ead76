/** A session explains the window that stands, and those its epochs opened with. */
import { expect, it } from "vitest";
import { isWindrowError } from "windrow";
import type { Composed, SessionManager } from "windrow";
import { codingSession } from "../kit/inside/message.ts";
import { openManager } from "../kit/sessions.ts";

async function run(profile: string): Promise<{ manager: SessionManager; id: string; windows: Map<number, Composed> }> {
  const manager = await openManager({ budget: 8_000, profile });
  const session = await manager.create();
  const windows = new Map<number, Composed>();
  for (const message of codingSession(60, 20)) {
    if (message.role === "assistant") {
      const window = await session.compose();
      if (window.report.opened) windows.set(window.state.epoch, window);
    }
    await session.append(message);
  }
  await session.close();
  return { manager, id: session.id, windows };
}

it.each(["anthropic", "openai-chat"])("adds up to log less window, before and after a resume (%s)", async (profile) => {
  const { manager, id, windows } = await run(profile);
  const session = await manager.resume(id);
  const window = await session.compose();
  const now = await session.explain();
  expect(now.tokensBefore).toBe(session.stats().tokens);
  expect(now.tokensAfter).toBe(window.tokens);
  expect(now.items.filter(({ fate }) => fate !== "added")).toHaveLength(session.stats().messages);
  expect(now.totals.replaced.messages).toBe(window.report.counts.replaced);

  expect(windows.size).toBeGreaterThan(2);
  for (const [epoch, then] of windows) {
    const explanation = await session.explain({ epoch });
    expect(explanation.tokensAfter, `epoch ${epoch}`).toBe(then.tokens);
    expect(explanation.items.filter(({ fate }) => fate !== "added")).toHaveLength(then.state.opened);
    expect(explanation.items.reduce((sum, item) => sum + item.tokensBefore - item.tokensAfter, 0)).toBe(
      explanation.tokensBefore - then.tokens,
    );
  }
});

it("says which epochs there are not", async () => {
  const { manager, id } = await run("openai-chat");
  const session = await manager.resume(id);
  const error = await session.explain({ epoch: 999 }).catch((reason: unknown) => reason);
  expect(isWindrowError(error, "not-found")).toBe(true);
});
