/** Strategies without a pass that reads the log hold their window alone, and a resume reads no more than that. */
import { expect, it } from "vitest";
import type { NewMessage } from "windrow";
import { estimate } from "windrow/testing";
import { openManager, watchedStore } from "../kit/sessions.ts";

const messages: readonly NewMessage[] = Array.from({ length: 200 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  parts: [{ type: "text", text: `${at} ${"some words of an answer ".repeat(8)}` }],
}));

it.each(["sliding-window", "coding-agent", "summary-at-threshold", "pi", "miki", "adaptive"])(
  "%s",
  async (strategy) => {
    const isReading = strategy === "adaptive";
    const { store, seen } = watchedStore();
    const open = { store, budget: 2_000, strategy, counter: estimate };
    const manager = await openManager(open);
    const session = await manager.create();
    for (const message of messages) {
      await session.append(message);
      if (message.role === "user") await session.compose();
    }
    const window = (await session.compose()).messages;
    await session.close();
    seen.reads = 0;
    const resumed = await manager.resume(session.id);
    const { reads } = seen;
    expect((await resumed.compose()).messages).toEqual(window);
    expect(reads).toBeGreaterThan(0);
    // Where the log is read, the texts of the epoch are copied from it too.
    expect(reads).toBeLessThanOrEqual(isReading ? 220 : 60);
  },
);
