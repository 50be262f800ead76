/** What a session is made of, and what it says of itself. */
import type { NewMessage } from "../message/message.ts";
import type { Lock, Scope, SessionMetadata, SessionState, Store } from "../store/store.ts";
import type { ComposeOptions, ComposerOptions } from "../window/compose-options.ts";
import type { SecretRules } from "../mask/text.ts";
import type { Listener } from "./events.ts";
import type { Memory } from "../memory/memory.ts";
import type { Model } from "../model/model.ts";
import type { CorrectedCount } from "../tokens/calibrate.ts";
import type { Held } from "./state/state.ts";
import type { CostTotals, Meter } from "./meter.ts";

/** How a session composes: with the mask of its store. */
export type SessionComposer = ComposerOptions & Required<Pick<ComposerOptions, "mask">>;

/** What a manager opens a session with. */
export interface SessionParts {
  readonly store: Store;
  readonly scope: Scope;
  readonly lock: Lock;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly composer: SessionComposer;
  /** What it holds beside its messages, as its log tells. */
  readonly held: Held;
  /** Follows its costs and counts. */
  readonly meter: Meter;
  /** By which its store masks what it keeps. */
  readonly secretRules: SecretRules;
  /** Whether budgets are in tokens as the provider counts, as far as it has reported any. */
  readonly calibrate: boolean;
  /** Whether `endStep` waits for what a strategy does after a step. */
  readonly compaction: "background" | "blocking";
  /** Gets the log when the session ends. */
  readonly memory?: Memory;
  /** What writes summaries. */
  readonly summarizer?: Model;
  /** Whether the composer's state is on disk. */
  readonly recorded: boolean;
  /** Tokens; what `compose` takes when it is given none. */
  readonly budget: number | undefined;
  /** Checks messages that were not typed. */
  readonly check: (message: unknown) => NewMessage;
  readonly now: () => Date;
  /** Told once, when the session is closed or finished. */
  readonly closed: () => void;
  readonly on?: Listener;
}

/** What a session composes and masks by. */
export type SessionSettings = Omit<SessionComposer, "state"> &
  Pick<SessionParts, "secretRules"> & {
    readonly budget: number | undefined;
    /** Whether its windows show what is kept, masked, in place of what the host gave. */
    readonly liveMask: boolean;
  };

/** What `compose` is given. */
export type SessionComposeOptions = Omit<ComposeOptions, "budget" | "pinned"> & { readonly budget?: number };

/** How much `recall` brings back. */
export interface RecallOptions {
  /** Default 4,000. */
  readonly maxTokens?: number;
}

/** A session in numbers. */
export interface SessionStats {
  readonly messages: number;
  /** Tokens of all messages, by the session's counter. */
  readonly tokens: number;
  readonly epoch: number;
  readonly state: SessionState;
  /** Summaries that failed since the last success; `open`: none is tried for a while. */
  readonly breaker: { readonly failures: number; readonly open: boolean };
  /** What calls were predicted to cost and did cost. */
  readonly cost: CostTotals;
  /** What the provider will report for the last window, as far as it has reported any. */
  readonly reported: CorrectedCount;
}
