/**
 * The contract of the window: what goes to the model on one call, the edits that make it differ from the log, and the
 * passes that plan those edits. Pure data; nothing here reads a clock, a file or a random number.
 */
import type { Message, ToolDefinition } from "../message/message.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Profile } from "./profile.ts";
import type { Fault } from "./validate.ts";

/**
 * One difference between the log and the window, as data. Messages are named by their `seq`: their place in the log,
 * from 1. Edits never overlap in the same part of a message; a wider one swallows those inside it.
 */
export interface Edit {
  /**
   * - `drop`: the messages from `from` to `to` are absent (with `only: "reasoning"`, just their reasoning parts);
   * - `stub`: the result of call `callId` in message `from` is shown as `text`;
   * - `replace`: the messages from `from` to `to` are shown as one labelled message with `text`.
   */
  readonly kind: "drop" | "stub" | "replace";
  readonly from: number;
  readonly to: number;
  readonly only?: "reasoning";
  readonly callId?: string;
  readonly text?: string;
  /** What the text names and `recall` brings back. */
  readonly stubs?: readonly Stub[];
  /** The verbatim lines the text shows, for the next digest to choose from again. */
  readonly lines?: readonly DigestLine[];
  /** The pass that planned it. */
  readonly pass: string;
  /** For people: why. */
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** A verbatim line of a message that left the window. */
export interface DigestLine {
  readonly text: string;
  /** What the message was about: a path, a command; empty for conversation. */
  readonly subject: string;
  /** The message, and the line's place in its text, from 0. */
  readonly seq: number;
  readonly at: number;
  /** Who wrote it: the user, a tool, a failing tool, the agent into a file, the agent as prose. */
  readonly kind: "user" | "result" | "error" | "written" | "said";
}

/** One line of a stub text: what was there and how to get it back. */
export interface Stub {
  /** The tool, or the role of a message that is no tool's. */
  readonly tool: string;
  /** What it was about: a path, a command, the first words. */
  readonly subject: string;
  /** For `recall({ id })`: `m12` for one message, `m12-m40` for all in a range. */
  readonly id: string;
  /** How many messages the line stands for. */
  readonly count: number;
}

/**
 * One indivisible stretch of the window: a system or user message, an assistant message with all its calls and all their
 * results, or the labelled message an earlier edit left.
 */
export interface ViewStep {
  readonly kind: "system" | "user" | "assistant" | "note";
  /** First and last `seq` in the log. */
  readonly from: number;
  readonly to: number;
  /** As they stand in the window now, edits applied. */
  readonly messages: readonly NumberedMessage[];
  readonly tokens: number;
  /** What its messages cost as the log has them. */
  readonly logTokens: number;
  /** Steps that no pass may drop or replace: the task, the current user message, the newest step. */
  readonly protected: boolean;
  /** The edit that made it, for `note`. */
  readonly edit?: Edit;
}

/** The window's history as a pass sees it. */
export interface View {
  readonly steps: readonly ViewStep[];
  /** Tokens of all steps. */
  readonly tokens: number;
}

/** What a pass is told beside the view. */
export interface PassContext {
  /** Tokens the steps together should come down to. */
  readonly target: number;
  /** Tokens the steps together must not exceed, whatever the target. */
  readonly limit: number;
  readonly counter: TokenCounter;
  readonly profile: Profile;
}

/** A pure function from a view and a budget to edits. Same in, same out; the view is not changed. */
export interface Pass {
  readonly name: string;
  plan(view: View, context: PassContext): readonly Edit[];
}

/** When a strategy edits (conflicts C-03). A window over its budget is always edited. */
export interface Trigger {
  readonly messages?: number;
  readonly turns?: number;
  readonly tokens?: number;
  /** Share of the budget. */
  readonly ratio?: number;
  /** Whether one condition is enough (default) or all must hold. */
  readonly mode?: "any" | "all";
}

/** How windows are made: ordered passes, when they run, and how far down they go. */
export interface Strategy {
  readonly name: string;
  readonly passes: readonly Pass[];
  readonly trigger: Trigger;
  /** Share of the budget that an epoch brings the window down to. */
  readonly lowWater: number;
  /** The first user message is never dropped. */
  readonly keepFirstUser: boolean;
}

/** What one composition needs. */
export interface ComposeInput {
  /** The whole history, oldest first. Never mutated. */
  readonly messages: readonly Message[];
  /** The system prompt. Absent: leading `system` messages of the history are it. */
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
  /** An ephemeral tail: text for this call only, behind the history (retrieved text, the time). Priced as uncached. */
  readonly dynamic?: string;
  /** Tokens the whole request may use; `budgetOf` computes it from a model. Absent: `bad-option`. */
  readonly budget?: number;
  /** A name or a Strategy. Default `adaptive`. */
  readonly strategy?: string | Strategy;
  /** A name or a Profile. Default `openai-chat`. */
  readonly profile?: string | Profile;
  /** Default `estimate`. */
  readonly counter?: TokenCounter;
  /** What the last composition of this history returned. */
  readonly state?: WindowState | undefined;
}

/** What a composition returns. */
export interface Composed {
  /** The system message first, if there is one; the ephemeral tail last, if there is one. */
  readonly messages: readonly Message[];
  /** Of the whole request: messages and tool definitions. */
  readonly tokens: number;
  readonly report: Report;
  /** For the next call, and for a resume: plain JSON. */
  readonly state: WindowState;
}

/** The edits in force and what they were made under. Plain JSON, complete: nothing else is needed to compose on. */
export interface WindowState {
  readonly version: 1;
  /** 0 until the first edit. */
  readonly epoch: number;
  /** The complete set of edits of this epoch, in order. */
  readonly edits: readonly Edit[];
  /** Messages with a `seq` up to here had been seen when the epoch opened. */
  readonly opened: number;
  /** The hash of that last message: where another stands in its place, the edits are about a history that is gone. */
  readonly openedHash: string;
  /** Hashes of the system block and the tool definitions; a change opens an epoch. */
  readonly systemHash: string;
  readonly toolsHash: string;
  /** How many history messages the last window had (system and tail left out), and the hash of those. */
  readonly length: number;
  readonly prefixHash: string;
}

/** Why an epoch opened. */
export type EpochReason = "over-budget" | "trigger" | "system-changed" | "tools-changed" | "history-changed";

/** What a composition did. */
export interface Report {
  readonly strategy: string;
  readonly profile: string;
  readonly counter: string;
  readonly budget: number;
  readonly tokens: number;
  /** Tokens by block. */
  readonly blocks: {
    readonly system: number;
    readonly tools: number;
    /** Labelled messages that stand for what left the window. */
    readonly notes: number;
    readonly history: number;
    readonly dynamic: number;
  };
  readonly epoch: number;
  /** Set when this composition opened an epoch. */
  readonly opened?: {
    readonly reason: EpochReason;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    /** The edits that are new in this epoch. */
    readonly edits: readonly Edit[];
  };
  /** Messages of the log by what became of them. */
  readonly counts: {
    readonly kept: number;
    readonly stubbed: number;
    readonly replaced: number;
    readonly dropped: number;
  };
  /** What was mended to make the history valid (repair.ts), by kind. */
  readonly repairs: Readonly<Record<string, number>>;
  /** Rules the window breaks; empty unless the profile is new to Windrow. */
  readonly faults: readonly Fault[];
  /** Hash of the whole window, byte for byte. */
  readonly windowHash: string;
}
