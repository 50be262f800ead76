/** Results of text and an image: the text shrinks, and the image stays or leaves by a rule of its own. */
import { describe, expect, it } from "vitest";
import type { Composed, Message } from "windrow";
import { headTailLines, pruneUiTree, supersede } from "windrow/window";
import { HistoryBuilder, toolResults } from "../../kit/inside/message.ts";
import type { ResultContent } from "../../kit/inside/message.ts";
import { cutNewest } from "../../kit/inside/window.ts";
import { windowBy } from "./one-pass.ts";

/** An image of 75 × `height` pixels: `height / 10` tokens. */
const image = (height: number): ResultContent => ({
  type: "image",
  mediaType: "image/png",
  data: "iVBORw0KGgo=",
  width: 75,
  height,
});
const text = (words: string): ResultContent => ({ type: "text", text: words });
const long = (word: string): string => Array.from({ length: 60 }, (_, at) => `${word} ${at} of the page`).join("\n");

/** Calls of one tool with these results, one after another. */
function looks(...contents: readonly (readonly ResultContent[])[]): readonly Message[] {
  const history = new HistoryBuilder().user("look at the page");
  contents.forEach((content, at) => {
    history.assistant("", [`c${at}`, "look", { page: "1" }]);
    history.add("tool", [{ type: "tool-result", callId: `c${at}`, content }]);
  });
  return history.messages;
}
const contents = ({ messages }: Composed): readonly unknown[] =>
  messages.flatMap(toolResults).map(({ content }) => content);

describe("a result of text and an image", () => {
  const both = (word: string): readonly ResultContent[] => [text(long(word)), image(300), text("the end")];

  it("keeps the image and the ends of its texts", () => {
    const composed = windowBy(
      headTailLines({ keepRecent: 1, headLines: 1, tailLines: 1 }),
      looks(both("a"), both("b")),
    );
    const mark = `[... 59 lines left out, originally ${`${long("a")}\nthe end`.length} characters, quoted behind a space or | ...]`;
    expect(contents(composed)).toEqual([[text(` a 0 of the page\n${mark}\n the end`), image(300)], both("b")]);
    expect(composed.report.opened?.edits).toMatchObject([{ keepsMedia: true }]);
  });

  it("keeps the place of the image before the text", () => {
    const messages = looks([image(300), text(long("a"))]);
    const [content] = contents(windowBy(headTailLines({ keepRecent: 0 }), messages));
    expect(content).toMatchObject([{ type: "image" }, { type: "text", text: expect.stringContaining("left out") }]);
  });

  it("keeps the image where a newer result takes the place of the text", () => {
    const line = text("[Windrow: an older result of look; the newer is m5; recall m3 shows the whole of this one]");
    const composed = windowBy(supersede({ when: "always" }), looks(both("a"), both("b")));
    expect(contents(composed)).toEqual([[line, image(300)], both("b")]);
  });

  it("is a dump of a screen where its text is one, and keeps the picture of the screen", () => {
    const elements = Array.from({ length: 40 }, (_, at) => ({
      role: "AXButton",
      title: `Button ${at}`,
      position: { x: at, y: 1 },
    }));
    const messages = looks([text(JSON.stringify({ elements })), image(300)]);
    const [content] = contents(windowBy(pruneUiTree({ keepNewest: 0 }), messages));
    expect(content).toMatchObject([{ type: "text", text: expect.stringContaining("truncated {") }, image(300)]);
  });

  it("is as it was where there is no text to shorten", () => {
    const messages = looks([image(300)], [image(300)]);
    for (const pass of [
      headTailLines({ keepRecent: 0 }),
      supersede({ when: "always" }),
      pruneUiTree({ keepNewest: 0 }),
    ])
      expect(contents(windowBy(pass, messages))).toEqual([[image(300)], [image(300)]]);
  });

  it.each([
    ["keeps a small image beside an excerpt", 300, true],
    ["loses a large one, and the excerpt's id brings it back", 20_000, false],
  ] as const)("%s", (_, height, stays) => {
    const composed = windowBy(cutNewest, looks([text(long("word".repeat(40))), image(height)]), { budget: 500 });
    const [content] = contents(composed);
    const label = expect.stringMatching(/^\[Windrow: an excerpt of look .*is m3\]/);
    expect(content).toEqual(stays ? [{ type: "text", text: label }, image(height)] : label);
    expect(composed.report.opened?.tokensAfter).toBe(composed.tokens);
  });
});
