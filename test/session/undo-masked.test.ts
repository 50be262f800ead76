/** An undo in the process that was given a secret: what comes back is as it was sent, also where images left memory. */
import { expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message, Session } from "windrow";
import { ramStore } from "../kit/inside/store.ts";
import { openSession } from "../kit/sessions.ts";

const secret = `ghp_${"Ab3dE6gH9jK1mN4pQ7sT0uV2wX5yZ8aBcDeF"}`;
const timestamp = "2026-01-01T00:00:00.000Z";
const words = "The page shows an order, its price and the button that pays for it. ";

/** A call that looks at a page, and the page: a text with a secret, an image, and an address with a secret. */
function step(number: number, imageLength: number): readonly Message[] {
  const callId = `c${number}`;
  const data = String(number)
    .padStart(8, "A")
    .repeat(imageLength / 8);
  return [
    {
      id: `a${number}`,
      timestamp,
      role: "assistant",
      parts: [
        { type: "reasoning", text: `With ${secret} I look at page ${number}.` },
        { type: "tool-call", callId, name: "screenshot", args: { page: number, token: secret } },
      ],
    },
    {
      id: `t${number}`,
      timestamp,
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId,
          name: "screenshot",
          content: [
            { type: "text", text: `Page ${number}: ${secret} for order ${number * 7919}.\n${words.repeat(4)}` },
            { type: "image", mediaType: "image/png", data, width: 1280, height: 800 },
            { type: "image", mediaType: "image/png", url: `https://a.example/${number}?token=${secret}` },
          ],
        },
      ],
    },
  ];
}

const task: Message = {
  id: "task",
  timestamp,
  role: "user",
  parts: [{ type: "text", text: `Find the order that ${secret} did not pay.` }],
};

async function undoAll(session: Session): Promise<number> {
  for (let undone = 0; ; undone++) {
    try {
      await session.undo();
    } catch {
      return undone;
    }
  }
}

it.each([
  ["adaptive", 8_000],
  ["adaptive", 400_000],
  ["sliding-window", 8_000],
  ["importance", 8_000],
] as const)("gives back with %s what was sent (images of %i)", { tags: ["slow"] }, async (strategy, imageLength) => {
  const session = await openSession({ store: ramStore(), strategy, budget: 12_000 });
  const messages = [task, ...Array.from({ length: 40 }, (_, number) => step(number, imageLength)).flat()];
  for (const message of messages) {
    await session.append([message]);
    if (message.role === "tool") await session.compose();
  }
  expect(await undoAll(session)).toBeGreaterThan(0);
  const undone = await session.compose({ budget: 1_000_000 });
  const given = composeWindow({ messages, strategy, budget: 1_000_000 });
  expect(undone.messages.map(({ parts }) => parts)).toEqual(given.messages.map(({ parts }) => parts));
  expect(undone.report.windowHash).toBe(given.report.windowHash);
});
