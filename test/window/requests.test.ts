/** What the user asked for and the agent carried out, and what the user told: the second is worth more of a window. */
import { expect, it } from "vitest";
import { composeWindow } from "windrow";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";

const budget = 2_500;

/** Letters of customers, each with a number of theirs, between many requests that calls carry out. */
function letters(): HistoryBuilder {
  const history = new HistoryBuilder().user("You look after the counters of our halls. Each letter names a hall.");
  for (let index = 0; index < 60; index++) {
    if (index % 10 === 5) {
      history
        .user(
          `Hall-${100 + index} writes: ${prose(index)} ${prose(index + 1)} The meter stands at ${7_000 + index}. ` +
            `${prose(index + 2)}`,
        )
        .assistant("I have noted it.");
      continue;
    }
    const [hall, shelf] = [`hall-${200 + index}`, `shelf-${900 - index}`];
    history.user(`Count ${shelf} of ${hall} and then ${shelf}-upper of ${hall}-annex.`);
    history.assistant("", [`a${index}`, "count", { hall, shelf }]).result(`a${index}`, `${300 + index} parts`);
    history
      .assistant("", [`b${index}`, "count", { hall: `${hall}-annex`, shelf: `${shelf}-upper` }])
      .result(`b${index}`, "none");
    history.assistant("It is counted.");
  }
  return history.user("Go on.");
}

function prose(index: number): string {
  const names = ["Arvid", "Berta", "Cosmo", "Doris", "Egon", "Frida", "Gustl", "Hanna", "Ilse", "Jonas"];
  return `${names[index % 10]} told ${names[(index * 7 + 3) % 10]} that nothing of the kind had been seen there before.`;
}

function digestOf(): string {
  const { messages } = composeWindow({ messages: letters().messages, strategy: "adaptive", budget });
  return messages.map(messageText).find((text) => text.startsWith("[Windrow: a record")) ?? "";
}

it("keeps what the user told where requests that were carried out crowd it", () => {
  const digest = digestOf();
  for (const told of [7_025, 7_035, 7_045, 7_055]) expect(digest).toContain(`The meter stands at ${told}.`);
});

it("shows a sentence of a message with the beginning that says whose it is", () => {
  const digest = digestOf();
  const block = /\[m\d+\]\n((?: .*\n|…\n)*? The meter stands at 7045\..*\n)/.exec(digest)?.[1];
  expect(block).toMatch(/^ Hall-145 writes:/);
});
