/** The events that an adapter sends to its host's application, and the teller that sends a failure once. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { inform } from "../../handed-in.ts";
import { maskEvent } from "../../mask/masked-event.ts";
import { knownSecrets } from "../../mask/text.ts";
import type { SecretRules } from "../../mask/text.ts";
import { statsLogger } from "../../session/stats-line.ts";
import type { StatsLineOptions } from "../../session/stats-line.ts";
import { warnOnce } from "../../warn.ts";
import type { Report } from "../../window/window.ts";

/** An event of an adapter. */
export type AdapterEvent =
  /**
   * Journalling or composing failed, and the host goes on with its own messages. Sent once, and again only after something
   * succeeded in between. The next append also writes the messages that a failing store refused.
   */
  | { readonly type: "adapter-failed"; readonly adapter: string; readonly error: WindrowError }
  /**
   * The host's array is no continuation of the one before (its own compaction, an undo). From now on windows are made of
   * the host's array alone. `at` is the first place that differs, from 0.
   */
  | { readonly type: "history-replaced"; readonly adapter: string; readonly at: number }
  /** A window went to the host. */
  | { readonly type: "window-sent"; readonly adapter: string; readonly messages: number; readonly report: Report };

/** Receives the events of an adapter. If it throws, at once or later, the process warns once. */
export type AdapterListener = (event: AdapterEvent) => void;

/** Sends events to every listener, secrets masked; a failure is sent once each time it begins. */
export class Teller {
  readonly #adapter: string;
  readonly #rules: SecretRules;
  readonly #listeners = new Set<AdapterListener>();
  /** The listeners that were sent the replacement at hand of the journal's history. */
  readonly #informed = new Set<AdapterListener>();
  #failing = false;

  /**
   * @param adapter - the name that events carry
   * @param rules - of the secrets that no listener receives
   */
  constructor(adapter: string, rules: SecretRules = knownSecrets) {
    this.#adapter = adapter;
    this.#rules = rules;
  }

  /** Adds a listener. The same function receives an event once, however often it is added. */
  add(listener: AdapterListener | undefined): void {
    if (listener) this.#listeners.add(listener);
  }

  /** Sends an event to every listener. */
  tell(event: AdapterEvent, listeners: Iterable<AdapterListener> = this.#listeners): void {
    const safe = maskEvent(event, this.#rules);
    for (const listener of listeners) inform(listener, safe, `the event ${event.type}`);
    if (safe.type === "adapter-failed" && this.#listeners.size === 0)
      warnOnce(this, safe.type, `${this.#adapter}: ${safe.error.message} The option \`on\` receives every such event.`);
  }

  /** Sends `adapter-failed`, unless nothing succeeded since the last one. */
  failed(cause: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    this.tell({ type: "adapter-failed", adapter: this.#adapter, error: asError(cause) });
  }

  /** Sends `window-sent`; the next failure is sent again. */
  sent(messages: number, report: Report): void {
    this.succeeded();
    this.tell({ type: "window-sent", adapter: this.#adapter, messages, report });
  }

  /** Sends `history-replaced`. */
  replaced(at: number, listeners?: Iterable<AdapterListener>): void {
    this.tell({ type: "history-replaced", adapter: this.#adapter, at }, listeners);
  }

  /** Sends `history-replaced` where several conversations feed one journal: once to each listener, until {@link continued}. */
  replacedInJournal(at: number): void {
    const uninformed = [...this.#listeners].filter((listener) => !this.#informed.has(listener));
    for (const listener of uninformed) this.#informed.add(listener);
    this.replaced(at, uninformed);
  }

  /** A history continued the journal; the next replacement is sent again. */
  continued(): void {
    this.#informed.clear();
  }

  /** Whether nothing succeeded since the last failure. */
  get failing(): boolean {
    return this.#failing;
  }

  /** The next failure is sent again. */
  succeeded(): void {
    this.#failing = false;
  }
}

/** A listener that logs the size of every n-th window; undefined where no line is wanted. */
export function statsListener(options: StatsLineOptions): AdapterListener | undefined {
  const count = statsLogger(options);
  return count && ((event) => void (event.type === "window-sent" && count(event.messages, event.report.tokens)));
}

function asError(cause: unknown): WindrowError {
  if (isWindrowError(cause)) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new WindrowError("adapter-failed", `The adapter could not go on: ${text}`, {}, { cause });
}
