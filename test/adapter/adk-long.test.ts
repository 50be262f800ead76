/** A ContextManager over long conversations: what it lets go is what no window would show. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { ContextManager } from "windrow/adk";
import { fromContents } from "windrow/gemini";
import { contentsOf } from "../kit/inside/shape.ts";
import type { GeminiContent } from "windrow/gemini";
import { gemini, miki } from "../kit/inside/window.ts";

type Scored = GeminiContent & { readonly importance: number };

const importance = fc.constantFrom(0.4, 0.5, 0.5, 0.5, 0.6, 0.8, 0.8, 1);
const says = fc
  .tuple(fc.constantFrom("user", "model"), importance)
  .map(([role, score]): readonly Omit<Scored, "parts">[] => [{ role, importance: score }]);
const calls = fc.tuple(fc.integer({ min: 1, max: 4 }), importance, fc.boolean()).map(([count, score, together]) => {
  const names = Array.from({ length: count }, (_, at) => `tool${at}`);
  const responses = names.map((name) => ({ functionResponse: { name, response: { ok: true } } }));
  const call: Scored = {
    role: "model",
    parts: names.map((name) => ({ functionCall: { name, args: {} } })),
    importance: 0.5,
  };
  const answers = together ? [responses] : responses.map((response) => [response]);
  return [call, ...answers.map((parts): Scored => ({ role: "function", parts, importance: score }))];
});

/** Conversations of several hundred contents, each text its own. */
const conversation = fc
  .array(fc.oneof(says, calls), { minLength: 60, maxLength: 220 })
  .map((groups) => groups.flat().map((content, at): Scored => ({ parts: [{ text: `text ${at}` }], ...content })));

/** The window over everything, by the preset's own strategy. */
function whole(contents: readonly Scored[], maxMessages: number): readonly GeminiContent[] {
  const messages = fromContents(contents.map(({ role, parts }) => ({ role, parts }) as GeminiContent)).map(
    (message, at) => {
      return { ...message, extra: { ...message.extra, importance: contents[at]?.importance ?? 0 } };
    },
  );
  const profile = { ...gemini, rules: { ...gemini.rules, lastIsUser: false, callNeedsSignature: false } };
  const compose = (most: number) => {
    return composeWindow({ messages, strategy: miki({ maxMessages: most }), profile, budget: Infinity }).messages;
  };
  const window = compose(maxMessages);
  const above = window.length - maxMessages;
  return contentsOf(above > 0 ? compose(maxMessages - above) : window);
}

describe("a long conversation", () => {
  it(
    "gives the window that all of its messages would give, at any length",
    { tags: ["slow"], timeout: 120_000 },
    () => {
      fc.assert(
        fc.property(conversation, fc.integer({ min: 2, max: 12 }), (contents, maxMessages) => {
          const manager = new ContextManager({ maxMessages });
          contents.forEach((content, at) => {
            manager.addMessage(content);
            if (at % 23 !== 0 && at !== contents.length - 1) return;
            const expected = whole(contents.slice(0, at + 1), maxMessages);
            expect(manager.getMessages().map(({ parts }) => parts)).toEqual(expected.map(({ parts }) => parts));
          });
        }),
      );
    },
  );
});
