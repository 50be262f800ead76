/**
 * Sentences of English, Japanese and Chinese text, each verbatim. Split by hand: Intl.Segmenter cuts Japanese
 * quotations in two and takes quadratic time in Node 20, and larger splitters take seconds for a megabyte.
 */

import { splitLines } from "./quote.ts";

/**
 * The possible end of a sentence: after full-width marks anywhere, after other marks before a space or the end of the
 * line. Looking back keeps a long run of marks linear.
 */
const ends =
  /(?<![。！？])[。！？]+[」』”’）)]*(?![とっ]|[」』”’）)。！？])|(?<![.!?…])[.!?…]+["'”’)\]」]*(?=\s+[^\s\p{Ll}]|\s*$)/gu;

/** Abbreviations, whose point ends no sentence. */
const abbreviation = /(?:^|[\s(])(?:\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St|vs|No|Fig|e\.g|i\.e|cf)\.$/u;

/** The sentences of a text, line by line; a line without an end mark is one. Spaces around them are left out. */
export function splitSentences(text: string): readonly string[] {
  return splitLines(text).flatMap(splitLine);
}

function splitLine(line: string): readonly string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const match of line.matchAll(ends)) {
    const to = match.index + match[0].length;
    if (abbreviation.test(line.slice(Math.max(0, to - 8), to))) continue;
    sentences.push(line.slice(from, to).trim());
    from = to;
  }
  sentences.push(line.slice(from).trim());
  return sentences.filter((sentence) => sentence !== "");
}
