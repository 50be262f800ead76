/** Pins against a summariser that forgets everything. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Model } from "windrow/model";
import { codingSession, messageText } from "../kit/inside/message.ts";

it("stand verbatim in every window over five epochs, whatever a summariser answers", async () => {
  let asked = 0;
  const forgetful: Model = async () => {
    asked++;
    return { text: "ok", usage: {}, finish: "stop" };
  };
  const strategy = { use: "summary-at-threshold", ratio: 0.5 };
  const manager = await SessionManager.open({
    store: "ram:",
    budget: 6_000,
    strategy,
    summarizer: forgetful,
    compaction: "blocking",
  });
  const session = await manager.create();
  const pin = "Never touch src/legacy, and keep\n  the indentation of this line.";
  await session.pin(pin);
  const quoted = pin.replaceAll("\n", "\n ");
  const without: number[] = [];
  for (const message of codingSession(160, 10)) {
    if (message.role === "assistant") {
      const { messages, report } = await session.compose();
      if (!messages.map(messageText).some((text) => text.includes(` ${quoted}`))) without.push(report.epoch);
      await session.append(message);
      await session.endStep();
    } else await session.append(message);
  }
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(session.stats().epoch).toBeGreaterThanOrEqual(5);
  expect(without).toEqual([]);
  await manager.close();
});
