/** Strict recall: of Windrow's own messages only whole lines of the history count. */
import { expect, it } from "vitest";
import type { Message } from "windrow";
import { StrictTally, strictPercent } from "../../bench/window/lab/strict-metric.ts";
import { AtomReader, findReferences, MessageTokens } from "../kit/inside/replay.ts";
import { calls, characters, user } from "../replay/histories.ts";

const far = user("farName\nthe whole line that is far away");
const messages = [far, user("x".repeat(100)), calls("1", "f", { a: "farName" })];
const reader = new AtomReader();
const references = findReferences(messages, new MessageTokens(characters), reader);
const shows = (text: string): Message => ({ ...user(text), status: "synthetic" });

it.each([
  ["bare names", shows("names: farName nearName"), 0],
  ["a line of the history with its number", shows("a title\n  7\t  farName  \nan end"), 100],
  ["a line that is none of the history's", shows("farName the whole line that is far away"), 0],
  ["a message that is not Windrow's", user("names: farName nearName"), 100],
])("counts %s", (_, window, percent) => {
  const tally = new StrictTally({ messages, reader, references, farDistance: 50 });
  tally.add(2, [window]);
  expect(strictPercent(tally.result())).toBe(percent);
});
