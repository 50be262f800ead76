/**
 * Look-back-aware excerpts: of a text that is too large, the lines later calls look back for (errors, paths, ids, names,
 * numbers) beside its head and tail, in their order, with every gap marked.
 */
import { createMask, maskText } from "../mask/mask.ts";
import type { TokenCounter } from "../tokens/counter.ts";

/** What an excerpt is made under. */
export interface ExcerptOptions {
  /** Most tokens the excerpt may have. */
  readonly maxTokens: number;
  readonly counter: TokenCounter;
  /** Lines that stand elsewhere in the window already (trimmed); not worth showing twice. */
  readonly seen?: ReadonlySet<string>;
}

/** Lines longer than this many characters are cut at both ends before they are weighed. */
const longestLine = 400;

/** Words that mark a line of output as a failure, in English, Japanese and Chinese. */
export const errorWords =
  /\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|traceback|warning|denied|refused|not found|cannot|undefined|assert\w*)\b|エラー|失敗|例外|错误|失败|錯誤/i;
const pathLike = /(?:[\w.@~-]+\/)+[\w.@-]+|\b[\w-]+\.[a-z]{1,5}\b/;
const nameLike = /\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Za-z]\w*(?:::|\.)\w+)\b/;
const numberLike = /\b(?:\d{3,}|\d+\.\d+|[0-9a-f]{7,})\b/;

/**
 * The text itself where it fits; else its most useful lines. A text of one huge line keeps its head and its tail, cut at
 * code points. Empty where not even a line fits.
 */
export function excerpt(text: string, { maxTokens, counter, seen }: ExcerptOptions): string {
  if (counter.count(text) <= maxTokens) return text;
  const lines = text.split("\n").map((line) => clip(line, longestLine));
  const ranked = rank(lines, seen);
  const kept = new Set<number>();
  let left = maxTokens;
  for (const index of ranked) {
    // A gap mark costs about six tokens, unless a neighbour stands already.
    const gap = (kept.has(index - 1) ? 0 : 3) + (kept.has(index + 1) ? 0 : 3);
    const cost = counter.count(lines[index] ?? "") + 1 + gap;
    if (cost > left) continue;
    kept.add(index);
    left -= cost;
    if (left < 8) break;
  }
  return render(lines, kept);
}

const mask = createMask();

/**
 * A text without its secrets, for cutting: a cut may take the part off by which a secret is known, and what is left of
 * it would pass every mask.
 */
export function cuttable(text: string): string {
  return maskText(mask, text).text;
}

/** A text cut in its middle to at most `length` characters, never inside a surrogate pair or a secret. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const whole = cuttable(text);
  const half = Math.max(1, Math.floor((length - 3) / 2));
  const head = whole.slice(0, half).replace(/[\uD800-\uDBFF]$/, "");
  const tail = whole.slice(-half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head} … ${tail}`;
}

function rank(lines: readonly string[], seen: ReadonlySet<string> | undefined): readonly number[] {
  const shown = new Set<string>();
  const values = lines.map((line, index) => {
    const trimmed = line.trim();
    if (trimmed.length < 3 || shown.has(trimmed) || seen?.has(trimmed)) return 0;
    shown.add(trimmed);
    return valueOf(line, index, lines.length);
  });
  return values
    .map((value, index) => ({ index, density: value / Math.sqrt(8 + (lines[index]?.length ?? 0)), value }))
    .filter(({ value }) => value > 0)
    .sort((left, right) => right.density - left.density || left.index - right.index)
    .map(({ index }) => index);
}

function valueOf(line: string, index: number, count: number): number {
  let value = 1;
  if (errorWords.test(line)) value += 2;
  if (pathLike.test(line)) value += 1.5;
  if (nameLike.test(line)) value += 1.5;
  if (numberLike.test(line)) value += 0.5;
  if (index < 3) value += 2 - index * 0.5;
  if (index >= count - 2) value += 1.5;
  return value;
}

function render(lines: readonly string[], kept: ReadonlySet<number>): string {
  const shown: string[] = [];
  let gap = 0;
  lines.forEach((line, index) => {
    if (!kept.has(index)) {
      gap++;
      return;
    }
    if (gap > 0) shown.push(`[… ${gap} ${gap === 1 ? "line" : "lines"} …]`);
    shown.push(line);
    gap = 0;
  });
  if (gap > 0 && shown.length > 0) shown.push(`[… ${gap} ${gap === 1 ? "line" : "lines"} …]`);
  return shown.join("\n");
}
