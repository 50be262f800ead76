/**
 * Extractive summaries: sentences of the messages themselves, verbatim and in order. Without a model, for English,
 * Japanese and Chinese. Linear in the text but for a last sort.
 */
import { WindrowError } from "../../errors.ts";
import { splitLines } from "../../message/quote.ts";
import type { Message, Part } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { counterOf } from "../../tokens/counters.ts";
import { Heap } from "../digest/heap.ts";
import { errorWords } from "../stub/cut.ts";
import { recallId } from "../stub/stub.ts";
import { termsOf } from "../recall/terms.ts";
import { splitSentences } from "../../message/sentences.ts";

/** Options of an extract. */
export interface ExtractOptions {
  /** Most tokens of its whole text. */
  readonly maxTokens: number;
  readonly counter: TokenCounter;
}

/** A sentence that was chosen. */
export interface ExtractedSentence {
  /** Exactly as the message has it. */
  readonly text: string;
  readonly seq: number;
}

/** The sentences of an extract. */
export interface Extract {
  /** The sentences, those of one message in a line under its id and role. Empty only where not even one fits. */
  readonly text: string;
  readonly sentences: readonly ExtractedSentence[];
  readonly tokens: number;
}

/** Sentences shorter than this (in characters, twice that for Latin script) say nothing alone. */
const shortest = 4;
/** Sentences longer than this (in characters) are left out while there are others. */
const longest = 600;
/** Lines of a tool's result that are looked at, from its beginning and from its end. */
const resultLines = 30;

interface Candidate extends ExtractedSentence {
  readonly head: string;
  readonly at: number;
  readonly terms: ReadonlySet<string>;
  readonly weight: number;
  readonly cost: number;
}

/**
 * The sentences that say most of what the messages say: chosen one after the other by how much they add per token, a word
 * counting less with every sentence that has it already.
 */
export function extractSummary(messages: readonly NumberedMessage[], options: ExtractOptions): Extract {
  if (
    !Array.isArray(messages) ||
    typeof options?.maxTokens !== "number" ||
    Number.isNaN(options.maxTokens) ||
    typeof options.counter?.count !== "function"
  ) {
    const message =
      "extractSummary takes a list of { seq, message }, and { maxTokens, counter }: a number of tokens, a TokenCounter.";
    throw new WindrowError("bad-option", message);
  }
  const counter = counterOf(options.counter);
  return choose(
    messages.flatMap((numbered) => candidatesOf(numbered, counter)),
    { ...options, counter },
  );
}

/** The same for a text that is no message, a summary for example: its best sentences, line by line. */
export function extractText(text: string, options: ExtractOptions): string {
  if (options.counter.count(text) <= options.maxTokens) return text;
  const lines = splitLines(text).flatMap((line, seq) => {
    const sentences = splitSentences(line).map((sentence) => ({ text: sentence, weight: 1 }));
    return toCandidates(sentences, seq, "", options.counter);
  });
  return choose(lines, options).text;
}

function choose(candidates: readonly Candidate[], { maxTokens, counter }: ExtractOptions): Extract {
  const weights = termWeights(candidates);
  const chosen: Candidate[] = [];
  const begun = new Set<number>();
  const shown = new Map<string, number>();
  const gain = ({ terms, weight, cost }: Candidate): number => {
    let sum = 0;
    for (const term of terms) sum += (weights.get(term) ?? 0) / (1 + (shown.get(term) ?? 0)) ** 2;
    return (weight * sum) / (cost + 8) ** 0.7;
  };
  const queue = new Heap<Candidate>();
  const values = new Map(candidates.map((candidate) => [candidate, gain(candidate)]));
  for (const [candidate, value] of values) queue.push(candidate, value);
  let left = maxTokens;
  for (let next = queue.pop(); next; next = queue.pop()) {
    const value = gain(next);
    if (value <= 0) continue;
    // Lazy greedy: this gain is stale. Gains only fall as others are chosen, so requeue with the new one.
    if (value < (values.get(next) ?? 0)) {
      values.set(next, value);
      queue.push(next, value);
      continue;
    }
    const cost = next.cost + (begun.has(next.seq) ? 0 : counter.count(next.head) + 1);
    if (cost > left) continue;
    left -= cost;
    begun.add(next.seq);
    chosen.push(next);
    for (const term of next.terms) shown.set(term, (shown.get(term) ?? 0) + 1);
  }
  return render(chosen, maxTokens, counter);
}

function render(chosen: readonly Candidate[], maxTokens: number, counter: TokenCounter): Extract {
  let kept = [...chosen];
  for (;;) {
    const ordered = kept.toSorted((left, right) => left.seq - right.seq || left.at - right.at);
    const lines = new Map<number, string[]>();
    for (const { seq, head, text } of ordered) {
      const line = lines.get(seq);
      if (line) line.push(text);
      else lines.set(seq, head === "" ? [text] : [head, text]);
    }
    const text = [...lines.values()].map((texts) => texts.join(" ")).join("\n");
    const tokens = counter.count(text);
    // Counts are not quite additive: an extract that came out too large loses the sentences chosen last.
    if (tokens <= maxTokens)
      return { text, sentences: ordered.map(({ text: one, seq }) => ({ text: one, seq })), tokens };
    kept = kept.slice(0, -Math.max(1, Math.ceil(kept.length / 50)));
  }
}

function candidatesOf({ seq, message }: NumberedMessage, counter: TokenCounter): readonly Candidate[] {
  if (message.role === "system") return [];
  return toCandidates(sentencesOf(message), seq, `[${recallId(seq)} ${message.role}]`, counter);
}

function toCandidates(
  sentences: readonly Weighed[],
  seq: number,
  head: string,
  counter: TokenCounter,
): readonly Candidate[] {
  return sentences.map(({ text, weight }, at) => {
    const long = text.length > longest ? 0.1 : 1;
    return { text, seq, head, at, terms: new Set(termsOf(text)), weight: weight * long, cost: counter.count(text) + 1 };
  });
}

interface Weighed {
  readonly text: string;
  readonly weight: number;
}

function sentencesOf(message: Message): readonly Weighed[] {
  const spoken = message.role === "user" && message.status !== "synthetic" ? 1.5 : 1;
  return message.parts.flatMap((part) => partSentences(part, spoken)).filter(({ text }) => isSaying(text));
}

function partSentences(part: Part, spoken: number): readonly Weighed[] {
  if (part.type === "text") return splitSentences(part.text).map((text) => ({ text, weight: spoken }));
  if (part.type !== "tool-result") return [];
  const lines = splitLines(resultText(part));
  const looked =
    lines.length <= 2 * resultLines ? lines : [...lines.slice(0, resultLines), ...lines.slice(-resultLines)];
  return looked.map((line) => ({ text: line.trim(), weight: errorWords.test(line) ? 1 : 0.15 }));
}

function isSaying(text: string): boolean {
  const length = [...text].length;
  return length >= (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text) ? shortest : 2 * shortest);
}

/** The weight of each term: less, the more sentences have it. */
function termWeights(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { terms } of candidates) for (const term of terms) found.set(term, (found.get(term) ?? 0) + 1);
  const weights = new Map<string, number>();
  for (const [term, count] of found) weights.set(term, Math.log(1 + candidates.length / count));
  return weights;
}
