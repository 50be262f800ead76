/**
 * The messages that a conversation's windows show and their notes number: those of the session's log, or the host's own,
 * masked where the store asks for it. Recall answers from the same messages, so that an id brings back what its note names.
 */
import type { Session } from "../../session/session.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { loadCounter } from "../../tokens/exact.ts";
import { recallInTurns } from "../../window/recall/recall.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import { maskJson, maskRecord } from "../../mask/mask.ts";
import type { JsonValue, Message } from "../../message/message.ts";
import type { SessionSettings } from "../../session/context.ts";

/** A history as it is asked for: decoded only where something is recalled from it. */
export type HistorySource = () => readonly Message[] | Promise<readonly Message[]>;

/** How much to bring back, and how it is counted. */
export interface NumberedLimits {
  /** Default: an eighth of the budget, and at most 4,000. */
  readonly maxTokens?: number | undefined;
  /** Tokens of the window that the answer goes into. Default: the session's. */
  readonly budget?: number | undefined;
  /** The tools that recall, for a history. Default: the session's, else `recall`. */
  readonly recallTools?: readonly string[] | undefined;
  /** The counter for a history. Default: the session's, else `estimate`. A log is counted by its session's. */
  readonly counter?: string | TokenCounter | undefined;
}

/** Follows where the newest window came from, and recalls from there. */
export class Numbered {
  #session: Session | undefined;
  #history: HistorySource | undefined;

  /** @param session - its log is numbered until a window is made of something else */
  constructor(session: Session | undefined) {
    this.#session = session;
    this.#history = session ? undefined : () => [];
  }

  /** The window at hand is made from the session's log. */
  fromLog(session: Session): void {
    this.#session = session;
    this.#history = undefined;
  }

  /** The window at hand is made of this history alone: `m3` is its third message. */
  fromHistory(history: HistorySource): void {
    this.#history = history;
  }

  /**
   * Brings back messages that left the window, by the ids of its notes or by words.
   *
   * @param history - of the conversation that asks, where several share this one without a log
   * @throws WindrowError `not-found`, `bad-option`, and as `Session.recall`
   */
  async recall(query: RecallQuery, limits: NumberedLimits = {}, history?: HistorySource): Promise<Recalled> {
    const settings = this.#session?.settings;
    const { maxTokens, budget = settings?.budget } = limits;
    const given = { ...(maxTokens !== undefined && { maxTokens }), ...(budget !== undefined && { budget }) };
    const source = this.#history && (history ?? this.#history);
    if (this.#session && !source) return this.#session.recall(query, given);
    const counter = await loadCounter(limits.counter ?? settings?.counter);
    const messages = liveHistory(settings, (await source?.()) ?? []);
    const recallTools = limits.recallTools ?? settings?.recallTools;
    const marks = { ...(settings && { mask: settings.mask }), ...(recallTools && { recallTools }) };
    return recallInTurns(messages, query, { counter, ...marks, ...given });
  }
}

/** The settings of a session that say how its windows are masked. */
export type LiveSettings = Pick<SessionSettings, "liveMask" | "secretRules">;

/** The messages themselves, but without their secrets where the live window shows none. */
export function liveHistory(settings: LiveSettings | undefined, messages: readonly Message[]): readonly Message[] {
  if (settings?.liveMask !== true) return messages;
  const mask = { rules: settings.secretRules.rules, liveMask: true };
  return messages.map((message) => {
    const masked = maskRecord(mask, { kind: "message", message, tokenCount: 0, timestamp: "" });
    return masked.kind === "message" ? masked.message : message;
  });
}

/** Whether a window may show the host's very object for a message. */
export function mayShowOwn({ liveMask, secretRules }: LiveSettings, { parts, extra = {} }: Message): boolean {
  if (!liveMask) return true;
  const said = [parts, extra] as unknown as JsonValue;
  return maskJson(secretRules, said) === said;
}
