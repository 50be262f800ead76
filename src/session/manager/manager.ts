/** SessionManager: opens, resumes, lists and finishes the sessions of a store. */
import { randomUUID } from "node:crypto";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { defined } from "../../message/json.ts";
import type { Message } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { Memory } from "../../memory/memory.ts";
import { conversations } from "../../store/memory-logs.ts";
import { forkSession } from "../../store/fork.ts";
import { checkEnd, isFinal } from "../../store/shared/rules.ts";
import type { FinalStatus, ListQuery, Lock, ReadQuery, SessionInfo } from "../../store/store.ts";
import { eachInTurn } from "../../turns.ts";
import { checkGiven } from "../../window/options.ts";
import type { SecretRules } from "../../mask/text.ts";
import { listenToMask, tell } from "../events.ts";
import type { Listener } from "../events.ts";
import { newestEdits } from "../log.ts";
import type { NewestEdits, Originals } from "../log.ts";
import { bootstrap } from "../memory.ts";
import { noLock, readOnlyStore } from "../read-only.ts";
import { Session } from "../session.ts";
import { Offloader } from "./offloader.ts";
import { managerParts } from "./opening.ts";
import type { ManagerParts, SharedOptions } from "./opening.ts";
import { createKinds, forkKinds, listKinds, resumeKinds } from "./options.ts";
import type { CreateOptions, ManagerOptions, ResumeOptions, SessionForkOptions } from "./options.ts";

/** How a session is taken up. */
interface TakenUp {
  /** What its log has of an earlier process. Default: it is read. */
  readonly edits?: NewestEdits;
  /** Whether the session was there before. */
  readonly resumed?: boolean;
  readonly readOnly?: boolean;
  readonly originals?: Originals | undefined;
}

/** Opens, resumes, lists and finishes sessions. */
export class SessionManager {
  readonly #parts: ManagerParts;
  readonly #shared: SharedOptions;
  readonly #sessions = new Set<Session>();
  readonly #opening = new Map<string, Promise<Session>>();
  readonly #offloader: Offloader | undefined;
  /** Stops the search for idle sessions, and the reports of the mask. */
  readonly #stops: readonly (() => void)[];

  private constructor(parts: ManagerParts | undefined) {
    if (!parts?.shared) {
      const message =
        "A manager is opened, not made with new: await SessionManager.open({ store, model }), or open() alone.";
      throw new WindrowError("bad-option", message);
    }
    const { options, shared, engine: memory, every } = parts;
    const { idleTimeout, offload = {} } = options;
    this.#parts = parts;
    this.#shared = shared;
    const stopHearing = listenToMask(options.on, shared.secretRules);
    this.#stops =
      idleTimeout === undefined
        ? [stopHearing]
        : [stopHearing, every(Math.ceil(idleTimeout / 4), () => void this.#closeIdle(idleTimeout))];
    this.#offloader = memory && new Offloader(shared, memory, offload, every);
    this.#offloader?.look();
  }

  /**
   * Opens a manager over a store.
   *
   * @throws WindrowError `bad-option` for an option it does not know, `unknown-store`, `unknown-strategy`,
   * `unknown-model`, `unknown-profile`, `unknown-counter`, `store-unavailable`; `not-allowed` for a user that may not be
   * an admin; with `config` also `input-not-found`, `input-unreadable`
   */
  static async open(given: ManagerOptions = {}): Promise<SessionManager> {
    return new SessionManager(await managerParts(given));
  }

  /** By which its store masks what it keeps; live events pass them too. */
  get secretRules(): SecretRules {
    return this.#shared.secretRules;
  }

  /**
   * Makes a session and takes its lock.
   *
   * @throws WindrowError `bad-option`, `session-exists`, `session-id-invalid`, `store-unavailable`
   */
  async create(given: CreateOptions = {}): Promise<Session> {
    checkGiven("create", given, createKinds);
    const { taskKey = {}, config = {}, bootstrap: about, id = randomUUID() } = given;
    const { store, scope } = this.#shared;
    const settings = { ...this.#parts.settings, ...config };
    const lock = await store.create(scope, { uuid: id, taskKey, config: settings, createdAt: this.#now() });
    const told = about === undefined ? undefined : await this.#bootstrap(lock, about);
    return this.#session(lock, { edits: { epoch: undefined, later: told ? [told] : [], pos: 0 } });
  }

  /**
   * Goes on with a session that was closed, or whose process died. What a crash left is mended; the next window is the
   * one the old process would have composed. The log gains a record of the resume, unless it is `readOnly`.
   *
   * @throws WindrowError `session-not-found`; without `readOnly` also `session-busy` with the owner, `read-only`,
   * `format-newer`
   */
  async resume(id: string, given: ResumeOptions = {}): Promise<Session> {
    checkGiven("resume", given, resumeKinds);
    const { store, scope } = this.#shared;
    if (given.readOnly !== true) return this.#session(await store.lock(scope, id), { ...given, resumed: true });
    const found = await store.recovery(scope, id);
    const missing = found.filter(({ problem }) => problem === "missing");
    return this.#session(noLock(scope, id, missing), { ...given, resumed: true });
  }

  /**
   * A new session that begins as another one did, up to and with message `at`, and goes on by itself: the way to try
   * again from an earlier place, or to write on what is finished or busy. The other one is only read.
   *
   * @throws WindrowError `not-found` where there is no message `at`; `session-not-found`, `session-exists`
   */
  async fork(id: string, given: SessionForkOptions = {}): Promise<Session> {
    checkGiven("fork", given, forkKinds);
    const { at, config, id: uuid = randomUUID(), originals } = given;
    const { store, scope } = this.#shared;
    const { metadata } = await store.info(scope, id);
    let newest = 0;
    if (at === undefined) for await (const { seq } of store.read(scope, id, { kind: "message", last: 1 })) newest = seq;
    const settings = { ...metadata.config, ...this.#parts.settings, ...config };
    const fork = { at: at ?? newest, uuid, createdAt: this.#now(), config: settings };
    return this.#session(await forkSession(store, scope, id, fork), { originals });
  }

  /**
   * The session with this id: the one that is open in this process, or else resumed. For servers that get an id with
   * each request; an id that the store lacks is never another session.
   *
   * @throws WindrowError as `resume`
   */
  async session(id: string): Promise<Session> {
    for (const session of this.#sessions) {
      if (session.id !== id) continue;
      if (session.isOpen) return session;
      await session.close();
    }
    const opening = this.#opening.get(id) ?? this.resume(id).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  /**
   * Ends a session, whether it is open here or not. Nothing is written to it any more; its log can be read. A session
   * that has ended stays as it is.
   *
   * @param status - how it ended
   * @param error - what went wrong, for a session that failed
   * @throws WindrowError `session-not-found`, `session-busy` with the owner
   */
  async destroy(id: string, status: FinalStatus = "completed", error?: string): Promise<void> {
    checkEnd(status, error ?? null);
    if (isFinal((await this.info(id)).state.status)) return;
    const session = await this.session(id);
    await session.finish(status, error);
  }

  /**
   * A session's messages, oldest first, as the store keeps them; of an open session, of one that another process writes,
   * and of one that has ended. Streams.
   *
   * @param range - first and last message, by `seq` from 1; or how many of the newest
   * @throws WindrowError `session-not-found`
   */
  async *messages(
    id: string,
    range: Pick<ReadQuery, "from" | "to" | "last"> = {},
  ): AsyncGenerator<Message, void, undefined> {
    const { store, scope } = this.#shared;
    for await (const { message } of store.read(scope, id, { kind: "message", ...range })) yield message;
  }

  /** The sessions of the manager's scope, newest first. */
  list(query: ListQuery = {}): AsyncIterable<SessionInfo> {
    checkGiven("list", query, listKinds);
    return conversations(this.#shared.store, this.#shared.scope, query);
  }

  /**
   * One session's metadata and state.
   *
   * @throws WindrowError `session-not-found`
   */
  info(id: string): Promise<SessionInfo> {
    return this.#shared.store.info(this.#shared.scope, id);
  }

  /** The memory that was chosen, limited to the manager's scope; undefined for none. */
  get memory(): Memory | undefined {
    return this.#parts.memory;
  }

  /**
   * Closes every open session and the store. One that another process took over is closed already. What fails keeps
   * nothing else open: the first failure is thrown in the end. Idempotent.
   */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    const { store } = this.#shared;
    const open = [...this.#sessions].map((session) => () => session.close());
    await eachInTurn([async () => store.prepareClose(), ...open, () => this.#offloader?.close(), () => store.close()]);
  }

  async #bootstrap(lock: Lock, text: string): Promise<EditRecord | undefined> {
    const { memory, options } = this.#parts;
    const { maxBootstrapTokens: maxTokens = 1_000, bootstrapTimeout = 5_000, bootstrapPlace = "slot" } = options;
    if (!memory) throw new WindrowError("bad-option", "`bootstrap` needs a manager with a `memory`.");
    const begun = performance.now();
    await this.#offloader?.settled(bootstrapTimeout / 2);
    const timeout = Math.max(1, Math.floor(bootstrapTimeout - (performance.now() - begun)));
    const { counter } = this.#shared.composer;
    const query = { text, maxTokens, timeout, place: bootstrapPlace, counter, asking: lock.id };
    return bootstrap(memory, query, { ...this.#shared, lock });
  }

  /** The session of a lock, which is released where the session cannot be taken up. */
  async #session(lock: Lock, { edits, resumed = false, readOnly = false, originals }: TakenUp): Promise<Session> {
    const { store: whole, scope } = this.#shared;
    const store = readOnly ? readOnlyStore(whole) : whole;
    try {
      const newest = edits ?? (await newestEdits({ store, scope, id: lock.id }));
      const { metadata, state } = await store.info(scope, lock.id);
      // A session that was put to rest is at work again.
      const woken = state.status === "closed" && { lastActivity: "resumed", updatedAt: this.#now() };
      const { on: listener } = this.#shared;
      const on: Listener | undefined = readOnly && listener ? (event) => listener({ ...event, readOnly }) : listener;
      const sessionName = this.#parts.options.namesSession ? metadata.uuid.slice(0, 8) : undefined;
      const session = new Session({
        ...this.#shared,
        store,
        lock,
        metadata,
        state: isFinal(state.status) ? state : { ...state, status: "processing", ...woken },
        composer: { ...this.#shared.composer, ...defined({ sessionName, state: newest.epoch?.state }) },
        ended: async () => this.#offloader?.ended({ metadata }),
        closed: () => this.#sessions.delete(session),
        on,
      });
      await session.restore(newest, originals);
      if (resumed && !readOnly) {
        await this.#offloader?.enlist({ metadata });
        await session.resumed(state.status === "closed");
      }
      if (!readOnly) this.#sessions.add(session);
      tell(on, { type: "session-opened", sessionId: session.id, resumed, taskKey: metadata.taskKey });
      const { recovery } = lock;
      if (recovery.length > 0) tell(on, { type: "session-recovered", sessionId: session.id, recovery });
      return session;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  #now(): string {
    return this.#shared.now().toISOString();
  }

  async #closeIdle(timeout: number): Promise<void> {
    for (const session of this.#sessions) {
      const since = session.idleSince;
      if (since === undefined || this.#shared.now().getTime() - since < timeout) continue;
      try {
        await session.close("idle");
        await this.#offloader?.ended(await this.info(session.id));
      } catch (error) {
        if (isWindrowError(error)) tell(this.#shared.on, { type: "append-failed", sessionId: session.id, error });
      }
    }
  }
}
