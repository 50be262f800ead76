/** The context of a session: the values its parts share, the options it is opened with, and its settings and numbers. */
import { WindrowError } from "../errors.ts";
import type { SecretRules } from "../mask/text.ts";
import { foreignUsageHint } from "../message/foreign.ts";
import { defined } from "../message/json.ts";
import type { NewMessage, Usage } from "../message/message.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import type { ModelLike } from "../model/model.ts";
import type { Lock, Scope, SessionMetadata, SessionState, Store } from "../store/store.ts";
import type { CorrectedCount } from "../tokens/calibrate.ts";
import type { ComposerOptions } from "../window/compose-options.ts";
import { checkGiven, kinds, usageReport, whole } from "../window/options.ts";
import type { Kind } from "../window/options.ts";
import type { Listener } from "./events.ts";
import type { ConversationState } from "./state/state.ts";
import type { CostTotals, UsageMeter } from "./usage.ts";

/** The composer's options of a session; `mask` is the mask of its store. */
export type SessionComposer = ComposerOptions & Required<Pick<ComposerOptions, "mask">>;

/** The values that the parts of one session share. */
export interface SessionContext {
  readonly id: string;
  readonly store: Store;
  readonly scope: Scope;
  readonly composer: SessionComposer;
  /** Tokens of a window; undefined where each `compose` brings its own budget. */
  readonly budget: number | undefined;
  /** Hears events; undefined where nobody listens. */
  readonly on: Listener | undefined;
  readonly now: () => Date;
  /** Runs work when all work that was given before it has ended: appends and compositions see each other whole. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Hands records to the store. Called inside a turn. */
  readonly write: (records: readonly NewRecord[]) => Promise<readonly StoredRecord[]>;
}

/**
 * The budget of a window.
 *
 * @throws WindrowError `bad-option` where neither the call nor the session has one
 */
export function budgetFor({ budget }: SessionContext, given: number | undefined): number {
  const found = given ?? budget;
  if (found !== undefined) return found;
  throw new WindrowError("bad-option", "No budget: give compose a `budget`, or open the manager with a `model`.");
}

/** The report of a model call that `endStep` takes. */
export interface StepUsed {
  /** The usage that the provider reported. Default: none. */
  readonly usage?: Usage;
  /** The model's id. */
  readonly model?: string;
  /** The provider's id of the answer, and that of its request, by which `windrow usage` knows a call that other files hold. */
  readonly answerId?: string;
  readonly requestId?: string;
  /** Tool calls of the answer that somebody else runs, so that `session.startTool` is called for none. Default 0. */
  readonly toolCalls?: number;
}

/** A report with its defaults, and the other facts of the record that it makes. */
interface CheckedStep {
  readonly usage: Usage;
  readonly toolCalls: number;
  readonly facts: Omit<StepUsed, "usage">;
}

const stepKinds = {
  usage: usageReport,
  model: kinds.text,
  answerId: kinds.text,
  requestId: kinds.text,
  toolCalls: whole(0),
} as const satisfies Record<keyof StepUsed, Kind>;

/**
 * The report of a model call, checked.
 *
 * @throws WindrowError `bad-option`
 */
export function checkedStep(used: StepUsed): CheckedStep {
  const unwrapped = foreignUsageHint(used);
  if (unwrapped !== "") {
    throw new WindrowError("bad-option", `endStep takes { usage, model }.${unwrapped}`, { option: "usage" });
  }
  checkGiven("endStep", used, stepKinds);
  const { usage = {}, toolCalls = 0, ...names } = used;
  return { usage, toolCalls, facts: defined({ ...names, toolCalls: toolCalls > 0 ? toolCalls : undefined }) };
}

/** Plans a record at the time of its turn, writes it, and applies it to the conversation's state. */
export type RecordPlanned = <R extends NewRecord>(plan: (time: string) => R) => Promise<R>;

/** The options a manager opens a session with. */
export interface SessionOptions extends Omit<SessionContext, "id" | "inTurn" | "write"> {
  readonly lock: Lock;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  /** Pins, goal and snapshot, empty; the log restores them. */
  readonly conversation: ConversationState;
  readonly meter: UsageMeter;
  /** The rules by which the store masks records. */
  readonly secretRules: SecretRules;
  /** Whether budgets count tokens as the provider does, as far as it reported any. */
  readonly calibrate: boolean;
  /** Whether `endStep` waits for the strategy's work after a step. */
  readonly compaction: "background" | "blocking";
  /** Called when the session has ended in its store; `finish` waits for it. */
  readonly ended: () => Promise<void>;
  /** Writes summaries. */
  readonly summarizer: ModelLike | undefined;
  /** Most tokens of a summary; undefined where the strategy decides. */
  readonly maxSummaryTokens: number | undefined;
  /** Whether the composer's state is on disk. */
  readonly recorded: boolean;
  /** Checks a message that was not typed. */
  readonly check: (message: unknown) => NewMessage;
  /** Called once, when the session is closed or finished. */
  readonly closed: () => void;
}

/** The settings a session composes and masks with. */
export type SessionSettings = Omit<SessionComposer, "state"> & {
  /** Tokens of a window; undefined where each `compose` brings its own budget. */
  readonly budget: number | undefined;
  /** The rules by which the store masks records. */
  readonly secretRules: SecretRules;
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
  /** Predicted and actual costs of the calls whose usage was reported. */
  readonly cost: CostTotals;
  /** The tokens the provider will report for the last window, as far as it has reported any. */
  readonly reported: CorrectedCount;
}
