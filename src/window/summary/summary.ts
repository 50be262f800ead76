/**
 * The contract of summaries: text that stands for a range of messages, its writers, and its outcomes. A summary is a
 * record of what happened, never an instruction; a failed one changes nothing.
 */
import type { Usage } from "../../message/message.ts";

/** A summary in force: what of the log it stands for, and what it says. */
export interface Summary {
  /** First and last message it stands for, by `seq`. */
  readonly from: number;
  readonly to: number;
  /** Messages within the range that stay in the window verbatim and are not in the text. */
  readonly kept: readonly number[];
  readonly text: string;
  /** Tokens of the text. */
  readonly tokens: number;
  /** Tokens of the messages it stands for. */
  readonly originalTokens: number;
  /** 1 for a summary of messages, one more than its highest child for a summary of summaries. */
  readonly level: number;
}

/** Why no summary came of it. */
export type SummaryFailure =
  /** The model threw, or answered with an error. */
  | "model-failed"
  /** It did not answer in time. */
  | "timeout"
  /** The caller's signal fired. */
  | "aborted"
  /** The answer was cut off, refused, or a tool call. */
  | "unfinished"
  | "empty"
  /** Larger than the cap on summaries. */
  | "too-long"
  /** Not smaller than what it stands for. */
  | "not-shorter"
  /** It holds the syntax of tool calls. */
  | "tool-syntax"
  /** It leaves out a fact it had to name. */
  | "facts-missing"
  /** The summariser's own window has no room for a message. */
  | "window-too-small"
  | "nothing-to-summarise"
  /** The range changed while the summary was written; nothing was committed. */
  | "stale";

/** The usage of the requests, whatever their outcome. */
export interface SummaryCost {
  /** How often the model was asked. */
  readonly calls: number;
  /** One for each answer, in order; what a provider did not report is absent. */
  readonly usage: readonly Usage[];
}

/** A summary that passed every check, or the reason why there is none. */
export type SummaryOutcome =
  | (SummaryCost & {
      readonly ok: true;
      readonly text: string;
      /** First and last message of the range, by `seq`. The end may lie before the one asked for, at the end of a step. */
      readonly startSeq: number;
      readonly endSeq: number;
      /** Messages of the range that stay verbatim. */
      readonly kept: readonly number[];
      /** Tokens of the messages of the range, those that stay left out. */
      readonly originalTokens: number;
      readonly summaryTokens: number;
      /** `summaryTokens / originalTokens`, rounded to three decimals. */
      readonly compressionRatio: number;
      /** Sentences that were taken out: they claim that the user said what no message says. */
      readonly struck: readonly string[];
      readonly by: "model" | "extract";
    })
  | (SummaryCost & {
      readonly ok: false;
      readonly failed: SummaryFailure;
      /** The reason of the failure, for people. */
      readonly message: string;
    });

/** `part / whole` to three decimals; 0 for a whole of 0. */
export function ratioOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Number((part / whole).toFixed(3));
}
