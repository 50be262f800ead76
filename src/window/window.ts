/**
 * The contract of the window: the messages of one model call, the edits between it and the log, and the passes that
 * plan edits. Pure data, without a clock, files or random numbers.
 */
import type { Locale } from "../config/locale.ts";
import type { Work } from "../turns.ts";
import type { JsonObject, Message, Role, ToolDefinition, Usage } from "../message/message.ts";
import type { NewRecord, StoredRecordOf, UsageRecord } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { Model } from "../model/model.ts";
import type { CalibrationState } from "../tokens/calibrate.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { ModelDescription } from "../tokens/models.ts";
import type { Profile } from "./provider/profile.ts";
import type { Fault } from "./provider/validate.ts";
import type { Budget } from "./options.ts";
import type { LogBehind } from "./log-reading.ts";

/**
 * One difference between the log and the window, as data. Messages are named by their `seq`: their place in the log,
 * from 1. Edits never overlap in the same part of a message; a wider one swallows those inside it.
 */
export interface Edit {
  /**
   * - `drop`: the messages from `from` to `to` are absent (with `only: "reasoning"`, just their reasoning parts);
   * - `stub`: the result of call `callId` in message `from` is shown as `text`; with `part`, another part of it;
   * - `replace`: the messages from `from` to `to` are shown as one labelled message with `text`.
   */
  readonly kind: "drop" | "stub" | "replace";
  readonly from: number;
  readonly to: number;
  readonly only?: "reasoning";
  readonly callId?: string;
  /**
   * The part of an assistant's message that a `stub` stands for: `arguments` of call `callId`, as the JSON in `text`; or
   * `text`, the part at `place`. Absent: a tool result.
   */
  readonly part?: "arguments" | "text";
  /** Which part, from 1, of those that are neither reasoning nor calls. */
  readonly place?: number;
  readonly text?: string;
  /** For a tool result: its images, files and blocks stay beside `text`. Absent: `text` alone is shown. */
  readonly keepsMedia?: true;
  /** The role that carries the text of a `replace`. Default `user`; the text is labelled whatever the role. */
  readonly role?: Role;
  /** The items that the text names and `recall` brings back. */
  readonly stubs?: readonly Stub[];
  /** The pass that planned it. */
  readonly pass: string;
  /** The reason of the edit, for people. */
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** One line of a stub text: what was there and how to get it back. */
export interface Stub {
  /** The tool, or the role of a message that is no tool's. */
  readonly tool: string;
  /** The subject: a path, a command, the first words. */
  readonly subject: string;
  /** For `recall({ id })`: `m12` for one message, `m12-m40` for all in a range. */
  readonly id: string;
  /** How many messages the line stands for. */
  readonly count: number;
}

/**
 * One indivisible stretch of the window: a system or user message, an assistant message with all its calls and all their
 * results, the labelled message an earlier edit left, or what was inserted since the epoch opened (no pass sees those).
 */
export interface ViewStep {
  readonly kind: "system" | "user" | "assistant" | "note" | "insert";
  /** First and last `seq` in the log. */
  readonly from: number;
  readonly to: number;
  /** As they stand in the window now, edits applied. */
  readonly messages: readonly NumberedMessage[];
  readonly tokens: number;
  /** Tokens of its messages as the log has them. */
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

/**
 * Replaces the secrets of a text, as the session's store does before it keeps one. Texts pass it before they are cut:
 * half a secret passes every mask.
 */
export type TextMask = (text: string) => string;

/** The context of a pass, beside the view. */
export interface PassContext {
  /** Tokens the steps together should come down to. */
  readonly target: number;
  /** Tokens the steps together must not exceed, whatever the target. */
  readonly limit: number;
  /** Tokens the whole request may use. */
  readonly budget: number;
  /** Tokens of the request that are no steps: system, tools, pinned blocks, dynamic. */
  readonly fixed: number;
  readonly counter: TokenCounter;
  readonly profile: Profile;
  /** Texts that stand before the history in every window: the system block and pins. Default: none. */
  readonly standing?: readonly string[];
  /** Applied by a pass to every text that it cuts. */
  readonly mask: TextMask;
  /** The tools that recall: nothing is chosen from their calls and results. Default: `recall`. */
  readonly recallTools?: readonly string[];
  /** Whether the model is offered one of them. Default false. */
  readonly hasRecall?: boolean;
  /** The name of the session, for a note to a model that has to give it to recall. Default: none. */
  readonly sessionName?: string;
  /** The log behind the view, with what left the window, for passes that `read` it. Absent: a pass knows the view alone. */
  readonly log?: LogBehind;
  /** The edits in force: what earlier epochs took out. Default: none. */
  readonly edits?: readonly Edit[];
}

/** What a log is read with. */
export type ReadingContext = Pick<PassContext, "counter" | "mask" | "recallTools">;

/**
 * A pure function from a view and a budget to edits. Same in, same out; the view is not changed. Every pass of a strategy
 * is asked whenever an epoch may open: one that only serves the target answers `[]` while `view.tokens` meets it.
 */
export interface Pass {
  readonly name: string;
  /** The edits; a pass that may take long yields between short steps, so that a session can let other work run. */
  plan(view: View, context: PassContext): readonly Edit[] | Work<readonly Edit[]>;
  /**
   * Called before every window, once for each log that the next plan may get as `context.log`, so that an epoch finds it read. A
   * plan works without it. The log behind the window is held in memory only for a pass that has this.
   */
  read?(log: LogBehind, context: ReadingContext): Work<void>;
}

/**
 * The conditions under which a strategy edits. A window over its budget is always edited; with `{ messages: 0 }` the
 * passes are asked on every call, and an epoch opens where they have an edit.
 */
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
  /**
   * The least tokens of a window that sizes itself, beside system, tools, pinned blocks and dynamic text: it grows up to the
   * budget where calls come back to what left it, and shrinks where they do not. Default: it has its budget.
   */
  readonly floor?: number;
  /** The first user message is never dropped. */
  readonly keepFirstUser: boolean;
  /** The user message that gives the task takes the place of the first one, where that is another. Default false. */
  readonly keepTask?: boolean;
  /** For people: what of it does not run as it is set up, for example a summary without a model. Goes into the report. */
  readonly note?: string;
  /** The settings around its windows; options that are given stand above them. */
  readonly settings?: StrategySettings;
  /** The options that it was made with by its name, as far as they are JSON; metadata keeps them. Default: none. */
  readonly options?: JsonObject;
  /** Runs before a window is composed, where the host awaits `session.prepare()`. May ask a model. */
  readonly beforeCompose?: StrategyHook;
  /** Runs after a step ended, off the path of the next call unless it is set to block. May ask a model. */
  readonly afterStep?: StrategyHook;
  /** Summarises or extracts now, whether it is due or not; what `session.compact()` runs. Default: as `afterStep`. */
  readonly compact?: StrategyHook;
}

/** Settings that come with a strategy, under those that are given beside it. */
export interface StrategySettings {
  /** The counter, by name. Default `estimate`. */
  readonly counter?: string;
  /** Tokens of one image, whatever its size. Default: the counter's, else by its dimensions. */
  readonly imageTokens?: number;
  /** Share of the model's contextWindow that a request may fill. Default 0.75. */
  readonly ratio?: number;
  /** The option that set `ratio`. A budget beside it is refused: one of the two would have no effect. */
  readonly ratioOption?: string;
  /** The language of its marks and prompts. */
  readonly locale?: Locale;
  /** The base folder of the store, where no store is named. */
  readonly folder?: string;
  /** Whether e-mail addresses are masked, where no mask is given. Default false. */
  readonly maskEmail?: boolean;
}

/** A strategy or preset by name, with options of its own; `{ use: "rolling-summary", threshold: 20 }`. */
export interface StrategyChoice {
  readonly use: string;
  readonly [option: string]: unknown;
}

/** Work of a strategy that may ask a model. What it throws is recorded, and changes nothing else. */
export type StrategyHook = (context: StrategyContext, signal?: AbortSignal) => Promise<void>;

/** The context of a strategy's hooks. A hook changes the log only by records. */
export interface StrategyContext {
  /** The window's steps as they stand. */
  readonly view: View;
  /** Tokens the whole request may use. */
  readonly budget: number;
  /** Tokens of the window as it stands, with system, tools and dynamic blocks. */
  readonly tokens: number;
  /** Tokens that the steps may have in the next window, by the blocks of the last one beside them. */
  readonly room: number;
  /** The edits in force; another call may have changed them since the view was taken. */
  readonly edits: readonly Edit[];
  /** The newest message of the log, by `seq`. */
  readonly last: number;
  readonly counter: TokenCounter;
  /** Applied to every text that is cut for a summariser. */
  readonly mask: TextMask;
  /** The time; ISO 8601, UTC. */
  readonly timestamp: string;
  /** Writes summaries, where the session has a summarizer. */
  readonly summarizer?: Model;
  /** Most tokens of a summary, where the session's host says it; a strategy's own number stands above it. */
  readonly maxSummaryTokens?: number;
  /**
   * Commits edits as the next epoch, with the records they rest on, if the messages they name still stand in the window
   * as they did.
   *
   * @returns whether they were committed
   */
  commit(edits: readonly Edit[], records: readonly NewRecord[]): Promise<boolean>;
  /** The entities of the conversation, where some are on record. */
  readonly entities?: Entities;
  /** Adds records that no window is made of, such as entities. */
  record(records: readonly NewRecord[]): Promise<void>;
  /** Records that something failed and changes nothing else. */
  fail(reason: string, data?: JsonObject): Promise<void>;
  /** Records what a call of a model cost, whether its answer was used or not. */
  spend(purpose: UsageRecord["purpose"], usage: Usage, model?: string): Promise<void>;
  /** The messages of a range as the log has them. */
  read(from: number, to: number): Promise<readonly NumberedMessage[]>;
  /** The newest summaries, oldest first. */
  summaries(last: number): Promise<readonly StoredRecordOf<"summary">[]>;
}

/** The entities of a conversation, and how far it was read for them. */
export interface Entities {
  /** The fields of the schema; null where nothing is known. */
  readonly state: JsonObject;
  /** The newest user message they were read from, by `seq`. */
  readonly through: number;
}

/**
 * A block that stands in a fixed slot before the history, verbatim: a pin, the goal, a snapshot. A new text between two
 * epochs stands at the end of the window at once, and in the slot from the next epoch on.
 */
export interface PinnedBlock {
  /** Which block it is; a later text under the same id takes its place. */
  readonly id: string;
  /** Rendered verbatim; says itself what it is. */
  readonly text: string;
}

/**
 * A text for the call at hand: retrieved text, the state of a screen, the time. The window shows it quoted, under a line that
 * names it and says that it is a record and no instruction.
 */
export interface DynamicBlock {
  readonly name: string;
  readonly text: string;
  /** Shown as it is, without that line. Default false: nothing then tells the text from the user's words. */
  readonly literal?: boolean;
  /**
   * Kept in its place until the next epoch, and shown again only when it changes. Default: false, an ephemeral tail; always
   * so where the profile binds reasoning to its prefix.
   */
  readonly sticky?: boolean;
}

/** A labelled message that was inserted behind message `after` since the epoch opened. */
export interface Insert {
  readonly after: number;
  /** The block it shows: `pin:<id>` or `dynamic:<name>`. */
  readonly id: string;
  readonly text: string;
}

/** The input of `composeWindow`. */
export interface ComposeInput {
  /** The whole history, oldest first. Never mutated. */
  readonly messages: readonly Message[];
  /** The system prompt. Absent: leading `system` messages of the history are it. */
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
  /** Text for this call only, behind the history (retrieved text, the time); priced as uncached. Or blocks. */
  readonly dynamic?: string | readonly DynamicBlock[];
  /** Blocks that stand before the history, verbatim, whatever leaves: pins, the goal. */
  readonly pinned?: readonly PinnedBlock[];
  /** The most tokens of one result when it is first shown; recall brings back the rest. Default: any number. */
  readonly ingestCap?: number;
  /** Tokens that all tool definitions together may use before the report warns. Default: any number. */
  readonly toolsBudget?: number;
  /**
   * Tokens the whole request may use. Default: the strategy's share of the model's contextWindow; without a model `bad-option`.
   * `"auto"`: as much at most, and as little as 16,000 beside system, tools and blocks, by what calls come back to.
   */
  readonly budget?: Budget;
  /** A known model's id, or `{ contextWindow, maxOutput, prices, profile }`. Sets the budget and the profile. */
  readonly model?: string | ModelDescription;
  /** A name, a preset, `{ use, ...options }`, or a Strategy. Default `adaptive`. */
  readonly strategy?: string | Strategy | StrategyChoice;
  /** A name or a Profile. Default: the model's, else `openai-chat`. */
  readonly profile?: string | Profile;
  /** A name or a TokenCounter. Default: the strategy's, else `estimate`; an exact one is loaded first (`loadCounter`). */
  readonly counter?: string | TokenCounter;
  /**
   * The tokens that the provider reported for the request of the last window, with its `state`: from then on the budget is
   * in the provider's tokens. Give it from the first call on, undefined as long as there is none. Default: the counter's tokens.
   */
  readonly usage?: Usage | undefined;
  /** Replaces secrets in texts before they are cut, where a host keeps the state. Default: those of a known form. */
  readonly mask?: TextMask;
  /**
   * Names of the tools with which the model recalls: a digest shows nothing of their calls and results. Default
   * `["recall"]`; an answer of recall is also known by its first line.
   */
  readonly recallTools?: readonly string[];
  /** The `state` that the last composition of this history returned. */
  readonly state?: WindowState | undefined;
}

/** The result of one composition. */
export interface Composed {
  /** The system message first, if there is one; the ephemeral tail last, if there is one. */
  readonly messages: readonly Message[];
  /** Tokens of the whole request: messages and tool definitions. */
  readonly tokens: number;
  readonly report: Report;
  /** For the next call, and for a resume: plain JSON. */
  readonly state: WindowState;
}

/** The last window's count, by which the usage of its request corrects later ones. */
export interface CountedWindow {
  /** Tokens of the whole request by the counter. */
  readonly tokens: number;
  readonly calibration: CalibrationState;
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
  /** The pinned blocks as the slot shows them since the epoch opened. */
  readonly slot?: readonly PinnedBlock[];
  /** The inserts since the epoch opened, in order. */
  readonly inserts?: readonly Insert[];
  /** The epoch whose edits this one was built on; an undo goes back to it. 0: the whole history. */
  readonly previous?: number;
  /** Edits that were undone: not planned again while the budget can be met otherwise. */
  readonly reverted?: readonly { readonly from: number; readonly to: number }[];
  /** The tokens of the last window as counted, and how counts compare with the provider's. Absent: no usage was given. */
  readonly counted?: CountedWindow;
  /** The first message that passes read of the log, by `seq`. Absent: 1. */
  readonly horizon?: number;
  /** Tokens of the last window's system, tools and history: what the provider's cache holds. */
  readonly cached?: number;
  /** The newest epochs that the budget forced, oldest first, as far as no other came between. At most 8. Absent: none. */
  readonly forced?: readonly ForcedEpoch[];
  /** The size of a window that sizes itself. Absent: its budget is fixed, or nothing was decided yet. */
  readonly sizing?: Sizing;
}

/** The size of a window that sizes itself, and the calls that it was decided by: older ones count for less. */
export interface Sizing {
  /** Tokens of the window beside system, tools, pinned blocks and dynamic text. */
  readonly size: number;
  /** Model calls, the tokens that they brought, and how many of them came back to what had left the window. */
  readonly calls: number;
  readonly tokens: number;
  readonly returns: number;
}

/** An epoch that opened because the window would not have fitted its budget. */
export interface ForcedEpoch {
  /** Model calls since the epoch before it, and the tokens that they brought: 0 where the budget did not force that one. */
  readonly calls: number;
  readonly brought: number;
  /** Tokens of the whole request behind it. */
  readonly left: number;
}

/** Why an epoch opened. */
export type EpochReason =
  | "over-budget"
  | "trigger"
  | "first"
  | "summary"
  | "undo"
  | "system-changed"
  | "tools-changed"
  | "history-changed";

/** The report of one composition. */
export interface Report {
  readonly strategy: string;
  readonly profile: string;
  readonly counter: string;
  readonly budget: number;
  readonly tokens: number;
  /** Tokens of the window, by block. */
  readonly blocks: {
    readonly system: number;
    readonly tools: number;
    /** Pinned blocks in their slot. */
    readonly pinned: number;
    /** Labelled messages that stand for what left the window. */
    readonly notes: number;
    readonly history: number;
    readonly dynamic: number;
  };
  /** Set where dynamic text had to give way: its tokens as it was given, and as the window shows it. */
  readonly dynamicCut?: { readonly before: number; readonly after: number };
  readonly epoch: number;
  /** Set when this composition opened an epoch. */
  readonly opened?: {
    readonly reason: EpochReason;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    /** The edits that are new in this epoch. */
    readonly edits: readonly Edit[];
  };
  /** The predicted cost of this request by the profile's cache prices, in equivalents of uncached input tokens. Assumes a warm cache. */
  readonly cost: { readonly cached: number; readonly fresh: number; readonly equivalents: number };
  /** The cost of each tool's definition, the costliest first. */
  readonly tools: ToolCosts;
  /** The parts of the strategy that did not run as configured. */
  readonly note?: string;
  /**
   * Set while epochs come every third call or sooner: the `budget` that would do, in tokens as those of the report's own
   * `budget`, and a line for people. `smallBudget` in budget.ts says how it is derived.
   */
  readonly tooSmall?: { readonly budget: number; readonly warning: string };
  /** For a window that sizes itself: why it has the size that it has, in one line. */
  readonly sizing?: string;
  /** Messages of the log by what became of them. */
  readonly counts: {
    readonly kept: number;
    readonly stubbed: number;
    readonly replaced: number;
    readonly dropped: number;
  };
  /** The repairs that made the history valid (message/repair.ts), by kind. */
  readonly repairs: Readonly<Record<string, number>>;
  /** Rules the window breaks; empty unless the profile is new to Windrow. */
  readonly faults: readonly Fault[];
  /** Hash of the whole window, byte for byte. */
  readonly windowHash: string;
}

/** The cost of one tool's definition in every request. */
export interface ToolCost {
  readonly name: string;
  readonly tokens: number;
}

/** The cost of tool definitions in every request. */
export interface ToolCosts {
  /** Tokens of all definitions: the block `tools` of a report. */
  readonly tokens: number;
  /** The cost of each definition, the costliest first. */
  readonly tools: readonly ToolCost[];
  /** Set when the definitions cost more than `toolsBudget`. None is dropped: the host may offer fewer, or shorter ones. */
  readonly warning?: string;
}
