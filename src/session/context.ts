/** The context of a session: the values its parts share, the options it is opened with, and its settings and numbers. */
import type { SecretRules } from "../mask/text.ts";
import type { NewMessage } from "../message/message.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import type { ModelLike } from "../model/model.ts";
import type { Lock, Scope, SessionMetadata, SessionState, Store } from "../store/store.ts";
import type { CorrectedCount } from "../tokens/calibrate.ts";
import type { ComposerOptions } from "../window/compose-options.ts";
import type { Listener } from "./events.ts";
import type { ConversationState } from "./state/state.ts";
import type { UsageMeter } from "./usage.ts";

/** The composer's options of a session; `mask` is the mask of its store. */
export type SessionComposer = ComposerOptions & Required<Pick<ComposerOptions, "mask">>;

/** The options a manager opens a session with. */
export interface SessionOptions {
  readonly store: Store;
  readonly scope: Scope;
  readonly lock: Lock;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly composer: SessionComposer;
  /** Tokens of a window; undefined where each `compose` brings its own budget. */
  readonly budget: number | undefined;
  /** The model's, where one is known: a report of more tokens than it has cannot be true. */
  readonly contextWindow: number | undefined;
  /** The rules by which the store masks records. */
  readonly secretRules: SecretRules;
  /** Whether budgets count tokens as the provider does, as far as it reported any. */
  readonly calibrate: boolean;
  /** Whether `endStep` waits for the strategy's work after a step. */
  readonly compaction: "background" | "blocking";
  /** Writes summaries. */
  readonly summarizer: ModelLike | undefined;
  /** Most tokens of a summary; undefined where the strategy decides. */
  readonly maxSummaryTokens: number | undefined;
  /** Checks a message that was not typed. */
  readonly check: (message: unknown) => NewMessage;
  /** Called when the session has ended in its store; `finish` waits for it. */
  readonly ended: () => Promise<void>;
  /** Called once, when the session is closed or finished. */
  readonly closed: () => void;
  /** Hears events; undefined where nobody listens. */
  readonly on: Listener | undefined;
  readonly now: () => Date;
}

/** The options of one session with what its parts share. */
export interface SessionContext extends SessionOptions {
  readonly id: string;
  readonly conversation: ConversationState;
  readonly meter: UsageMeter;
  /** Runs work when all work that was given before it has ended: appends and compositions see each other whole. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Hands records to the store. Called inside a turn. */
  readonly write: (records: readonly NewRecord[]) => Promise<readonly StoredRecord[]>;
}

/** The settings a session composes and masks with. */
export type SessionSettings = Omit<SessionComposer, "state"> &
  Pick<SessionOptions, "budget" | "secretRules"> & {
    /** Whether windows show masked messages in place of the host's own. */
    readonly liveMask: boolean;
  };

/** A session in numbers. */
export interface SessionStats {
  readonly messages: number;
  /** Tokens of all messages, by the session's counter. */
  readonly tokens: number;
  readonly epoch: number;
  readonly state: SessionState;
  /** Summaries that failed since the last success; `open`: none is tried for a while. */
  readonly breaker: { readonly failures: number; readonly open: boolean };
  /** The tokens the provider will report for the last window, as far as it has reported any. */
  readonly reported: CorrectedCount;
}
