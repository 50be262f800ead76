/**
 * Excerpts: the lines of one large text that later calls look back for, valued as the digest values lines, in their
 * order, with every gap marked.
 */
import { quoteLine, quoteText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { TextMask } from "../window.ts";
import { lineChooser } from "./choose.ts";
import { condensed, linesOf } from "./line.ts";
import { Texts } from "./texts.ts";
import type { Passage } from "./line.ts";

/** Options of an excerpt. */
export interface ExcerptOptions {
  /** Most tokens the excerpt may have. */
  readonly maxTokens: number;
  readonly counter: TokenCounter;
  readonly mask: TextMask;
}

/** Tokens that two marks of gaps take: room for less has room for no line. */
const leastRoom = 12;

/**
 * The text as a quotation where it fits; else its most useful lines. JSON in one piece is broken into short records first; a
 * line that is very long keeps its head and its tail, cut at code points. Empty where not even a line fits.
 */
export function excerpt(text: string, { maxTokens, counter, mask }: ExcerptOptions): string {
  const whole = quoteText(text);
  if (counter.count(whole) <= maxTokens) return whole;
  const lines = linesOf(condensed(text), 1, "result", mask);
  const choose = lineChooser([{ file: false, subject: "", label: "", at: 1, lines }], {
    texts: new Texts(counter),
    recency: () => 1,
    heat: () => 0,
    shownLines: new Set(),
    shownTexts: [],
    title: () => "",
  });
  // Marks of gaps take a few tokens more than the choice allowed for.
  for (let room = maxTokens; room > leastRoom;) {
    const shown = render(choose(room), lines.length);
    const excess = counter.count(shown) - maxTokens;
    if (excess <= 0) return shown;
    room -= excess;
  }
  return "";
}

function render(passages: readonly Passage[], count: number): string {
  const shown: string[] = [];
  let next = 1;
  const gapTo = (line: number): void => {
    const gap = line - next;
    if (gap > 0) shown.push(`[… ${gap} ${gap === 1 ? "line" : "lines"} …]`);
  };
  for (const { at, lines } of passages) {
    gapTo(at);
    shown.push(...lines.map(({ text }) => quoteLine(text)));
    next = at + lines.length;
  }
  if (passages.length > 0) gapTo(count + 1);
  return shown.join("\n");
}
