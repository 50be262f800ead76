/** The exact counters before they are loaded: in a process of its own, as a counter that is loaded stays so. */
import { expect, it } from "vitest";
import { composeWindow, countTokens } from "windrow";
import { fromChat } from "windrow/chat";

it.each(["o200k", "cl100k"] as const)("%s names loadCounter before it is loaded", (name) => {
  const messages = fromChat([{ role: "user", content: "twelve chars" }]);
  expect(() => countTokens([], name)).toThrow(`loadCounter("${name}")`);
  expect(() => composeWindow({ messages, budget: 1_000, counter: name })).toThrow(
    expect.objectContaining({
      code: "unknown-counter",
      message: expect.stringContaining(`counter: await loadCounter("${name}")`),
    }),
  );
});
