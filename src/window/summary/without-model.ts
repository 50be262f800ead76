/** Summaries without a model, made of the messages' own sentences. The outcome has the form of a model's. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { sumTokens } from "../../tokens/counter.ts";
import { extractSummary, extractText } from "./extractive.ts";
import type { SummaryTask } from "./summarise.ts";
import { ratioOf } from "./summary.ts";
import type { SummaryOutcome } from "./summary.ts";

/** How large an extract may be. */
export interface ExtractedSummaryOptions {
  /** Most tokens. Default 2,000. */
  readonly maxTokens?: number;
  /** The share of the messages' tokens that the summary may have. Default 0.35. */
  readonly share?: number;
  readonly counter: TokenCounter;
}

/** A summary of a range as its best sentences, with the best of a previous summary that is to be worked in. */
export function summariseByExtract(
  task: Pick<SummaryTask, "messages" | "kept" | "previous">,
  { maxTokens = 2_000, share = 0.35, counter }: ExtractedSummaryOptions,
): SummaryOutcome {
  const { messages, kept = [], previous } = task;
  const told = messages.filter(({ seq }) => !kept.includes(seq));
  const originalTokens = sumTokens(counter, told);
  const cap = Math.min(maxTokens, Math.floor(originalTokens * share));
  const absorbed = previous?.absorb === true ? extractText(previous.text, { maxTokens: maxTokens / 2, counter }) : "";
  const room = Math.min(cap, maxTokens - counter.count(absorbed) - 1);
  const { text: extracted } = extractSummary(told, { maxTokens: room, counter });
  const text = absorbed === "" ? extracted : `${absorbed}\n${extracted}`;
  const summaryTokens = counter.count(text);
  if (extracted === "" || summaryTokens >= originalTokens + counter.count(absorbed)) {
    const message = "The range holds no sentence that says more than it costs.";
    return { ok: false, failed: "nothing-to-summarise", message, calls: 0, usage: [] };
  }
  return {
    ok: true,
    text,
    startSeq: messages[0]?.seq ?? 0,
    endSeq: messages.at(-1)?.seq ?? 0,
    kept,
    originalTokens,
    summaryTokens,
    compressionRatio: ratioOf(summaryTokens, originalTokens),
    struck: [],
    by: "extract",
    calls: 0,
    usage: [],
  };
}
