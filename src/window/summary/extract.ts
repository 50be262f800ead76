/**
 * Summaries without a model: sentences of the messages themselves, verbatim and in order, chosen as a digest chooses lines.
 */
import { resultText } from "../../message/message.ts";
import { splitLines } from "../../message/quote.ts";
import { splitSentences } from "../../message/sentences.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { lineChooser } from "../digest/choose.ts";
import type { LineKind } from "../digest/line-kind.ts";
import { lineOf } from "../digest/line.ts";
import type { Passage } from "../digest/line.ts";
import { Texts } from "../digest/texts.ts";
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

/** Lines of a tool's result that are looked at, from its beginning and from its end. */
const resultLines = 30;
/** The share of the messages' tokens that a summary without a model may add. */
const share = 0.35;

/** The sentences worth most for their tokens: the user's and what failed before others. */
export function extractSummary(
  messages: readonly NumberedMessage[],
  maxTokens: number,
  counter: TokenCounter,
): Extract {
  return choose(messages.flatMap(passagesOf), maxTokens, counter);
}

/** A summary of messages as their best sentences, behind the best of the summary that is worked into it. */
export function extractedSummary(task: SummaryTask, counter: TokenCounter): SummaryOutcome {
  const { messages, originalTokens, live, maxTokens } = task;
  const previous = live.map(({ text }) => text).join("\n");
  const standing = splitLines(previous).map((line) => {
    const [label = ""] = /^\[m\d+ \w+\](?= )/.exec(line) ?? [];
    return passageOf(0, label, splitSentences(line.slice(label.length)), "result");
  });
  const kept = choose(standing, Math.floor(maxTokens / 2), counter).text;
  const room = Math.min(maxTokens - counter.count(kept) - 1, Math.floor(originalTokens * share));
  const fresh = extractSummary(messages, room, counter).text;
  if (fresh === "")
    return noSummary("nothing-to-summarise", "The range holds no sentence that says more than it costs.");
  const text = kept === "" ? fresh : `${kept}\n${fresh}`;
  return { ok: true, text, tokens: counter.count(text), by: "extract", calls: 0 };
}

/** The sentences that a digest would choose, each once, those of one message in a line. */
function choose(passages: readonly Passage[], maxTokens: number, counter: TokenCounter): Extract {
  const choosing = lineChooser(passages, {
    texts: new Texts(counter),
    recency: () => 1,
    heat: () => 0,
    shownLines: new Set(),
    shownTexts: [],
    title: ({ label }) => label,
  });
  for (let room = maxTokens; room > 0;) {
    const sentences: { text: string; seq: number }[] = [];
    const lines = new Map<string, string>();
    for (const { label, lines: chosen } of choosing(room)) {
      for (const { text, seq } of chosen) {
        lines.set(label, `${lines.get(label) ?? label} ${text}`.trim());
        sentences.push({ text, seq });
      }
    }
    const text = [...lines.values()].join("\n");
    const tokens = counter.count(text);
    if (tokens <= maxTokens) return { text, sentences, tokens };
    // Counts are not quite additive: an extract that came out too large is chosen anew for less.
    room -= tokens - maxTokens;
  }
  return { text: "", sentences: [], tokens: 0 };
}

function passageOf(seq: number, label: string, texts: readonly string[], kind: LineKind): Passage {
  return { file: false, subject: "", label, at: 0, lines: texts.map((text) => lineOf(text, seq, kind)) };
}

function passagesOf({ seq, message }: NumberedMessage): readonly Passage[] {
  if (message.role === "system") return [];
  const label = `[${recallId(seq)} ${message.role}]`;
  const spoken = message.role === "user" && message.status !== "synthetic" ? "user" : "answered";
  return message.parts.flatMap((part): readonly Passage[] => {
    if (part.type === "text") return [passageOf(seq, label, splitSentences(part.text), spoken)];
    if (part.type !== "tool-result") return [];
    const lines = splitLines(resultText(part));
    const ends =
      lines.length <= 2 * resultLines ? lines : [...lines.slice(0, resultLines), ...lines.slice(-resultLines)];
    return ends.map((line) => passageOf(seq, label, [line.trim()], "result"));
  });
}
