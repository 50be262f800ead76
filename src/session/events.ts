/** Events: noun and verb, past tense, for logs, monitors and viewers. */
import type { WindrowError } from "../errors.ts";
import { inform } from "../handed-in.ts";
import { knownSecrets } from "../mask/text.ts";
import type { SecretRules } from "../mask/text.ts";
import { onRuleFailure } from "../mask/failures.ts";
import { maskEvent } from "../mask/masked-event.ts";
import { warnOnce } from "../warn.ts";
import type { JsonObject, Role, Usage } from "../message/message.ts";
import type { UsageRecord } from "../message/record.ts";
import type { Recovered, FinalStatus } from "../store/store.ts";
import type { Composed, Report } from "../window/window.ts";

/** Why a session was let go without an end. */
export type CloseReason = "asked" | "idle";

/** Something that happened in a session; `readOnly` where the session was opened for reading alone. */
export type SessionEvent = Happened & { readonly readOnly?: true };

type Happened =
  | {
      readonly type: "session-opened";
      readonly sessionId: string;
      readonly resumed: boolean;
      readonly taskKey: JsonObject;
    }
  | { readonly type: "session-recovered"; readonly sessionId: string; readonly recovery: readonly Recovered[] }
  | {
      readonly type: "message-appended";
      readonly sessionId: string;
      readonly seq: number;
      readonly role: Role;
      readonly tokens: number;
    }
  /** A call is about to run with the placeholders of masked secrets in its arguments; refused unless it is allowed. */
  | {
      readonly type: "call-masked";
      readonly sessionId: string;
      readonly callId: string;
      readonly toolName: string;
      readonly placeholders: readonly string[];
    }
  | { readonly type: "tool-started"; readonly sessionId: string; readonly callId: string; readonly toolName: string }
  | {
      readonly type: "tool-finished";
      readonly sessionId: string;
      readonly callId: string;
      readonly toolName: string;
      readonly isError: boolean;
      readonly durationMs: number;
    }
  /** A window for model call `call`, counted from 1 over the whole life of the session. */
  | {
      readonly type: "window-composed";
      readonly sessionId: string;
      readonly call: number;
      /** The model that the manager was opened with; absent where it names none. */
      readonly model?: string;
      /** Messages in the window. */
      readonly messages: number;
      readonly report: Report;
    }
  | { readonly type: "epoch-opened"; readonly sessionId: string; readonly report: Report }
  /** The newest epoch was taken back; `epoch` has the edits of the one before it. */
  | { readonly type: "epoch-undone"; readonly sessionId: string; readonly undone: number; readonly epoch: number }
  /** A summary took the place of messages; they stay in the log. */
  | {
      readonly type: "summary-committed";
      readonly sessionId: string;
      readonly epoch: number;
      /** Tokens of the messages it read, and its own; absent where a hook changed the window without a summary. */
      readonly originalTokens?: number;
      readonly summaryTokens?: number;
    }
  /** A summary failed; nothing changed but one record. `open`: after several failures none is tried for a while. */
  | {
      readonly type: "summary-failed";
      readonly sessionId: string;
      /** A code of the summariser's, or the error's own words. */
      readonly reason: string;
      /** The reason in words, where that is a code. */
      readonly problem?: string;
      readonly failures: number;
      readonly open: boolean;
    }
  /** The usage of a model call went into the log: of the agent's own (`turn`, by `endStep`), or of a strategy's. */
  | {
      readonly type: "usage-recorded";
      readonly sessionId: string;
      readonly purpose: UsageRecord["purpose"];
      readonly usage: Usage;
      readonly model?: string;
    }
  /** The usage a provider reported cannot be true; it was ignored. */
  | { readonly type: "usage-ignored"; readonly sessionId: string; readonly warning: string }
  /** The session's log was handed to the memory. */
  | {
      readonly type: "session-offloaded";
      readonly sessionId: string;
      readonly memory: string;
      readonly messages: number;
    }
  /** The memory took nothing; the session ended all the same, and its log has everything. */
  | { readonly type: "offload-failed"; readonly sessionId: string; readonly memory: string; readonly reason: string }
  /** The memory told nothing at the start; the session began without it. */
  | { readonly type: "bootstrap-failed"; readonly sessionId: string; readonly memory: string; readonly reason: string }
  /** A pinned text does not stand in a window that was composed: a fault of Windrow's, told and not hidden. */
  | { readonly type: "pins-missing"; readonly sessionId: string; readonly pins: readonly string[] }
  /** A user's own settings (USER_CONFIG_API) could not be had; older ones stand, or those of the other layers. */
  | { readonly type: "user-config-failed"; readonly sessionId?: never; readonly user: string; readonly reason: string }
  /** A rule of the mask failed, by its kind; it was left out for that text, and the other rules ran. */
  | { readonly type: "mask-rule-failed"; readonly sessionId?: never; readonly rule: string }
  /** The store refused records, or the state behind written ones; the next state, or the session's end, carries it then. */
  | { readonly type: "append-failed"; readonly sessionId: string; readonly error: WindrowError }
  /**
   * The session was let go without an end: by its `close` or the manager's (`asked`), or because nothing touched it for the
   * manager's `idleTimeout` (`idle`). `session(id)` goes on with it.
   */
  | { readonly type: "session-closed"; readonly sessionId: string; readonly reason: CloseReason }
  | {
      readonly type: "session-finished";
      readonly sessionId: string;
      readonly status: FinalStatus;
      readonly error: string | null;
    };

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

/** A listener of a session that is only read: each event says so. */
export function readOnlyListener(listener: Listener | undefined): Listener | undefined {
  return listener && ((event) => listener({ ...event, readOnly: true }));
}

/** The event of a composed window. */
export function windowComposed(
  sessionId: string,
  call: number,
  { messages, report }: Composed,
  model: string | undefined,
): SessionEvent {
  const asked = model !== undefined && { model };
  return { type: "window-composed", sessionId, call, ...asked, messages: messages.length, report };
}

/** The event of a usage that went into the log. */
export function usageRecorded(
  sessionId: string,
  { purpose, usage, model }: Pick<UsageRecord, "purpose" | "usage" | "model">,
): SessionEvent {
  return { type: "usage-recorded", sessionId, purpose, usage, ...(model !== undefined && { model }) };
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
