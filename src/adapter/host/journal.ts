/**
 * The journal of a host's growing array of messages: each new message is appended to a session's log once, one write after
 * another. An array that does not continue the log is reported.
 */
import { asSession } from "./given-session.ts";
import { checkMessageJson } from "../../message/json.ts";
import type { JsonValue, Message, NewMessage } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { hashMessage } from "../../window/hash.ts";
import type { Adapter } from "../adapter.ts";
import { Teller } from "./events.ts";
import { mayShowOwn } from "./numbered.ts";
import { Numbered } from "./numbered.ts";
import { Prints } from "./prints.ts";
import type { ToolRun } from "../../session/tool-run.ts";

/** How a host's messages stand to the log. */
export interface LogMatch {
  /** Whether the window is made from the log; else it is made of `history`. */
  readonly isLog: boolean;
  /** The first place, from 0, at which the messages are no continuation of the log. */
  readonly brokenAt?: number;
  /** The messages that the window is made of, where they are not the log's. Default: the host's messages, decoded. */
  readonly history?: readonly Message[];
}

/** A session's log beside a host's messages: a {@link HostJournal}, or a host's own rule of what belongs to the log. */
export interface HostLog<Host extends object> {
  readonly session: Session;
  /**
   * Appends what the log lacks, and compares.
   *
   * @throws WindrowError as `Session.append`
   */
  match(messages: readonly Host[]): LogMatch | Promise<LogMatch>;
  /** The host's own object for a window's message that no edit changed. */
  hostOf(message: Message): Host | undefined;
}

/** How a journal reads its host. */
export interface JournalHost<Host extends object> {
  /**
   * Reads and writes the host's messages. Its `decode` leaves out what the host adds to a message after it was recorded:
   * with a mark of an interrupt, for example, the message would count as another one.
   */
  readonly adapter: Adapter<Host>;
  /** Whether the host may take a message back without having replaced its history: an answer that broke off. Default: none. */
  readonly optional?: (message: Host) => boolean;
}

interface Entry<Host> {
  /** A fingerprint of the message with its secrets masked: it is the same before and after a resume. */
  readonly print: number;
  readonly optional: boolean;
  /** A hash of the message's bytes as the session has them. */
  readonly hash: number;
  host?: Host;
}

/** One session's log beside its host's array. One for each session: {@link journalOf}. */
export class HostJournal<Host extends object> implements HostLog<Host> {
  readonly session: Session;
  readonly teller: Teller;
  /** What is written into the session. */
  readonly writer: LogWriter;
  /** The messages that the notes of this session's windows number, where one host conversation makes them all. */
  readonly numbered: Numbered;
  readonly #host: JournalHost<Host>;
  readonly #prints: Prints;
  readonly #entries: Entry<Host>[] = [];
  readonly #byId = new Map<string, Entry<Host>>();
  readonly #known = new Set<string>();
  #loaded = false;

  /** @internal */
  constructor(session: Session, host: JournalHost<Host>) {
    this.session = session;
    this.numbered = new Numbered(session);
    this.writer = new LogWriter(session);
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
    return this.writer.inTurn(async () => {
      await this.#load();
      const decoded = this.#host.adapter.decode(messages);
      decoded.forEach(checkMessageJson);
      const { end, broken } = this.#match(messages, decoded);
      const fresh = decoded.flatMap((message, index) => {
        const host = messages[index];
        const missing = broken === undefined ? index >= end : !this.#known.has(this.#prints.keyOf(message));
        return host && missing ? [{ message, host }] : [];
      });
      const written = fresh.map(({ message: { id: _id, ...message } }): NewMessage => message);
      await this.writer.append(written, (stored, index) => {
        const taken = fresh[index];
        if (taken) this.#add(stored, taken.message, taken.host);
      });
      if (broken !== undefined) for (const entry of this.#entries) delete entry.host;
      return broken;
    });
  }

  /** As {@link HostJournal.sync}. */
  async match(messages: readonly Host[]): Promise<LogMatch> {
    const brokenAt = await this.sync(messages);
    return brokenAt === undefined ? { isLog: true } : { isLog: false, brokenAt };
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
        this.#add(message, message, this.#isOptional(host) ? host : undefined);
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
    return message !== undefined && this.#host.optional?.(message) === true;
  }

  #add(stored: Message, message: Message, host: Host | undefined): void {
    const entry: Entry<Host> = {
      print: this.#prints.of(message),
      optional: this.#isOptional(host),
      hash: hashMessage(stored),
      ...(host && { host }),
    };
    this.#entries.push(entry);
    this.#byId.set(stored.id, entry);
    this.#known.add(this.#prints.keyOf(message));
  }
}

const journalKey = Symbol("windrow:journal");

/** The journal of a session: the same one on every call, so that everything that feeds the session agrees. */
export function journalOf<Host extends object>(session: Session, host: JournalHost<Host>): HostJournal<Host> {
  return asSession(session, host.adapter.name).attach(journalKey, () => new HostJournal(session, host));
}

/** A tool call as a host reports it before it runs. */
export interface StartedTool {
  readonly callId: string;
  readonly name: string;
  /** The arguments; only what JSON can carry is recorded. */
  readonly args: unknown;
}

/** The writes of one host into one session. */
export class LogWriter {
  readonly session: Session;
  readonly #runs = new Map<string, { readonly run: ToolRun; readonly began: number; durationMs?: number }>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(session: Session) {
    this.session = session;
  }

  /** Runs a piece of work when all earlier ones have ended, failed ones included. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Records that a tool is about to run. A placeholder of a masked secret in its arguments stops nothing. */
  startTool({ callId, name, args }: StartedTool): Promise<void> {
    return this.inTurn(async () => {
      const call = { callId, name, args: JSON.parse(JSON.stringify(args ?? {})) as JsonValue };
      const run = await this.session.startTool(call, { allowMasks: true });
      this.#runs.set(callId, { run, began: performance.now() });
    });
  }

  /**
   * Notes that a started tool has ended; how long it took is written with its result.
   *
   * @param durationMs - milliseconds. Default: since its start was recorded
   */
  endTool(callId: string, durationMs?: number): void {
    const started = this.#runs.get(callId);
    if (started) started.durationMs = durationMs ?? performance.now() - started.began;
  }

  /**
   * Appends messages, those between two results of started tools at once. Call it in turn.
   *
   * @param appended - is called with each message as it was stored, also where a later one fails
   * @throws WindrowError as `Session.append`
   */
  async append(messages: readonly NewMessage[], appended: (stored: Message, index: number) => void): Promise<void> {
    let batch: { readonly message: NewMessage; readonly index: number }[] = [];
    const flush = async (): Promise<void> => {
      const taken = batch;
      batch = [];
      if (taken.length === 0) return;
      const stored = await this.session.append(taken.map(({ message }) => message));
      stored.forEach((message, place) => appended(message, taken[place]?.index ?? place));
    };
    for (const [index, message] of messages.entries()) {
      const runs = message.parts.flatMap((part) =>
        part.type === "tool-result" ? (this.#runs.get(part.callId) ?? []) : [],
      );
      const [first] = runs;
      if (!first) {
        batch.push({ message, index });
        continue;
      }
      await flush();
      const durationMs = new Map(
        runs.flatMap(({ run, durationMs: took }) => (took === undefined ? [] : [[run.callId, took] as const])),
      );
      const stored = await first.run.finish(message, { durationMs });
      for (const { run } of runs) this.#runs.delete(run.callId);
      appended(stored, index);
    }
    await flush();
  }
}
