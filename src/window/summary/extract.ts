/**
 * Summaries without a model: sentences of the messages themselves, verbatim and in order, for English, Japanese and
 * Chinese.
 */
import type { Message } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import { splitLines } from "../../message/quote.ts";
import { splitSentences } from "../../message/sentences.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { termsOf } from "../recall/terms.ts";
import { errorWords } from "../stub/cut.ts";
import { recallId } from "../stub/stub.ts";
import { noSummary } from "./summary.ts";
import type { SummaryOutcome, SummaryTask } from "./summary.ts";

/** The sentences of an extract. */
export interface Extract {
  /** The sentences, those of one message in a line under its id and role. Empty only where not even one fits. */
  readonly text: string;
  /** Each exactly as its message has it. */
  readonly sentences: readonly { readonly text: string; readonly seq: number }[];
  readonly tokens: number;
}

/** Sentences longer than this (in characters) are left out while there are others. */
const longest = 600;
/** Lines of a tool's result that are looked at, from its beginning and from its end. */
const resultLines = 30;
/** The share of the messages' tokens that a summary without a model may add. */
const share = 0.35;

/** A text that sentences are chosen from, with what stands before them. */
interface Source {
  readonly seq: number;
  readonly head: string;
  readonly sentences: readonly { readonly text: string; readonly weight: number }[];
}

/**
 * The sentences that say most for their length: those of rare words before those of frequent ones, the user's and what
 * failed before others.
 */
export function extractSummary(
  messages: readonly NumberedMessage[],
  maxTokens: number,
  counter: TokenCounter,
): Extract {
  return choose(messages.map(sourceOf), maxTokens, counter);
}

/** A summary of messages as their best sentences, behind the best of the summary that is worked into it. */
export function extractedSummary(task: SummaryTask, counter: TokenCounter): SummaryOutcome {
  const { messages, originalTokens, live, maxTokens } = task;
  const previous = live.map(({ text }) => text).join("\n");
  const standing = splitLines(previous).map((line): Source => {
    const sentences = splitSentences(line).map((text) => ({ text, weight: 1 }));
    return { seq: 0, head: "", sentences };
  });
  const kept = choose(standing, Math.floor(maxTokens / 2), counter).text;
  const room = Math.min(maxTokens - counter.count(kept) - 1, Math.floor(originalTokens * share));
  const fresh = extractSummary(messages, room, counter).text;
  if (fresh === "")
    return noSummary("nothing-to-summarise", "The range holds no sentence that says more than it costs.");
  const text = kept === "" ? fresh : `${kept}\n${fresh}`;
  return { ok: true, text, tokens: counter.count(text), by: "extract", calls: 0 };
}

/** The sentences of highest worth that fit, each once, in the order in which they stand. */
function choose(sources: readonly Source[], maxTokens: number, counter: TokenCounter): Extract {
  const all = sources.flatMap(({ sentences }, source) =>
    sentences.map((sentence) => ({ ...sentence, source, terms: new Set(termsOf(sentence.text)) })),
  );
  const found = new Map<string, number>();
  for (const { terms } of all) for (const term of terms) found.set(term, (found.get(term) ?? 0) + 1);
  const candidates = all.map((sentence, at) => {
    const cost = counter.count(sentence.text) + 1;
    const weight = sentence.text.length > longest ? sentence.weight / 10 : sentence.weight;
    let rarity = 0;
    for (const term of sentence.terms) rarity += Math.log(1 + all.length / (found.get(term) ?? 1));
    return { ...sentence, at, cost, worth: (weight * rarity) / Math.sqrt(cost + 8) };
  });
  const begun = new Set<number>();
  const texts = new Set<string>();
  let left = maxTokens;
  let chosen = candidates
    .toSorted((one, other) => other.worth - one.worth)
    .filter(({ text, source, cost, worth }) => {
      const whole = begun.has(source) ? cost : cost + counter.count(sources[source]?.head ?? "") + 1;
      if (worth <= 0 || whole > left || texts.has(text)) return false;
      left -= whole;
      begun.add(source);
      texts.add(text);
      return true;
    });
  for (;;) {
    const ordered = chosen.toSorted((one, other) => one.at - other.at);
    const lines = new Map<number, string>();
    for (const { source, text } of ordered) {
      const line = lines.get(source) ?? sources[source]?.head ?? "";
      lines.set(source, line === "" ? text : `${line} ${text}`);
    }
    const text = [...lines.values()].join("\n");
    const tokens = counter.count(text);
    const sentences = ordered.map((one) => ({ text: one.text, seq: sources[one.source]?.seq ?? 0 }));
    // Counts are not quite additive: an extract that came out too large loses its least sentences.
    if (tokens <= maxTokens || chosen.length === 0) return { text, sentences, tokens };
    chosen = chosen.slice(0, -Math.max(1, Math.ceil(chosen.length / 50)));
  }
}

function sourceOf({ seq, message }: NumberedMessage): Source {
  const sentences = message.role === "system" ? [] : sentencesOf(message);
  return { seq, head: `[${recallId(seq)} ${message.role}]`, sentences };
}

function sentencesOf({ role, status, parts }: Message): Source["sentences"] {
  const spoken = role === "user" && status !== "synthetic" ? 1.5 : 1;
  return parts.flatMap((part) => {
    if (part.type === "text") return splitSentences(part.text).map((text) => ({ text, weight: spoken }));
    if (part.type !== "tool-result") return [];
    const lines = splitLines(resultText(part));
    const ends =
      lines.length <= 2 * resultLines ? lines : [...lines.slice(0, resultLines), ...lines.slice(-resultLines)];
    return ends.map((line) => ({ text: line.trim(), weight: errorWords.test(line) ? 1.5 : 0.15 }));
  });
}
