/** Events: noun and verb, past tense, for logs, monitors and viewers. */
import type { WindrowError } from "../errors.ts";
import type { SecretRules } from "../mask/text.ts";
import { maskEvent } from "../mask/masked-event.ts";
import type { JsonObject } from "../message/message.ts";
import type { Recovered, FinalStatus } from "../store/store.ts";
import type { Report } from "../window/window.ts";

/** Something that happened in a session. */
export type SessionEvent =
  | {
      readonly type: "session-opened";
      readonly sessionId: string;
      readonly resumed: boolean;
      readonly taskKey: JsonObject;
    }
  | { readonly type: "session-recovered"; readonly sessionId: string; readonly recovery: readonly Recovered[] }
  | { readonly type: "message-appended"; readonly sessionId: string; readonly seq: number; readonly tokens: number }
  /** A call is about to run with the placeholders of masked secrets in its arguments; refused unless it is allowed. */
  | {
      readonly type: "call-masked";
      readonly sessionId: string;
      readonly callId: string;
      readonly toolName: string;
      readonly placeholders: readonly string[];
    }
  | { readonly type: "tool-started"; readonly sessionId: string; readonly callId: string; readonly toolName: string }
  | { readonly type: "tool-finished"; readonly sessionId: string; readonly callId: string; readonly durationMs: number }
  /** A window for model call `call`, counted from 1 over the whole life of the session. */
  | {
      readonly type: "window-composed";
      readonly sessionId: string;
      readonly call: number;
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
      readonly reason: string;
      readonly failures: number;
      readonly open: boolean;
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
  /** The store refused records, or the state behind written ones; the next state, or the session's end, carries it then. */
  | { readonly type: "append-failed"; readonly sessionId: string; readonly error: WindrowError }
  /** The manager let go of a session that nothing touched for its `idleTimeout`; `session(id)` goes on with it. */
  | { readonly type: "session-closed"; readonly sessionId: string; readonly reason: "idle" }
  | {
      readonly type: "session-finished";
      readonly sessionId: string;
      readonly status: FinalStatus;
      readonly error: string | null;
    };

/** Hears events. What it throws is dropped: a listener never breaks a session. */
export type Listener = (event: SessionEvent) => void;

/** A listener that hears every event with its secrets replaced: it may write what it hears anywhere. */
export function maskedListener(listener: Listener | undefined, rules: SecretRules): Listener | undefined {
  return listener && ((event) => listener(maskEvent(event, rules)));
}

/** Tells a listener, and keeps what it throws from the session. */
export function tell(listener: Listener | undefined, event: SessionEvent): void {
  try {
    listener?.(event);
  } catch {
    // A listener's error must not break the session.
  }
}
