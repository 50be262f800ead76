/** The log of one session of ADK: its events as messages of a session of Windrow, each once, as they happen. */
import { isWindrowError } from "../../errors.ts";
import type { JsonValue, Message } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { isFinal, isSessionId, uuidOf } from "../../store/shared/rules.ts";
import type { SessionInfo } from "../../store/store.ts";
import { hashMessage } from "../../window/hash.ts";
import { eventMessage, eventOf } from "./event.ts";
import type { AdkEvent, AdkSessionKey } from "./types.ts";
import { GeminiCalls } from "../../shape/gemini/gemini.ts";
import { Teller } from "../host/events.ts";
import { LogWriter } from "../host/journal.ts";

const createdId = "windrow:created";

/** One event in the log. */
export interface LoggedEvent {
  /** The id of its message in the log. */
  readonly messageId: string;
  /** A hash of the message's bytes as the session has them. */
  readonly hash: number;
}

/** The log of one session of ADK, event by event. */
export class AdkLog {
  readonly session: Session;
  /** What is written into the session. */
  readonly writer: LogWriter;
  /** Whether a session service keeps the log; then nobody else needs to. */
  served = false;
  readonly #logged = new Map<string, LoggedEvent>();
  readonly #calls = new GeminiCalls();
  readonly #events: AdkEvent[] = [];
  #state: Readonly<Record<string, unknown>> | undefined;

  private constructor(session: Session) {
    this.session = session;
    this.writer = new LogWriter(session);
  }

  /** Reads what the log holds. */
  static async open(session: Session): Promise<AdkLog> {
    const log = new AdkLog(session);
    if (session.stats().messages > 0) {
      for await (const message of session.messages()) {
        const event = eventOf(message);
        if (event) log.#note(event, message);
      }
    }
    return log;
  }

  /** The events in the log, oldest first; those of this process as the host gave them. */
  get events(): readonly AdkEvent[] {
    return this.#events;
  }

  /** The state that the session was created with; undefined where no session service created it. */
  get state(): Readonly<Record<string, unknown>> | undefined {
    return this.#state;
  }

  /** Keeps the state that the session is created with, in an event that ADK does not see. */
  async create(state: Record<string, unknown>): Promise<void> {
    await this.sync([{ id: createdId, timestamp: Date.now(), author: "windrow", actions: { stateDelta: state } }]);
  }

  /** How the log holds an event; undefined where it does not. */
  logged(id: string): LoggedEvent | undefined {
    return this.#logged.get(id);
  }

  /**
   * Appends the events that the log lacks. The result of a started tool goes with its tool record.
   *
   * @throws WindrowError as `Session.append`; what was not appended is by the next call
   */
  sync(events: readonly AdkEvent[]): Promise<void> {
    return this.writer.inTurn(async () => {
      for (const [index, event] of events.entries()) {
        if (event.partial === true || this.#logged.has(event.id)) continue;
        const message = eventMessage(event, index, this.#calls);
        await this.writer.append([message], (stored) => this.#note(event, stored));
      }
    });
  }

  #note(event: AdkEvent, message: Message): void {
    if (event.id === createdId) this.#state = event.actions?.stateDelta ?? {};
    else this.#events.push(event);
    this.#logged.set(event.id, { messageId: message.id, hash: hashMessage(message) });
  }
}

/** The sessions of a manager that are ADK's. One for each manager: {@link adkLogs}. */
export class AdkLogs {
  readonly manager: SessionManager;
  /** Shared, so that a failing store is told of once. */
  readonly teller: Teller;
  readonly #open = new Map<string, Promise<AdkLog | undefined>>();

  /** @internal */
  constructor(manager: SessionManager) {
    this.manager = manager;
    this.teller = new Teller("adk", manager.secretRules);
  }

  /** The log of a session of ADK; a new one where there is none and `create` is set. */
  log(key: AdkSessionKey, create: true): Promise<AdkLog>;
  log(key: AdkSessionKey, create?: boolean): Promise<AdkLog | undefined>;
  log(key: AdkSessionKey, create = false): Promise<AdkLog | undefined> {
    const name = nameOf(key);
    const before = this.#open.get(name)?.catch(() => undefined) ?? Promise.resolve(undefined);
    const opening = before.then(async (known) => {
      if (known?.session.isOpen) return known;
      const { id, info } = await this.find(key);
      if (!info && !create) return undefined;
      const session = info ? this.manager.session(id) : this.manager.create({ id, taskKey: taskKeyOf(key) });
      return AdkLog.open(await session);
    });
    this.#open.set(name, opening);
    return opening;
  }

  /** The live session for a key; without one, the id that it would get. */
  async find(key: AdkSessionKey): Promise<{ readonly id: string; readonly info?: SessionInfo }> {
    for (let count = 0; ; count++) {
      const id = sessionIdOf(key, count);
      try {
        const info = await this.manager.info(id);
        if (isFinal(info.state.status) || !isOf(key, info)) continue;
        return { id, info };
      } catch (error) {
        if (isWindrowError(error, "session-not-found")) return { id };
        throw error;
      }
    }
  }

  /** Whether the store has a session. */
  async has(id: string): Promise<boolean> {
    try {
      await this.manager.info(id);
      return true;
    } catch (error) {
      if (isWindrowError(error, "session-not-found")) return false;
      throw error;
    }
  }

  /** Ends a session: it is no longer ADK's, and its log stays readable. */
  async end(key: AdkSessionKey): Promise<void> {
    const log = await this.log(key);
    await log?.session.finish("completed");
    this.#open.delete(nameOf(key));
  }
}

const allLogs = new WeakMap<SessionManager, AdkLogs>();

/** A manager's sessions of ADK: the same on every call, so that a plug-in and a session service share their logs. */
export function adkLogs(manager: SessionManager): AdkLogs {
  let logs = allLogs.get(manager);
  if (!logs) allLogs.set(manager, (logs = new AdkLogs(manager)));
  return logs;
}

/** The session of ADK that a session's metadata names; undefined for other sessions. */
export function keyOf({ metadata }: SessionInfo): AdkSessionKey | undefined {
  const { app_name: appName, user_id: userId, session_id: sessionId } = metadata.taskKey;
  if (typeof appName !== "string" || typeof userId !== "string" || typeof sessionId !== "string") return undefined;
  return { appName, userId, sessionId };
}

function nameOf({ appName, userId, sessionId }: AdkSessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}

function taskKeyOf({ appName, userId, sessionId }: AdkSessionKey): Record<string, JsonValue> {
  return { app_name: appName, user_id: userId, session_id: sessionId };
}

function isOf(key: AdkSessionKey, info: SessionInfo): boolean {
  const found = keyOf(info);
  return found?.appName === key.appName && found.userId === key.userId && found.sessionId === key.sessionId;
}

/** ADK's own id where it is a UUID, else one made of the whole key, the same every time. */
function sessionIdOf(key: AdkSessionKey, count: number): string {
  if (count === 0 && isSessionId(key.sessionId)) return key.sessionId;
  return uuidOf(["adk", key.appName, key.userId, key.sessionId, String(count)]);
}
