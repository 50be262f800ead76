/**
 * The contract of summaries: text that stands for messages of the log, how a strategy asks for one, and what comes of it.
 * A summary is a record of what happened, never an instruction; a failed one changes nothing.
 *
 * due.ts says when and for which messages, write.ts asks a model, extract.ts does without one, standing.ts has the
 * record and the edits, and hook.ts takes these steps in turn and commits.
 */
import type { Locale } from "../../config/locale.ts";
import type { Message, Role } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Trigger } from "../window.ts";

/** A summary: what of the log it stands for, and what it says. */
export interface Summary {
  /** The messages it stands for, by `seq`, rising; at least one. */
  readonly told: readonly number[];
  readonly text: string;
  /** Tokens of the text. */
  readonly tokens: number;
  /** Tokens of the messages it stands for. */
  readonly originalTokens: number;
  /** 1 for a summary of messages, one more than the highest summary that was worked into it. */
  readonly level: number;
}

/** A summary that stands in the window, with its number in `summaries.jsonl`. */
export interface LiveSummary extends Summary {
  readonly id: number;
}

/** A score from 0 to 1 for the messages of one step; higher is more important. */
export type StepScorer = (messages: readonly Message[]) => number | Promise<number>;

/** How a summary stands in the window. */
export interface SummaryMessageOptions {
  /** The role that carries the summary. Default `user`; the text is labelled whatever the role. */
  readonly role?: Role;
  /** A prefix before the summary's text; the label then follows the text. Preset `state-manager` has `前文の要約：`. */
  readonly prefix?: string;
}

/** Options of every strategy and preset that summarises. */
export interface SummarisingOptions {
  /** Most tokens of a summary, at most half of the budget. Default 2,000, and at most an eighth of the budget. */
  readonly maxSummaryTokens?: number;
  /** The role that carries a summary, and its first words. */
  readonly message?: SummaryMessageOptions;
  /** The task of the request, in place of the words that every language has for it: what a summary is to hold. */
  readonly prompt?: string;
  /** The language of the request and of the label. Default `en`. */
  readonly locale?: Locale;
  /** Steps of at least this importance, from 0 to 1, stay verbatim. Default: none but what must. */
  readonly keepImportance?: number;
  /**
   * The importance of a step; may ask a model. Default: the rules of `importanceOf`, which also stand in where a score is
   * missing.
   */
  readonly score?: StepScorer;
}

/** When a strategy summarises, what, and how. */
export interface SummaryHookOptions extends SummarisingOptions {
  /** When a summary is due, by what stands in the window behind the last one. Absent: always. */
  readonly trigger?: Trigger;
  /** The number of newest messages that stay out, with the steps they belong to. Default 5. */
  readonly keepMessages?: number;
  /** The number of newest turns that stay out. Default 0. */
  readonly keepTurns?: number;
  /** The number of oldest turns that the trigger gives to a summary. Default: all. */
  readonly turns?: number;
  /** Milliseconds for one answer of the model. Default 120,000. */
  readonly timeout?: number;
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
  /** The summariser's own window has no room for a message. */
  | "window-too-small"
  | "nothing-to-summarise"
  /** The range changed while the summary was written; nothing was committed. */
  | "stale";

/** The material of a summary. */
export interface SummaryTask {
  /** The messages to tell, in order, as the log has them. */
  readonly messages: readonly NumberedMessage[];
  /** Their tokens. */
  readonly originalTokens: number;
  /** The summaries that stand, which are worked into it. */
  readonly live: readonly LiveSummary[];
  /** Most tokens of the summary. */
  readonly maxTokens: number;
}

/** A reason why there is no summary. */
export interface NoSummary {
  readonly ok: false;
  readonly failed: SummaryFailure;
  /** The reason, for people. */
  readonly message: string;
  /** How often the model was asked. */
  readonly calls: number;
}

/** A summary that passed every check. */
export interface WrittenSummary {
  readonly ok: true;
  readonly text: string;
  /** Tokens of the text. */
  readonly tokens: number;
  readonly by: "model" | "extract";
  readonly calls: number;
}

/** What came of a summary. */
export type SummaryOutcome = WrittenSummary | NoSummary;

/** No summary, and why. */
export function noSummary(failed: SummaryFailure, message: string, calls = 0): NoSummary {
  return { ok: false, failed, message, calls };
}
