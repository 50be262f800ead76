/** Events: noun and verb, past tense, for logs, monitors and viewers. */
import type { WindrowError } from "../errors.ts";
import { inform } from "../handed-in.ts";
import { knownSecrets } from "../mask/text.ts";
import type { SecretRules } from "../mask/text.ts";
import { onRuleFailure } from "../mask/failures.ts";
import { maskEvent } from "../mask/masked-event.ts";
import { warnOnce } from "../warn.ts";
import { defined } from "../message/json.ts";
import type { JsonObject, Role } from "../message/message.ts";
import type { UsageRecord } from "../message/record.ts";
import type { Recovered, FinalStatus } from "../store/store.ts";
import type { Report } from "../window/window.ts";

/** Why a session was let go without an end. */
export type CloseReason = "asked" | "idle";

/** Something that happened in a session; `readOnly` where the session was opened for reading alone. */
export type SessionEvent = Happened & { readonly readOnly?: true };

/** An event of a session, with its facts. */
type Of<Type extends string, Facts = object> = Facts & { readonly type: Type; readonly sessionId: string };

/** An event of a manager, without a session. */
type OfManager<Type extends string, Facts> = Facts & { readonly type: Type; readonly sessionId?: never };

/** A tool's call. */
interface CallFacts {
  readonly callId: string;
  readonly toolName: string;
}

type Happened =
  | Of<"session-opened", { readonly resumed: boolean; readonly taskKey: JsonObject }>
  | Of<"session-recovered", { readonly recovery: readonly Recovered[] }>
  | Of<"message-appended", { readonly seq: number; readonly role: Role; readonly tokens: number }>
  /** A call is about to run with the placeholders of masked secrets in its arguments; refused unless it is allowed. */
  | Of<"call-masked", CallFacts & { readonly placeholders: readonly string[] }>
  | Of<"tool-started", CallFacts>
  | Of<"tool-finished", CallFacts & { readonly isError: boolean; readonly durationMs: number }>
  | Of<"window-composed", WindowFacts>
  | Of<"epoch-opened", { readonly report: Report }>
  /** The newest epoch was taken back; `epoch` has the edits of the one before it. */
  | Of<"epoch-undone", { readonly undone: number; readonly epoch: number }>
  /**
   * A summary took the place of messages; they stay in the log. With the tokens of the messages it read, and its own, unless
   * a hook changed the window without a summary.
   */
  | Of<
      "summary-committed",
      { readonly epoch: number; readonly originalTokens?: number; readonly summaryTokens?: number }
    >
  | Of<"summary-failed", FailureFacts>
  /** The usage of a model call went into the log: of the agent's own (`turn`, by `endStep`), or of a strategy's. */
  | Of<"usage-recorded", Pick<UsageRecord, "purpose" | "usage" | "model">>
  /** The usage a provider reported cannot be true; it was ignored. */
  | Of<"usage-ignored", { readonly warning: string }>
  /** The session's log was handed to the memory. */
  | Of<"session-offloaded", { readonly memory: string; readonly messages: number }>
  /** The memory took nothing; the session ended all the same, and its log has everything. */
  | Of<"offload-failed", { readonly memory: string; readonly reason: string }>
  /** The memory gave nothing at the start; the session began without it. */
  | Of<"bootstrap-failed", { readonly memory: string; readonly reason: string }>
  /** The store refused records, or the state behind written ones; the next state, or the session's end, carries it then. */
  | Of<"append-failed", { readonly error: WindrowError }>
  /**
   * The session was let go without an end: by its `close` or the manager's (`asked`), or because nothing touched it for the
   * manager's `idleTimeout` (`idle`). `session(id)` goes on with it.
   */
  | Of<"session-closed", { readonly reason: CloseReason }>
  | Of<"session-finished", { readonly status: FinalStatus; readonly error: string | null }>
  /** A user's own settings (USER_CONFIG_API) could not be had; older ones stand, or those of the other layers. */
  | OfManager<"user-config-failed", { readonly user: string; readonly reason: string }>
  /** A rule of the mask failed, by its kind; it was left out for that text, and the other rules ran. */
  | OfManager<"mask-rule-failed", { readonly rule: string }>;

/** A window for a model call. */
interface WindowFacts {
  /** The number of the call, counted from 1 over the whole life of the session. */
  readonly call: number;
  /** The model that the manager was opened with; absent where it names none. */
  readonly model?: string;
  /** Messages in the window. */
  readonly messages: number;
  readonly report: Report;
}

/** A summary failed; nothing changed but one record. */
interface FailureFacts {
  /** A code of the summariser's, or the error's own words. */
  readonly reason: string;
  /** The reason in words, where that is a code. */
  readonly problem?: string;
  readonly failures: number;
  /** After several failures none is tried for a while. */
  readonly open: boolean;
}

/** Hears events. A listener that throws, at once or later, never breaks a session: the process warns once. */
export type Listener = (event: SessionEvent) => void;

/** A listener that hears every event with its secrets replaced: it may write what it hears anywhere. */
export function maskedListener(listener: Listener | undefined, rules: SecretRules): Listener | undefined {
  return listener && ((event) => listener(maskEvent(event, rules)));
}

/** Reports failures of the mask's rules to a listener, in events without a session. Returns a function that stops it. */
export function listenToMask(listener: Listener | undefined, { rules }: SecretRules): () => void {
  if (!listener) return () => undefined;
  // The event names the rule alone. It does not pass the mask, which would ask that rule again.
  return onRuleFailure(rules, (rule) => tell(listener, { type: "mask-rule-failed", rule }));
}

/** The event of a usage that went into the log. */
export function usageRecorded(sessionId: string, { purpose, usage, model }: UsageRecord): SessionEvent {
  return { type: "usage-recorded", sessionId, purpose, usage, ...defined({ model }) };
}

/** Hands an event to a listener. Without one, the process warns of the first failure of a kind in a session. */
export function tell(listener: Listener | undefined, event: SessionEvent): void {
  const { type, sessionId = "" } = event;
  if (!listener) {
    if (type.endsWith("-failed")) warnOnce(`${type} ${sessionId}`, type, warningOf(event));
    return;
  }
  inform(listener, event, `the session event ${type}`, `listener ${sessionId}`);
}

function warningOf(event: SessionEvent): string {
  const { type, sessionId } = event;
  const masked = maskEvent(event, knownSecrets);
  const reason =
    masked.type === "append-failed" ? masked.error.message : "reason" in masked ? masked.reason : undefined;
  const why = masked.type === "summary-failed" ? (masked.problem ?? reason) : reason;
  const where = sessionId === undefined ? "" : ` in session ${sessionId}`;
  return `${type}${where}${why === undefined ? "" : `: ${why}`} The option \`on\` receives every such event.`;
}
