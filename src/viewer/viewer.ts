/**
 * The contract between a page that shows sessions and what answers it: a server over a store, or the data inside of a
 * single file. Every answer is a range or a page of something; none is a session as one text. All token figures are by
 * the session's counter, all times ISO 8601 in UTC, all money in dollars.
 */
import type { JsonObject, JsonValue, Part, Role, ToolDefinition, Usage } from "../message/message.ts";
import type { SessionStanding } from "../ops/look/standing.ts";
import type { SessionStatus } from "../store/store.ts";
import type { SentChange } from "../window/sent.ts";
import type { GatewayLine, RequestPage } from "./requests.ts";

/** One session in a list of them. */
export interface ListedSession {
  readonly id: string;
  readonly status: SessionStatus;
  /** Whether it is written now, was let go, or died; absent where the store cannot tell. */
  readonly standing?: SessionStanding;
  /** The task's name, or the user's first words, behind the client of a gateway's line; empty for none. */
  readonly title: string;
  readonly model: string | null;
  readonly strategy: string | null;
  readonly user: string | null;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly calls: number;
  readonly toolCalls: number;
  readonly epochs: number;
  /** Tokens that its calls used, and those of its newest window. */
  readonly usedTokens: number;
  readonly windowTokens: number;
  /** Absent where it was not asked for; null where a price is not known. */
  readonly dollars?: number | null;
  readonly error: string | null;
  /** Set for a session that a gateway keeps. */
  readonly line?: GatewayLine;
}

/** A page of the sessions of a store, newest first. */
export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Give it as `after` for the next page; absent on the last. */
  readonly next?: string;
  /** How many sessions were looked at for this page. */
  readonly looked: number;
  /** Sessions that could not be read, with what to do. */
  readonly unreadable: readonly { readonly id: string; readonly message: string }[];
}

/** A session as the page's head shows it. */
export interface ViewerSession extends ListedSession {
  readonly taskKey: JsonObject;
  readonly profile: string | null;
  readonly counter: string | null;
  /** Tokens that a window may have; null for no limit, or where it is not on disk. */
  readonly budget: number | null;
  readonly completedAt: string | null;
  readonly messages: number;
  /** Tokens of all messages. */
  readonly historyTokens: number;
  /** Whether a process writes it now. */
  readonly isLive: boolean;
  /** Damaged places that were passed over, in words. */
  readonly damage: readonly string[];
  /**
   * `recorded`: its calls name their windows, which are rebuilt from disk. `replayed`: its windows were composed by a replay.
   * `none`: its calls name no window, as in an import; a window is then the log itself.
   */
  readonly windows: "recorded" | "replayed" | "none";
}

/** One message as a line of a list. */
export interface OutlineRow {
  readonly seq: number;
  readonly role: Role;
  readonly tokens: number;
  readonly timestamp: string;
  /** Its beginning as one line, of 120 characters at most. */
  readonly head: string;
  /** The tools that it calls, or whose results it carries. */
  readonly tools: readonly string[];
  readonly isError: boolean;
}

/** A message whole, but for texts above the cap and for media. */
export interface ViewerMessage {
  readonly seq: number;
  readonly id: string;
  readonly role: Role;
  readonly timestamp?: string;
  readonly tokens: number;
  /**
   * Texts are cut at `textCap` characters. An image or a file has no `data`: its `url` is `blob:SEQ/PLACE`, and
   * {@link ViewerSource.blob} has the bytes.
   */
  readonly parts: readonly Part[];
  /** The length in characters of each text that was cut, by the place of its part (and of its piece). */
  readonly cut?: Readonly<Record<string, number>>;
}

/** The tokens of a request by what they are spent on; they add up to the window's tokens. */
export interface CallBlocks {
  readonly system: number;
  readonly tools: number;
  /** Pinned blocks: goal, pins, snapshot. */
  readonly pinned: number;
  /** Labelled messages that stand for what left: digests, summaries, notes. */
  readonly digest: number;
  /** Results and texts that were cut to an excerpt. */
  readonly stubs: number;
  /** All other messages. */
  readonly history: number;
  /** The tokens that no record explains: dynamic text, framing, what the host added. May be negative where masks shortened a text. */
  readonly rest: number;
}

/** One call of a model. */
export interface CallRow {
  /** From 1, in the order of the log. */
  readonly call: number;
  readonly purpose: string;
  readonly timestamp: string;
  readonly model: string | null;
  /** The newest message in its window. */
  readonly lastSeq: number;
  /** The epoch of its window; null where the call names no window. */
  readonly epoch: number | null;
  /** Tokens of the whole request, as counted; null where the call names no window. */
  readonly tokens: number | null;
  readonly blocks: CallBlocks | null;
  /** The cached tokens that were expected. */
  readonly predictedCached: number | null;
  /** As the provider reported it. */
  readonly usage: Usage | null;
  readonly dollars: number | null;
  /** Milliseconds since the call before it; null for the first. */
  readonly idleMs: number | null;
}

/** Calls in a row, and how many there are. */
export interface CallPage {
  readonly total: number;
  readonly calls: readonly CallRow[];
}

/**
 * - `whole`: it stands in the window as it is in the log, or without its reasoning alone;
 * - `cut`: it stands there with a result or a text cut to an excerpt;
 * - `quoted`: it left, and lines of it stand in a digest or a summary's passages under its id;
 * - `named`: it left, and a line names it by its id or by a range of at most eight messages;
 * - `gone`: it left, and nothing of the window names it but a longer range;
 * - `later`: it came after the call.
 */
export type ViewerFate = "whole" | "cut" | "quoted" | "named" | "gone" | "later";

/** Messages in a row with one fate. Runs never overlap and rise. */
export interface FateRun {
  readonly from: number;
  readonly to: number;
  readonly fate: ViewerFate;
  /** The pass of the edit; empty for `whole`. */
  readonly pass: string;
  readonly reason: string;
  /** Tokens of the run in the log and in the window, where the edit tells. */
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

/** An epoch of the window. */
export interface EpochRow {
  readonly epoch: number;
  readonly reason: string;
  readonly timestamp: string;
  /** The newest message when it opened. */
  readonly opened: number;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  readonly budget: number | null;
  /** The first call with a window of this epoch; null where none was made. */
  readonly firstCall: number | null;
  /** The fates of the messages up to `opened`; what came later is whole. Empty where they were not asked for. */
  readonly fates: readonly FateRun[];
  readonly changed?: SentChange;
}

/** One message of a window. */
export interface WindowEntry {
  /** Its message in the log; 0 for none. For a labelled message the first one that it stands for. */
  readonly seq: number;
  readonly role: Role;
  readonly tokens: number;
  /**
   * `message`: as in the log; `cut`: with an excerpt, or without its reasoning; `digest`, `summary` and `note`: labelled messages
   * for what left; `pinned`, `insert`, `dynamic`: blocks; `repair`: made or changed so that the window is valid.
   */
  readonly kind:
    | "message"
    | "cut"
    | "digest"
    | "summary"
    | "note"
    | "pinned"
    | "insert"
    | "dynamic"
    | "repair"
    | "system";
  /** The hash of role and parts as they are sent: entries with one key are the same bytes. */
  readonly key: string;
  /** The message as it is sent; absent where it is the log's own message `seq`. */
  readonly message?: ViewerMessage;
  readonly pass?: string;
  readonly reason?: string;
  /** Tokens of what it stands for in the log. */
  readonly tokensBefore?: number;
  /** The range of messages that a labelled message stands for. */
  readonly to?: number;
  /** The lines of a labelled message with the message and the line of the log that each is from. */
  readonly origins?: readonly LineOrigin[];
}

/** The origin of one line of a labelled message. */
export interface LineOrigin {
  /** The line of the labelled text, from 1. */
  readonly line: number;
  /** The message it is from, and the line in that message's text, from 1; 0 where the line as such is not found there. */
  readonly seq: number;
  readonly at: number;
}

/** Whether a rebuilt window is the one that was sent. */
export interface Verified {
  readonly isVerified: boolean;
  /** The hash that the call's record names, and that of the rebuilt window. */
  readonly recorded: string | null;
  readonly rebuilt: string;
  /** Why it cannot be proved, in words; absent where it is verified. */
  readonly problem?: string;
  /** A figure of the record that does not fit a window that is verified, in words. */
  readonly remark?: string;
}

/** The cache's part in a call: what was expected, what was reported, and where it first differs from the call before. */
export interface CacheCard {
  readonly predicted: number | null;
  readonly reported: number | null;
  readonly written: number | null;
  /**
   * Messages at the beginning that equal those of the call before, and their tokens, with those of the system prompt and
   * the tools where these are the same too.
   */
  readonly commonEntries: number;
  readonly commonTokens: number;
  /** The place where the two windows first differ: `system`, `tools`, an entry's place and its `seq`; null: it only grew. */
  readonly divergence: {
    readonly block: "system" | "tools" | "message" | "none";
    readonly entry?: number;
    readonly seq?: number;
  };
  /** The cause in words: "epoch 6, over-budget", "idle 11 min, the cache holds 5 min", "the window only grew". */
  readonly cause: string;
  readonly isHit: boolean | null;
}

/** The window of one call, rebuilt. */
export interface ViewerWindow {
  readonly call: number;
  readonly lastSeq: number;
  readonly epoch: number | null;
  readonly tokens: number;
  readonly budget: number | null;
  readonly blocks: CallBlocks;
  readonly verified: Verified;
  /** The system prompt beside the log; absent where the log's own system messages are sent, or where it is not on disk. */
  readonly system?: string;
  readonly tools: readonly ToolDefinition[];
  /** Blocks that were sent and are not on disk. */
  readonly missing: readonly ("system" | "tools" | "dynamic")[];
  readonly entries: readonly WindowEntry[];
  /** The fates of all messages up to `lastSeq`. */
  readonly fates: readonly FateRun[];
  readonly cache: CacheCard | null;
  /** Faults that were mended in it, by message. */
  readonly repairs: readonly { readonly seq: number; readonly kind: string; readonly reason: string }[];
  /** Set for a window composed by other settings than the session's: nothing like it was ever sent. */
  readonly instead?: { readonly strategy: string; readonly budget: number | null };
}

/** A recall on record. */
export interface RecallRow {
  readonly at: string;
  readonly asked: string;
  readonly tokens: number | null;
  readonly seqs: readonly number[];
  readonly error: string | null;
  /** The newest call before it, from 1; 0 for none. */
  readonly call: number;
}

/** A message that a search found. */
export interface ViewerHit {
  readonly sessionId: string;
  readonly seq: number;
  readonly role: Role;
  /** The text around the first match. */
  readonly excerpt: string;
}

/** A part of a live session that grew; numbers are how much there is now. */
export interface LiveEvent {
  readonly messages: number;
  readonly calls: number;
  readonly epochs: number;
  readonly status: SessionStatus;
  /** As in {@link ListedSession}. */
  readonly standing?: SessionStanding;
  /** Requests that passed a gateway; absent for another session. */
  readonly requests?: number;
}

/** One reference of a replayed session that a window did not answer by itself. */
export interface MissRow {
  /** The call that made the reference, from 1, and its message. */
  readonly call: number;
  readonly seq: number;
  /** The message that held what was referred to. */
  readonly source: number;
  readonly text: string;
  /** The recall that the window itself suggests and that brings it; null where there is none. */
  readonly recall: string | null;
}

/** One strategy of a replay, or the recorded row. */
export interface ReplayRow {
  readonly name: string;
  readonly budget: number | null;
  /** The figures of the table, by name, as `windrow replay --json` has them. */
  readonly figures: Readonly<Record<string, JsonValue>>;
  /** Whether `calls`, `window` and `epochs` can be asked of it. */
  readonly hasWindows: boolean;
  readonly misses: readonly MissRow[];
}

/** The bytes of an image or a file. */
export interface ViewerBlob {
  readonly mediaType: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** The questions of a page. `row` is the place of a replay's row, 0 for a session. */
export interface ViewerSource {
  readonly kind: "server" | "file";
  sessions(query: {
    readonly after?: string;
    readonly limit?: number;
    readonly status?: string;
    readonly text?: string;
  }): Promise<SessionPage>;
  session(id: string): Promise<ViewerSession>;
  outline(id: string, from: number, to: number): Promise<readonly OutlineRow[]>;
  messages(id: string, from: number, to: number): Promise<readonly ViewerMessage[]>;
  /** Characters `from` to `to` of a text that was cut, by the place in {@link ViewerMessage.cut}. */
  text(id: string, seq: number, place: string, from: number, to: number): Promise<string>;
  /** An image's or a file's bytes, by its message and the place of its part. Absent where none are held. */
  blob?(id: string, seq: number, place: string): Promise<ViewerBlob>;
  calls(id: string, from: number, to: number, row?: number): Promise<CallPage>;
  /** `fates: false` leaves out the fates, for which the text of every epoch is read. Default true. */
  epochs(id: string, row?: number, options?: { readonly fates?: boolean }): Promise<readonly EpochRow[]>;
  window(
    id: string,
    call: number,
    options?: {
      readonly row?: number;
      readonly strategy?: string;
      readonly budget?: number;
      /** Finds the origins of all lines of digests. Default false: those that are not known yet are absent. */
      readonly origins?: boolean;
    },
  ): Promise<ViewerWindow>;
  recalls(id: string): Promise<readonly RecallRow[]>;
  /** The requests of a gateway's line. Absent where none are held. */
  requests?(id: string, from: number, to: number): Promise<RequestPage>;
  search(words: string, id?: string): Promise<readonly ViewerHit[]>;
  /** Rows of a replay; empty for a session. */
  replay(id: string): Promise<readonly ReplayRow[]>;
  /** Calls `onEvent` whenever the session grew, until the signal fires. Goes on after a lost connection. */
  follow(id: string, onEvent: (event: LiveEvent) => void, signal: AbortSignal): Promise<void>;
}
