/**
 * A host's growing array of messages, kept in step with a session's log: what the host has and the log lacks is
 * appended, what the log has is not appended again, and an array that is no continuation of the log is told from one
 * that is.
 */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { maskJson } from "../../mask/mask.ts";
import { knownSecrets } from "../../mask/text.ts";
import type { SecretRules } from "../../mask/text.ts";
import { maskEvent } from "../../mask/masked-event.ts";
import { checkMessageJson } from "../../message/json.ts";
import type { JsonValue, Message, NewMessage, Part } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { ToolRun } from "../../session/tool-run.ts";
import { hashText } from "../../message/hash.ts";
import { hashMessage } from "../../window/hash.ts";
import type { Report } from "../../window/window.ts";
import type { Adapter } from "../adapter.ts";
import { asHostHas, shownParts } from "./host-fields.ts";
import { mayShowOwn } from "./live-history.ts";
import { Numbered } from "./numbered.ts";

/** Something an adapter tells its host's application. */
export type AdapterEvent =
  /**
   * Journalling or composing failed and the host goes on with its own messages. Told once, and again only after
   * something succeeded in between. A failing store is noticed by the next append: what is missing is appended then.
   */
  | { readonly type: "adapter-failed"; readonly adapter: string; readonly error: WindrowError }
  /**
   * The host's array is no continuation of what was there before (its own compaction, an undo). From now on windows are
   * made of the host's array alone. `at` is the first place that differs, from 0.
   */
  | { readonly type: "history-replaced"; readonly adapter: string; readonly at: number }
  /** A window went to the host. */
  | { readonly type: "window-sent"; readonly adapter: string; readonly messages: number; readonly report: Report };

/** Hears what an adapter does. What it throws is dropped. */
export type AdapterListener = (event: AdapterEvent) => void;

/** How a journal reads its host. */
export interface JournalHost<Host extends object> {
  readonly adapter: Adapter<Host>;
  /** Messages that the host may take back without having replaced its history: answers that broke off. */
  readonly optional: (message: Host) => boolean;
}

interface Entry<Host> {
  /** Of what the message says, the secrets masked, so that it is the same before and after a resume. */
  readonly print: number;
  readonly time: string;
  readonly optional: boolean;
  /** Of the bytes as the session holds them. */
  readonly hash: number;
  host?: Host;
}

interface Fresh<Host> {
  readonly message: Message;
  readonly host: Host;
}

/** Failures told once each time they begin, to every listener once. */
export class Teller {
  readonly #adapter: string;
  readonly #rules: SecretRules;
  readonly #listeners = new Set<AdapterListener>();
  #failing = false;

  /**
   * @param adapter - the name that events carry
   * @param rules - of the secrets that no listener hears
   */
  constructor(adapter: string, rules: SecretRules = knownSecrets) {
    this.#adapter = adapter;
    this.#rules = rules;
  }

  /** Adds a listener; the same function is told once however often it is added. */
  add(listener: AdapterListener | undefined): void {
    if (listener) this.#listeners.add(listener);
  }

  /** Tells every listener. */
  tell(event: AdapterEvent): void {
    const safe = maskEvent(event, this.#rules);
    for (const listener of this.#listeners) {
      try {
        listener(safe);
      } catch {
        // A listener's failure is its own.
      }
    }
  }

  /** Tells of a failure, unless the last thing told of was one. */
  failed(cause: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    this.tell({ type: "adapter-failed", adapter: this.#adapter, error: asError(cause) });
  }

  /** Whether the last thing told of was a failure. */
  get failing(): boolean {
    return this.#failing;
  }

  /** The next failure is told again. */
  succeeded(): void {
    this.#failing = false;
  }
}

/** One session's log beside its host's array. One for each session: {@link journalOf}. */
export class HostJournal<Host extends object> {
  readonly session: Session;
  readonly teller: Teller;
  /** What the notes of this session's windows number, where one host conversation makes them all. */
  readonly numbered: Numbered;
  readonly #host: JournalHost<Host>;
  readonly #prints: Prints;
  readonly #entries: Entry<Host>[] = [];
  readonly #byId = new Map<string, Entry<Host>>();
  readonly #known = new Set<string>();
  readonly #runs = new Map<string, { readonly run: ToolRun; durationMs?: number }>();
  /** What the log gets in place of a result that the host was given cut, by call id. */
  readonly #whole = new Map<string, readonly Part[]>();
  #loaded = false;
  #queue: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(session: Session, host: JournalHost<Host>) {
    this.session = session;
    this.numbered = new Numbered(session);
    this.#host = host;
    this.#prints = new Prints(session.settings.secretRules);
    this.teller = new Teller(host.adapter.name, session.settings.secretRules);
  }

  /**
   * Appends what the host has and the log lacks. Idempotent: the same array, or the same array grown, appends nothing
   * twice. After a resume the log is read once to see what it holds.
   *
   * @returns the first place, from 0, at which the array is no continuation of the log; undefined where it is one
   * @throws WindrowError as `Session.append`; what was not appended is by the next call
   */
  sync(messages: readonly Host[]): Promise<number | undefined> {
    return this.#inTurn(async () => {
      await this.#load();
      const decoded = this.#host.adapter.decode(messages);
      decoded.forEach(checkMessageJson);
      const { end, broken } = this.#match(messages, decoded);
      const fresh = decoded.flatMap((message, index) => {
        const host = messages[index];
        const missing = broken === undefined ? index >= end : !this.#known.has(this.#prints.keyOf(message));
        return host && missing ? [{ message, host }] : [];
      });
      await this.#append(fresh);
      if (broken !== undefined) for (const entry of this.#entries) delete entry.host;
      return broken;
    });
  }

  /** Records that a tool is about to run. */
  startTool(call: { readonly callId: string; readonly name: string; readonly args: JsonValue }): Promise<void> {
    return this.#inTurn(async () => {
      this.#runs.set(call.callId, { run: await this.session.startTool(call, { allowMasks: true }) });
    });
  }

  /** Notes how long a started tool took; its record is written with its result. */
  endTool(callId: string, durationMs: number): void {
    const started = this.#runs.get(callId);
    if (started) started.durationMs = durationMs;
  }

  /** Says that the host will have this result cut: the log gets these parts, whole, beside what the host has. */
  keepWhole(callId: string, parts: readonly Part[]): void {
    this.#whole.set(callId, parts);
  }

  /** The host's messages with the log's whole results in the place of those that the host was given cut. */
  async whole(messages: readonly Message[]): Promise<readonly Message[]> {
    const given = new Set(messages.map((message) => this.#prints.of(message)));
    const whole = new Map<number, readonly Part[]>();
    if (this.session.stats().messages > 0) {
      for await (const message of this.session.messages()) {
        if (message.extra?.[shownParts] === undefined) continue;
        const print = this.#prints.of(message);
        if (given.has(print)) whole.set(print, message.parts);
      }
    }
    return messages.map((message) => {
      const parts = whole.get(this.#prints.of(message));
      return parts ? { ...message, parts } : message;
    });
  }

  /** The host's own object for a message of a window that no edit changed. */
  hostOf(message: Message): Host | undefined {
    const entry = this.#byId.get(message.id);
    return entry?.hash === hashMessage(message) ? entry.host : undefined;
  }

  async #load(): Promise<void> {
    if (this.#loaded) return;
    if (this.session.stats().messages > 0) {
      for await (const message of this.session.messages()) {
        const [host] = this.#host.adapter.encode([message]);
        this.#add(message, message, host && this.#host.optional(host) ? host : undefined);
      }
    }
    this.#loaded = true;
  }

  /** Compares by place, without what the host may take back; the host's objects are noted where they match. */
  #match(messages: readonly Host[], decoded: readonly Message[]): { readonly end: number; readonly broken?: number } {
    let at = 0;
    for (const entry of this.#entries) {
      while (!entry.optional && this.#isOptional(messages[at])) at++;
      const message = decoded[at];
      if (message && this.#prints.of(message) === entry.print) {
        const host = messages[at++];
        if (host && mayShowOwn(this.session.settings, message)) entry.host ??= host;
      } else if (!entry.optional) return { end: at, broken: at };
    }
    return { end: at };
  }

  #isOptional(message: Host | undefined): boolean {
    return message !== undefined && this.#host.optional(message);
  }

  /** Appends what belongs together at once; the results of started tools go with their tool records. */
  async #append(fresh: readonly Fresh<Host>[]): Promise<void> {
    let batch: Fresh<Host>[] = [];
    const flush = async (): Promise<void> => {
      const taken = batch;
      batch = [];
      if (taken.length === 0) return;
      const stored = await this.session.append(taken.map(({ message }) => this.#forLog(message)));
      taken.forEach(({ message, host }, index) => this.#add(stored[index] ?? message, message, host));
    };
    for (const item of fresh) {
      const runs = item.message.parts.flatMap((part) =>
        part.type === "tool-result" ? (this.#runs.get(part.callId) ?? []) : [],
      );
      const [first] = runs;
      if (!first) {
        batch.push(item);
        continue;
      }
      await flush();
      const durationMs = new Map(
        runs.flatMap(({ run, durationMs: took }) => (took === undefined ? [] : [[run.callId, took] as const])),
      );
      const stored = await first.run.finish(this.#forLog(item.message), { durationMs });
      for (const { run } of runs) this.#runs.delete(run.callId);
      this.#add(stored, item.message, item.host);
    }
    await flush();
  }

  /** The host's message as the log takes it: whole, under an id of the session's own. */
  #forLog({ id: _id, ...fresh }: Message): NewMessage {
    const [result] = fresh.parts;
    const whole = result?.type === "tool-result" ? this.#whole.get(result.callId) : undefined;
    if (!whole) return fresh;
    return { ...fresh, parts: whole, extra: { ...fresh.extra, [shownParts]: fresh.parts as unknown as JsonValue } };
  }

  #add(stored: Message, message: Message, host: Host | undefined): void {
    const entry: Entry<Host> = {
      print: this.#prints.of(message),
      time: message.timestamp ?? "",
      optional: this.#isOptional(host),
      hash: hashMessage(stored),
      ...(host && { host }),
    };
    this.#entries.push(entry);
    this.#byId.set(stored.id, entry);
    this.#known.add(this.#prints.keyOf(message));
    for (const part of message.parts) if (part.type === "tool-result") this.#whole.delete(part.callId);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

const journals = new WeakMap<Session, HostJournal<object>>();

/** The journal of a session: the same one on every call, so that everything that feeds the session agrees. */
export function journalOf<Host extends object>(session: Session, host: JournalHost<Host>): HostJournal<Host> {
  let journal = journals.get(session) as HostJournal<Host> | undefined;
  if (!journal) {
    journal = new HostJournal(session, host);
    journals.set(session, journal as unknown as HostJournal<object>);
  }
  return journal;
}

/** A host's array as it was seen last, for windows without a session: tells continuations from replacements. */
export class SeenHistory {
  readonly #printer = new Prints(knownSecrets);
  #prints: readonly number[] = [];

  /** @returns the first place at which the messages are no continuation of those seen before; undefined where they are */
  see(messages: readonly Message[]): number | undefined {
    const before = this.#prints;
    this.#prints = messages.map((message) => this.#printer.of(message));
    const at = before.findIndex((print, index) => this.#prints[index] !== print);
    return at === -1 ? undefined : at;
  }
}

/** Fingerprints of what messages say. Secrets are masked first, so a message has the same one before and after a resume. */
class Prints {
  readonly #rules: SecretRules;
  readonly #known = new WeakMap<Message, number>();

  /** @param rules - by which the store masks what it keeps */
  constructor(rules: SecretRules) {
    this.#rules = rules;
  }

  of(message: Message): number {
    let print = this.#known.get(message);
    if (print === undefined) {
      const { role, parts, extra = {} } = asHostHas(message);
      const said = [role, parts, extra] as unknown as JsonValue;
      print = hashText(JSON.stringify(sorted(maskJson(this.#rules, said))));
      this.#known.set(message, print);
    }
    return print;
  }

  keyOf(message: Message): string {
    return `${this.of(message)} ${message.timestamp ?? ""}`;
  }
}

/** With the keys of every object in order: a message from disk has them in another than one from a host. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => sorted(item as JsonValue));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(
    entries.sort(([left], [right]) => (left < right ? -1 : 1)).map(([key, item]) => [key, sorted(item)]),
  );
}

function asError(cause: unknown): WindrowError {
  if (isWindrowError(cause)) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new WindrowError("adapter-failed", `The adapter could not go on: ${text}`, {}, { cause });
}
