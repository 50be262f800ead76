/** head-tail-lines: older large results keep their first and last lines. */
import type { Locale } from "../../config/locale.ts";
import { quoteHints, quoteLine, splitLines, unquoteStub } from "../../message/quote.ts";
import { clip, errorWords } from "../stub/cut.ts";
import type { Pass, TextMask } from "../window.ts";
import { isStub } from "../edits.ts";
import { shortening } from "./results.ts";

/** Options of {@link headTailLines}; the defaults are those of preset `pi` (docs/presets.md). */
export interface HeadTailOptions {
  /** How many of the newest results stay whole. Default 6. */
  readonly keepRecent?: number;
  /** Only results with more characters than this. Default 500. */
  readonly minChars?: number;
  /** Lines kept at the beginning. Default 3. */
  readonly headLines?: number;
  /** Lines kept at the end. Default 2. */
  readonly tailLines?: number;
  /** The language of the mark between them. Default `en`. */
  readonly locale?: Locale;
  /** The most lines between them that stay because they report an error. Default 0. */
  readonly errorLines?: number;
  /** Longest line kept, in characters; a longer one keeps its two ends. Default: any. */
  readonly maxLineChars?: number;
  /** When results shrink: `over-target`, or `always` (default). */
  readonly when?: "over-target" | "always";
}

/** The mark for `lines` left out of a text of `chars` characters. */
const marks: Readonly<Record<Locale, (lines: number, chars: number) => string>> = {
  en: (lines, chars) =>
    `[... ${lines} ${lines === 1 ? "line" : "lines"} left out, originally ${chars} characters, ${quoteHints.en} ...]`,
  ja: (lines, chars) => `[... ${lines} 行省略、元は ${chars} 文字、${quoteHints.ja} ...]`,
  zh: (lines, chars) => `[... 已省略 ${lines} 行，原始 ${chars} 字符，${quoteHints.zh} ...]`,
};
/** A mark on a line of its own. */
const anyMark = /^\[\.\.\. .* \d+ (?:characters|文字|字符).* \.\.\.\]$/m;

/** Cuts results behind the newest ones to their first and last lines; calls and their arguments stay as they are. */
export function headTailLines({
  keepRecent = 6,
  minChars = 500,
  headLines = 3,
  tailLines = 2,
  locale = "en",
  errorLines = 0,
  maxLineChars = Infinity,
  when = "always",
}: HeadTailOptions = {}): Pass {
  const mark = marks[locale];
  const shorten = (text: string, mask: TextMask): string => {
    // A cut can take off the part by which a secret is known.
    const lines = splitLines(mask(text));
    const end = Math.max(headLines, lines.length - tailLines);
    const errors = new Set<number>();
    for (let at = headLines; at < end && errors.size < errorLines; at++)
      if (errorWords.test(lines[at] ?? "")) errors.add(at);
    const short = (line: string): string =>
      quoteLine(line.length > maxLineChars ? clip(line, maxLineChars, mask) : line);
    const kept = lines.filter((_, at) => at < headLines || at >= end || errors.has(at)).map(short);
    kept.splice(headLines, 0, mark(Math.max(0, end - headLines - errors.size), text.length));
    return kept.join("\n");
  };
  const reason = `a result older than the newest ${keepRecent}`;
  return shortening({
    name: "head-tail-lines",
    when,
    *texts(results, mask) {
      for (const entry of results.slice(0, Math.max(0, results.length - keepRecent))) {
        const { text, result } = entry;
        if (text === undefined || text.length <= minChars || (isStub(result) && anyMark.test(text))) continue;
        yield { entry, text: shorten(isStub(result) ? unquoteStub(text) : text, mask), reason };
      }
    },
  });
}
