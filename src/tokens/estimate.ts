/** The default token counter: an estimate from the classes of characters a text holds, without a vocabulary. */
import type { TokenCounter } from "./counter.ts";
import { featureCount, featureRows, measure } from "./features.ts";
import table from "./weights.json" with { type: "json" };
import { detached } from "../message/detached.ts";
import { atOnce } from "../turns.ts";
import type { Work } from "../turns.ts";

/**
 * Tokens for each feature, by row and column of `featureRows`: non-negative least squares of the relative error against
 * o200k, printed by scripts/fit-estimate.ts. On messages of 2,000 code units held out of the fit (93 kinds of text, other
 * files than those fitted to) the error is 3.3 % on average and below 10.4 % for 95 of 100 messages.
 */
const weights: Readonly<Record<string, readonly number[]>> = table;

const weightOf = Float64Array.from(
  featureRows.flatMap(([row, columns]) => columns.map((_, at) => weights[row]?.[at] ?? 0)),
);
const counts = new Float64Array(featureCount);

/** Length from which a text is counted line by line: much of so long a text, a digest above all, was counted before. */
const longText = 16_384;
/** Lines that are remembered twice over, and the longest of them: about a megabyte. */
const mostLines = 4_096;
const longestLine = 512;

let newer = new Map<string, number>();
let older = new Map<string, number>();

/** Tokens of a text before rounding. */
function weigh(text: string): number {
  counts.fill(0);
  const end = measure(text, counts);
  let total = 0;
  for (let at = 0; at < end; at++) total += counts[at]! * weightOf[at]!;
  return total;
}

/** Lines that are counted in one step. */
const linesPerStep = 512;

/** The same, from the weights of its lines; no feature reaches over a line's end. */
function* weighingLines(text: string): Work<number> {
  let total = 0;
  let steps = 0;
  for (let from = 0; from < text.length;) {
    let to = text.indexOf("\n", from);
    if (to < 0) to = text.length;
    // Line ends that follow on each other are one run.
    while (to < text.length && (text[to] === "\n" || text[to] === "\r")) to++;
    total += weighLine(text.slice(from, to));
    from = to;
    if (++steps % linesPerStep === 0) yield;
  }
  return total;
}

/** A text that was counted in steps, until it is counted. */
let ahead: { readonly text: string; readonly tokens: number } | undefined;

/** Counts a long text in steps, where this is its counter: it is then counted at once, without a step of its own. */
export function* countAhead(counter: TokenCounter, text: string): Work<void> {
  if (counter === estimate && text.length >= longText) ahead = { text, tokens: yield* weighingLines(text) };
}

function weighLong(text: string): number {
  const known = ahead?.text === text ? ahead.tokens : undefined;
  ahead = undefined;
  return known ?? atOnce(weighingLines(text));
}

function weighLine(line: string): number {
  if (line.length > longestLine) return weigh(line);
  let tokens = newer.get(line);
  if (tokens !== undefined) return tokens;
  tokens = older.get(line) ?? weigh(line);
  if (newer.size >= mostLines) {
    older = newer;
    newer = new Map();
  }
  newer.set(detached(line), tokens);
  return tokens;
}

/**
 * `estimate`, the default counter: the tokens o200k would give, in one pass and linear for any text, with no vocabulary
 * to load. Knows Latin, Cyrillic, Greek, Armenian, Georgian, Hebrew, Arabic, Devanagari and seven more scripts of India
 * and Sri Lanka, Thai, Lao, Tibetan, Burmese, Khmer, Ethiopic, Han (simplified, traditional, Japanese), kana and Hangul;
 * the letters of other scripts count as o200k mostly splits them, by their bytes.
 *
 * Other vocabularies differ from o200k (docs/concepts.md); the ledger calibrates with the usage a provider reports.
 */
export const estimate: TokenCounter = {
  name: "estimate",
  count: (text) => {
    if (text === "") return 0;
    return Math.max(1, Math.round(text.length < longText ? weigh(text) : weighLong(text)));
  },
};
