/** A line: one conversation of a client, its session and the chain of its messages. */
import { randomUUID } from "node:crypto";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { JsonObject, NewMessage } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import type { Originals } from "../../session/log.ts";
import { newestOutline } from "../../session/log.ts";
import type { Store } from "../../store/store.ts";
import type { WireApi, WireRequest } from "../gateway.ts";
import { Ceilings } from "./ceiling.ts";
import { Chain, noted, noteOf } from "./chain.ts";
import type { WireNote } from "./chain.ts";
import { Tallied } from "./clearing.ts";
import { taskKeyOf } from "./facts.ts";
import type { LineFacts } from "./facts.ts";
import type { OpenLines } from "./open-lines.ts";
import { Recalls } from "../recall/recalls.ts";
import { hasEdits } from "./window.ts";
import type { SentWindow } from "./window.ts";

/** A message on its way into a line's log. */
export interface Added {
  readonly message: NewMessage;
  readonly note: WireNote;
  readonly hash: string;
  /** The answer as the provider gave it, where the message is one. */
  readonly answer?: JsonObject;
}

/** The parts that a line works with. */
export interface LineParts {
  readonly store: Store;
  /** The store's secret. */
  readonly secret: Buffer;
  readonly api: WireApi;
  /** The manager of lines that are composed, or only observed; of models that take reasoning behind any history, or do not. */
  readonly manager: (isComposed: boolean, keepsReasoning: boolean) => Promise<SessionManager>;
  readonly open: OpenLines;
}

/** Most bodies whose epochs are remembered: their answers are kept at once, unless the store fails. */
const mostSent = 256;

/** An epoch that a mend opened. */
export interface MendedEpoch {
  /** Its number, or that of the epoch which stands for it again. */
  epoch: number;
  /** The epoch before it. */
  readonly behind: number;
  /** Most tokens of its window. */
  readonly limit: number;
  /** Whether its window was refused as well. */
  isInVain: boolean;
}

/** One line. Its group sees to it that one request at a time works on it. */
export class Line {
  readonly facts: LineFacts;
  chain = new Chain();
  /** The last window that was composed; undefined where the client's own bytes were sent. */
  window: SentWindow | undefined;
  /** Whether it was sent in other bytes than its client's: from then on it is always sent composed. */
  isPlanned = false;
  /** Whether answers that its client brings may be to windows of a line that cannot be read. */
  isForeign = false;
  /** Whether the model of its last turn takes reasoning behind any history. */
  keepsReasoning = false;
  /** What its model recalled, where the gateway answers it. */
  recalls: Recalls;
  /** How much its models take. */
  ceilings = new Ceilings();
  /** The epochs that mends opened and of which nobody knows yet whether they helped, oldest first. */
  mended: MendedEpoch[] = [];
  /** How many of its oldest tool results the provider was asked to clear last. */
  cleared = 0;
  /** How its counts compare with the provider's, where that is asked to edit. */
  readonly tallied = new Tallied();
  /** Requests with nothing new since the last answer. */
  attempts = 0;
  /** The requests whose answers are waited for. */
  readonly awaiting = new Set<object>();
  readonly #parts: LineParts;
  readonly #isComposed: boolean;
  /** Epochs of the bodies that were sent, by how many messages their requests had. */
  readonly #sent = new Map<number, number>();
  #id: string;
  #isThere: boolean;
  #session: Session | undefined;
  /** {@link Line.keepsReasoning} when its session was opened. */
  #isOpenFor = false;

  /** @param id - of its session where that is there already */
  constructor(facts: LineFacts, parts: LineParts, isComposed: boolean, id?: string) {
    this.facts = facts;
    this.#parts = parts;
    this.#isComposed = isComposed;
    this.recalls = new Recalls(parts.secret);
    this.#id = id ?? randomUUID();
    this.#isThere = id !== undefined;
  }

  /** The id of its session. */
  get id(): string {
    return this.#id;
  }

  /** A request as its model reads it: with the tool and the texts of recalls, where the line has them. */
  asRead(own: WireRequest): WireRequest {
    return this.facts.hasTool === true ? this.recalls.read(own) : own;
  }

  /**
   * Notes which body was sent for a request; of several for one of that length, nobody knows which was answered.
   *
   * @param plan - its epoch; 0 for the client's own bytes, -1 for what no window is
   * @param isOnly - whether all others of that length were refused
   */
  sent(length: number, plan: number, isOnly = false): void {
    const known = this.#sent.get(length);
    this.#sent.delete(length);
    this.#sent.set(length, known === undefined || known === plan || isOnly ? plan : -1);
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > mostSent && oldest !== undefined) this.#sent.delete(oldest);
  }

  /**
   * The epoch of the body that an answer which is not kept is to; -1 where nobody knows, as another gateway may have sent
   * it. Where lines are only observed, it was the client's own.
   *
   * @param place - the answer's: so many messages are before it
   */
  planAt(place: number): number {
    const sent = this.#sent.get(place);
    if (sent !== undefined) return sent;
    const isOwn = this.chain.length === 0 && !this.isForeign;
    return isOwn || !(this.#isComposed || this.isPlanned) ? 0 : -1;
  }

  /**
   * Reads the chain from the log, and whether its windows have edits.
   *
   * @throws WindrowError `store-corrupt` where the log has a gap, and what the store throws
   */
  async load(): Promise<void> {
    const { store, api } = this.#parts;
    const chain = new Chain();
    const recalls = new Recalls(this.#parts.secret);
    let isPlanned = false;
    for await (const { message, seq } of store.read({}, this.#id, { kind: "message" })) {
      if (seq !== chain.length + 1) throw gap(this.#id, chain.length + 1);
      const { print = "", echo = [], plan, isBare, cleared, recalls: recalled } = noteOf(message) ?? {};
      recalls.take(message, recalled);
      for (const [offset, other] of echo.entries()) {
        const entry = chain.entries[chain.length - echo.length + offset];
        if (!entry) continue;
        entry.print = other;
        delete entry.answer;
      }
      const isAnswer = message.role === "assistant";
      isPlanned ||= isAnswer && plan !== undefined;
      chain.push({
        id: message.id,
        print,
        ...(isAnswer && { plan: plan ?? 0, isBare, cleared, answer: () => api.adapter.encode([message])[0] }),
      });
    }
    const outline = await newestOutline({ store, scope: {}, id: this.#id });
    this.chain = chain;
    this.recalls = recalls;
    this.isPlanned = isPlanned || (outline !== undefined && hasEdits(outline.state.edits));
    // The gateway that sent its last request may have ended before the answer.
    this.isForeign = true;
  }

  /**
   * Its session, opened where it is not.
   *
   * @throws WindrowError as `SessionManager.resume` and `create`
   */
  async session(originals?: Originals): Promise<Session> {
    const isComposed = this.#isComposed || this.isPlanned;
    const isOther = isComposed && this.#isOpenFor !== this.keepsReasoning;
    if (this.#session?.isOpen === true && !isOther) return this.#session;
    // One that is closed because nobody used it has its lock until its end.
    await this.#session?.close();
    this.#isOpenFor = this.keepsReasoning;
    const manager = await this.#parts.manager(isComposed, this.keepsReasoning);
    this.#session = await this.#parts.open.opened(this, () => this.#open(manager, originals));
    this.#isThere = true;
    return this.#session;
  }

  /**
   * Its session, where that has the messages of the line.
   *
   * @throws WindrowError `fenced` where another process wrote to it, and as {@link Line.session}
   */
  async current(originals?: Originals): Promise<Session> {
    const session = await this.session(originals);
    if (session.stats().messages === this.chain.length) return session;
    const message = `Session ${this.#id} has other messages than its line; it is read again.`;
    throw new WindrowError("fenced", message, { id: this.#id });
  }

  async #open(manager: SessionManager, originals?: Originals): Promise<Session> {
    const given = originals ? { originals } : {};
    if (!this.#isThere) {
      try {
        return await manager.create({ id: this.#id, taskKey: taskKeyOf(this.facts) });
      } catch (error) {
        // An earlier try came as far as the store.
        if (!isWindrowError(error, "session-exists")) throw error;
      }
    }
    try {
      return await manager.resume(this.#id, given);
    } catch (error) {
      // A session that was ended, or that another process writes, is written on in a new one.
      if (!isWindrowError(error, "read-only") && !isWindrowError(error, "session-busy")) throw error;
      const id = randomUUID();
      const session = await manager.fork(this.#id, { at: this.chain.length, id, ...given });
      this.#id = id;
      return session;
    }
  }

  /** A new line that begins as this one does, with its first messages. */
  async fork(at: number, originals?: Originals): Promise<Line> {
    const line = new Line(this.facts, this.#parts, this.#isComposed);
    const manager = await this.#parts.manager(this.#isComposed || this.isPlanned, this.keepsReasoning);
    const given = { at, id: line.#id, ...(originals && { originals }) };
    line.#session = await this.#parts.open.opened(this, () => manager.fork(this.#id, given));
    line.#isThere = true;
    line.keepsReasoning = line.#isOpenFor = this.keepsReasoning;
    line.isPlanned = this.isPlanned;
    for (const [length, plan] of this.#sent) if (length <= at) line.sent(length, plan);
    line.ceilings = this.ceilings;
    line.recalls = new Recalls(this.#parts.secret, this.recalls);
    line.chain = this.chain.upTo(at);
    return line;
  }

  /**
   * Adds messages at the end.
   *
   * @throws WindrowError as `Session.append`; `fenced` where another process wrote to it
   */
  async append(added: readonly Added[], originals?: Originals): Promise<void> {
    if (added.length === 0) return;
    const session = await this.current(originals);
    const stored = await session.append(added.map(({ message, note }) => noted(message, note)));
    for (const [place, { id }] of stored.entries()) {
      const { note, hash, answer, message } = added[place] as Added;
      this.isPlanned ||= message.role === "assistant" && (note.plan ?? 0) !== 0;
      this.chain.push({
        id,
        print: note.print,
        hash,
        ...(message.role === "assistant" && { plan: note.plan ?? 0, isBare: note.isBare, cleared: note.cleared }),
        ...(answer && { answer: () => answer }),
      });
    }
  }

  /** Lets go of a session that was closed because nobody used it; what it held is read again when the line goes on. */
  rest(): void {
    if (this.#session?.isOpen === false) this.#session = undefined;
  }

  /** Closes its session. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }
}

function gap(id: string, seq: number): WindrowError {
  return new WindrowError("store-corrupt", `Session ${id} has no message ${seq}.`, { id, seq });
}
