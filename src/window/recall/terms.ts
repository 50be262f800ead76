/**
 * Terms: the units by which texts are compared. Words of any script, English ones by their stem; Japanese and Chinese
 * as pairs.
 */

/** English words that say nothing about a subject. Other languages need no list: words in every text weigh nothing. */
const functionWords = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have he her hers him his how i if in is " +
    "it its me my no not of on or our she so than that the their them then there these they this those to was we were " +
    "what when where which who whom whose why will with would you your s t d ll m re ve"
  ).split(" "),
);

/** A stretch of Japanese or Chinese, or a word of any other script. */
const stretches =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+|[\p{L}\p{N}]+?(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[^\p{L}\p{N}]|$)/gu;
const pairwise = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** The terms of a text, in order, repeated as often as they stand there. */
export function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  for (const [stretch] of text.normalize("NFKC").matchAll(stretches)) {
    if (pairwise.test(stretch)) addPairs(terms, stretch);
    else addWord(terms, stretch);
  }
  return terms;
}

function addPairs(terms: string[], stretch: string): void {
  const points = [...stretch];
  if (points.length === 1) terms.push(stretch);
  for (let index = 0; index + 2 <= points.length; index++) terms.push(`${points[index]}${points[index + 1]}`);
}

/** A word, and what a name like `composeWindow` is put together from. */
function addWord(terms: string[], word: string): void {
  const pieces = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu) ?? [];
  for (const piece of pieces.length > 1 ? [word, ...pieces] : [word]) {
    const lower = piece.toLowerCase();
    if (!functionWords.has(lower)) terms.push(stem(lower));
  }
}

/** Whether an English word says nothing about a subject. */
export function isFunctionWord(word: string): boolean {
  return functionWords.has(word);
}

/** An English word without its endings, alike for `running`, `runs` and `run`. Other words pass through or lose an `s`. */
export function stem(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word;
  let stemmed = word;
  if (stemmed.length > 4 && stemmed.endsWith("ies")) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/[^sui]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  if (stemmed.length > 5 && stemmed.endsWith("ing")) stemmed = stemmed.slice(0, -3);
  else if (stemmed.length > 4 && stemmed.endsWith("ed")) stemmed = stemmed.slice(0, -2);
  if (stemmed.length > 3 && /([b-df-km-rtv-z])\1$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  return stemmed.length > 3 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}
