/** Sessions with many images: those that left the window leave memory, their texts stay, and an undo brings them back. */
import { describe, expect, it } from "vitest";
import type { Message, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { strategyOf } from "windrow/window";
import { ramStore } from "../kit/inside/store.ts";
import { Composer, openaiChat } from "../kit/inside/window.ts";
import { openSession } from "../kit/sessions.ts";

const budget = 12_000;
const imageLength = 400_000;
const words = "The page shows an order, its price and the button that pays for it. ";

/** A call that looks at a page, and the page as text and image. */
function step(number: number): readonly Message[] {
  const callId = `c${number}`;
  const data = String(number)
    .padStart(8, "A")
    .repeat(imageLength / 8);
  const text = `Page ${number}: order number ${number * 7919}.\n${words.repeat(4)}`;
  return [
    {
      id: `a${number}`,
      role: "assistant",
      parts: [
        { type: "reasoning", text: `I look at page ${number}.` },
        { type: "tool-call", callId, name: "screenshot", args: { page: number } },
      ],
    },
    {
      id: `t${number}`,
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId,
          name: "screenshot",
          content: [
            { type: "text", text },
            { type: "image", mediaType: "image/png", data, width: 1280, height: 800 },
          ],
        },
      ],
    },
  ];
}

const task: Message = {
  id: "task",
  role: "user",
  parts: [{ type: "text", text: "Find the order that was not paid." }],
};
const messages = [task, ...Array.from({ length: 60 }, (_, number) => step(number)).flat()];

function images(of: readonly Message[]): readonly (string | undefined)[] {
  return of
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === "tool-result" && typeof part.content !== "string" ? part.content : []))
    .flatMap((item) => (item.type === "image" ? [item.data] : []));
}

describe("many images", () => {
  it("leave memory with the window, and leave every window as it was", () => {
    const make = (state?: WindowState): Composer =>
      new Composer({
        strategy: strategyOf("adaptive"),
        profile: openaiChat,
        counter: estimate,
        ...(state && { state }),
      });
    const live = make();
    for (const [at, message] of messages.entries()) {
      live.push(at + 1, message);
      if (message.role !== "tool") continue;
      const resumed = at % 20 === 0 ? make(live.state) : undefined;
      for (const [place, one] of messages.slice(0, at + 1).entries()) resumed?.push(place + 1, one);
      const again = resumed?.compose({ budget });
      const composed = live.compose({ budget });
      expect([undefined, composed.report.windowHash]).toContain(again?.report.windowHash);
      expect(images(composed.messages).every((data) => data?.length === imageLength)).toBe(true);
    }
    const kept = images(live.messages.map(({ message }) => message)).filter((data) => data !== undefined);
    expect(live.state.epoch).toBeGreaterThan(2);
    expect(kept.length).toBeLessThan(25);
    expect(live.messages.map(({ seq }) => seq)).toEqual(messages.map((_, at) => at + 1));
  });

  it("go as what a host keeps beside a message and the raw text of a call go", () => {
    const composer = new Composer({ strategy: strategyOf("adaptive"), profile: openaiChat, counter: estimate });
    const held = String("A").repeat(imageLength);
    for (let number = 0; number < 60; number++) {
      const [call, result] = step(number) as readonly [Message, Message];
      const parts = call.parts.map((part) => (part.type === "tool-call" ? { ...part, argsText: held } : part));
      composer.push(2 * number + 1, number % 2 === 0 ? { ...call, parts } : call);
      const text = `Page ${number}: order number ${number * 7919}.\n${words.repeat(20)}`;
      const content = [{ type: "tool-result", callId: `c${number}`, content: text } as const];
      composer.push(2 * number + 2, { ...result, parts: content, ...(number % 2 === 1 && { extra: { held } }) });
      composer.compose({ budget });
    }
    const kept = composer.messages.filter(({ message }) => JSON.stringify(message).length > imageLength);
    expect(composer.state.epoch).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(30);
  });

  it("come back whole where an epoch is undone", { tags: ["slow"] }, async () => {
    const session = await openSession({ store: ramStore(), strategy: "adaptive", budget });
    for (const message of messages) {
      await session.append([message]);
      if (message.role === "tool") await session.compose();
    }
    await session.undo();
    const { messages: window } = await session.compose({ budget: 200_000 });
    const shown = images(window);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.every((data) => data?.length === imageLength)).toBe(true);
  });
});
