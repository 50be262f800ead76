/** The words of a recall query, and the score of a line. */

/** A recall query and its words. */
export interface RecallWords {
  /** The whole of it, lower case. */
  readonly phrase: string;
  /** Characters of it as it was asked. */
  readonly length: number;
  /** Its words, lower case, each once; text without spaces (Japanese, Chinese) as its pairs of characters. */
  readonly terms: readonly string[];
}

/** The most words of a query that are searched for. */
const mostTerms = 256;

/** The extra score of a line with the whole query. */
const phraseWeight = 1_000;

/** The words of a query; undefined where it says nothing. Signs without a letter are looked for as they stand. */
export function wordsOf(query: string | undefined): RecallWords | undefined {
  const phrase = query?.trim().toLowerCase() ?? "";
  if (query === undefined || phrase === "") return undefined;
  const terms = literalWords(query);
  return { phrase, length: query.length, terms: terms.length > 0 ? terms : [phrase] };
}

/** The score of a line, given in lower case; 0 where it has none of the words. */
export function lineScore(lower: string, { phrase, terms }: RecallWords): number {
  let score = 0;
  for (const term of terms) if (lower.includes(term)) score += termWeight(term);
  return score > 0 && lower.includes(phrase) ? score + phraseWeight : score;
}

/** The score of a line by the words that were found in it. */
export function knownScore(found: Iterable<string>, phrase: boolean): number {
  let score = 0;
  for (const term of found) score += termWeight(term);
  return score > 0 && phrase ? score + phraseWeight : score;
}

function termWeight(term: string): number {
  return Math.min(12, term.length);
}

/** The words of a query as they stand in texts: recall compares characters, so paths and names stay whole and unstemmed. */
function literalWords(query: string): readonly string[] {
  const terms = new Set<string>();
  for (const [word] of query.toLowerCase().matchAll(/[\p{L}\p{N}_./@-]+/gu)) {
    if (terms.size >= mostTerms) break;
    if (/[\u3040-\u30ff\u3400-\u9fff]/.test(word) && word.length > 2) {
      for (let index = 0; index + 2 <= word.length; index++) terms.add(word.slice(index, index + 2));
    } else terms.add(word);
  }
  return [...terms].slice(0, mostTerms);
}
