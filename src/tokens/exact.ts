/**
 * Exact counters, by the `gpt-tokenizer` package that the user installs. Guarded for the text of agents: special tokens
 * count as text, no count is kept, and time is linear however long a run without a break is.
 */
import { WindrowError } from "../errors.ts";
import type { TokenCounter } from "./counter.ts";
import { counterOf, isExactName, keepCounter } from "./counters.ts";
import type { ExactName } from "./counters.ts";

/** The part of a gpt-tokenizer encoding that is used here. */
interface Encoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
  setMergeCacheSize(size: number): void;
}

/**
 * Characters of one unbroken run that are counted together. The package's time grows with the square of a run; at 256 it
 * is still linear in the text (bench/exact.ts), and ordinary text has no longer ones.
 */
const longestRun = 256;

const suffix = String.raw`(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))`;
const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const some = `{1,${longestRun}}`;
const any = `{0,${longestRun}}`;

/** How each encoding parts a text before it merges bytes (openai/tiktoken, openai_public.py), every repetition bounded. */
const pieces: Readonly<Record<ExactName, string>> = {
  o200k: [
    String.raw`[^\r\n\p{L}\p{N}]?${upper}${any}${lower}${some}${suffix}?`,
    String.raw`[^\r\n\p{L}\p{N}]?${upper}${some}${lower}${any}${suffix}?`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]${some}[\r\n/]${any}`,
    String.raw`\s${any}[\r\n]${some}`,
    String.raw`\s${some}(?!\S)`,
    String.raw`\s${some}`,
  ].join("|"),
  cl100k: [
    suffix,
    String.raw`[^\r\n\p{L}\p{N}]?\p{L}${some}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]${some}[\r\n]${any}`,
    String.raw`\s${any}[\r\n]`,
    String.raw`\s${some}(?!\S)`,
    String.raw`\s${some}`,
  ].join("|"),
};

const modules: Readonly<Record<ExactName, () => Promise<unknown>>> = {
  o200k: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k: () => import("gpt-tokenizer/encoding/cl100k_base"),
};

/**
 * Makes a counter ready by name, so that `counterOf` and `composeWindow` can use it: `o200k` (GPT-4o and newer) and
 * `cl100k` (GPT-4, GPT-3.5) count exactly what those models count; other names and counters are handed back as
 * `counterOf` does. Needs `npm install gpt-tokenizer` for the exact ones; about 150 ms and 64 MB, once a process.
 *
 * A text is counted as the package counts it, except where a run without a break is longer than 256 characters: there
 * each 256 characters are counted alone, which adds about one token each at most. The package's merge cache is
 * switched off for the process: it would keep counted text alive.
 *
 * @throws WindrowError `unknown-counter` for another name, `package-missing` where gpt-tokenizer is not installed
 */
export async function loadCounter(counter: string | TokenCounter = "estimate"): Promise<TokenCounter> {
  if (typeof counter !== "string" || !isExactName(counter)) return counterOf(counter);
  const encoding = await load(counter);
  encoding.setMergeCacheSize(0);
  return keepCounter(exactCounter(counter, encoding));
}

async function load(name: ExactName): Promise<Encoding> {
  try {
    return (await modules[name]()) as Encoding;
  } catch (error) {
    throw new WindrowError(
      "package-missing",
      `The counter "${name}" needs the package gpt-tokenizer, which could not be loaded: npm install gpt-tokenizer@4`,
      { counter: name, install: "gpt-tokenizer@4" },
      { cause: error },
    );
  }
}

function exactCounter(name: ExactName, encoding: Encoding): TokenCounter {
  const asText = { disallowedSpecial: new Set<string>() };
  const pattern = new RegExp(pieces[name], "gu");
  const plain = (text: string): number => (text === "" ? 0 : encoding.countTokens(text, asText));
  return {
    name,
    count(text) {
      if (text.length < longestRun) return plain(text);
      let total = 0;
      let start = 0;
      const known = new Map<string, number>();
      pattern.lastIndex = 0;
      for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
        const [run] = match;
        if (run.length < longestRun) continue;
        const tokens = known.get(run) ?? plain(run);
        known.set(run, tokens);
        total += plain(text.slice(start, match.index)) + tokens;
        start = pattern.lastIndex;
      }
      return total + plain(start === 0 ? text : text.slice(start));
    },
  };
}
