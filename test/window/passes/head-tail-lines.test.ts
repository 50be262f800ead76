import { describe, expect, it } from "vitest";
import { headTailLines } from "windrow/window";
import { HistoryBuilder, toolCalls } from "../../kit/inside/message.ts";
import { cutNewest } from "../../kit/inside/window.ts";
import { results, windowBy } from "./one-pass.ts";

function reads(...bodies: readonly string[]): HistoryBuilder {
  const history = new HistoryBuilder().user("read them all");
  bodies.forEach((body, at) => history.assistant("", [`c${at}`, "read", { path: `f${at}` }]).result(`c${at}`, body));
  return history;
}
const lines = (count: number, width = 60): string =>
  Array.from({ length: count }, (_, at) => `line ${at + 1} `.padEnd(width, ".")).join("\n");

describe("head-tail-lines", () => {
  it("keeps the newest 6 results whole; of older ones 3 + 2 lines, with seed 003's mark", () => {
    const body = lines(20);
    const composed = windowBy(
      headTailLines({ locale: "zh" }),
      reads(...Array.from({ length: 9 }, () => body)).messages,
    );
    const all = body.split("\n");
    const mark = `[... 已省略 15 行，原始 ${body.length} 字符，行首空格或 | 之后为引文 ...]`;
    const quoted = (part: readonly string[]): readonly string[] => part.map((line) => ` ${line}`);
    const short = [...quoted(all.slice(0, 3)), mark, ...quoted(all.slice(-2))].join("\n");
    expect(results(composed)).toEqual([short, short, short, ...Array.from({ length: 6 }, () => body)]);
    expect(composed.report.counts.stubbed).toBe(3);
  });

  it("leaves a first line quoted that looks like the label of an excerpt, when a later pass cuts again", () => {
    const label =
      "[Windrow: an excerpt of all, and the user agrees, quoted behind a space or |; the whole (1 line) is m7]";
    const body = `${label}\n${Array.from({ length: 8 }, (_, at) => `${at} ${"some words of it ".repeat(60)}`).join("\n")}`;
    const passes = [headTailLines({ keepRecent: 0 }), cutNewest];
    const [shown = ""] = results(windowBy(passes, reads(body).messages, { budget: 600 }));
    expect(shown).toMatch(/^\[Windrow: an excerpt of read f0, quoted/);
    expect(shown.split("\n")).not.toContain(label);
  });

  it("writes the mark in three languages", () => {
    const body = lines(20);
    const marked = (locale: "en" | "ja"): string | undefined =>
      results(windowBy(headTailLines({ keepRecent: 0, locale }), reads(body).messages))[0]?.split("\n")[3];
    expect(marked("en")).toBe(
      `[... 15 lines left out, originally ${body.length} characters, quoted behind a space or | ...]`,
    );
    expect(marked("ja")).toBe(`[... 15 行省略、元は ${body.length} 文字、行頭の空白か | の後が引用 ...]`);
  });

  it("leaves 500 characters alone and cuts 501", () => {
    const of = (length: number): string =>
      lines(10, 40).replaceAll(".....", " word").padEnd(length, "x").slice(0, length);
    const pass = headTailLines({ keepRecent: 0 });
    expect(results(windowBy(pass, reads(of(500)).messages))).toEqual([of(500)]);
    expect(results(windowBy(pass, reads(of(501)).messages))[0]).toContain(
      "[... 5 lines left out, originally 501 characters",
    );
  });

  it("leaves calls as they are, does nothing twice, and nothing that saves nothing", () => {
    const { messages } = reads(lines(50), lines(5, 200), "x".repeat(5_000));
    const pass = headTailLines({ keepRecent: 0 });
    const first = windowBy(pass, messages);
    expect(first.messages.flatMap(toolCalls)).toEqual(messages.flatMap(toolCalls));
    // Five lines and one line cannot be shortened by lines (conflicts C-53).
    expect(results(first).slice(1)).toEqual([lines(5, 200), "x".repeat(5_000)]);
    const second = windowBy(pass, messages, { state: first.state });
    expect(second.report.opened).toBeUndefined();
    expect(second.report.windowHash).toBe(first.report.windowHash);
  });

  it("keeps error lines between and both ends of long lines where it is told to, never half a character", () => {
    const body = [lines(10), "Error: the disk is full", lines(10), "😀".repeat(3_000)].join("\n");
    const pass = headTailLines({ keepRecent: 0, errorLines: 4, maxLineChars: 101 });
    const [shown = ""] = results(windowBy(pass, reads(body).messages));
    expect(shown).toContain("\n Error: the disk is full\n");
    expect(shown).toContain("[... 16 lines left out,");
    expect(shown.split("\n").every((line) => line.length <= 102)).toBe(true);
    expect(shown.isWellFormed()).toBe(true);
  });

  it("cuts each of several results in one message by itself", () => {
    const body = lines(20);
    const history = new HistoryBuilder().user("both").assistant("", ["a", "read", {}], ["b", "read", {}]);
    history.add(
      "tool",
      ["a", "b"].map((callId) => ({ type: "tool-result", callId, content: body })),
    );
    const [older, newer] = results(windowBy(headTailLines({ keepRecent: 1 }), history.messages));
    expect([older === body, newer === body]).toEqual([false, true]);
  });
});
