/** SessionManager: opens, resumes, lists and finishes the sessions of a store. */
import { randomUUID } from "node:crypto";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { clockOf } from "../../handed-in.ts";
import type { JsonObject, Message, NewMessage } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { Memory } from "../../memory/memory.ts";
import { newestEdits } from "../log.ts";
import { everyOf } from "../../store/shared/clock.ts";
import { engineSetting } from "../../memory/offload/due.ts";
import { conversations } from "../../store/memory-logs.ts";
import { forkSession } from "../../store/fork.ts";
import { checkEnd, isFinal } from "../../store/shared/rules.ts";
import type { FinalStatus, ListQuery, Lock, ReadQuery, Scope, SessionInfo, Store } from "../../store/store.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { modelOf } from "../../tokens/models.ts";
import type { ModelFacts } from "../../tokens/models.ts";
import { budgetFor, loadCounterFor } from "../../window/apply-settings.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { Strategy } from "../../window/window.ts";
import { knownSecrets, textMask } from "../../mask/text.ts";
import type { SecretRules } from "../../mask/text.ts";
import { listenToMask, maskedListener, readOnlyListener, tell } from "../events.ts";
import type { Listener } from "../events.ts";
import { ConversationState } from "../state/state.ts";
import { configured } from "./config.ts";
import { checkedQuery, checkManagerOptions, checkSessionOptions, checkTimeout, notOpened, scopeOf } from "./options.ts";
import type { CreateOptions, ManagerOptions, OpenedOptions, ResumeOptions, SessionForkOptions } from "./options.ts";
import { Offloader } from "./offloader.ts";
import { recordResume, runningState } from "./resumed.ts";
import type { Restored } from "./resumed.ts";
import { settingsOf } from "./settings.ts";
import type { ComposingParts } from "./settings.ts";
import { eachInTurn } from "../../turns.ts";
import { withStatsLines } from "./stats-line.ts";
import { UsageMeter } from "../usage.ts";
import { bootstrap } from "../memory.ts";
import { memoryOf } from "./memory-choice.ts";
import { noLock, readOnlyStore } from "../read-only.ts";
import { Session } from "../session.ts";

/** Opens, resumes, lists and finishes sessions. */
export class SessionManager {
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #strategy: Strategy;
  readonly #profile: Profile;
  readonly #counter: TokenCounter;
  readonly #model: ModelFacts | undefined;
  readonly #budget: number | undefined;
  readonly #check: (message: unknown) => NewMessage;
  /** By which its store masks what it keeps; live events pass them too. */
  readonly secretRules: SecretRules;
  readonly #on: Listener | undefined;
  readonly #now: () => Date;
  readonly #sessions = new Set<Session>();
  readonly #opening = new Map<string, Promise<Session>>();
  readonly #options: OpenedOptions;
  readonly #stopLooking: () => void;
  readonly #stopHearing: () => void;
  readonly #offloader: Offloader | undefined;

  private constructor(store: Store, parts: ManagerParts | undefined, options: OpenedOptions) {
    if (!parts?.check) throw notOpened();
    this.#store = store;
    this.#options = options;
    this.#check = parts.check;
    this.#scope = scopeOf(options);
    const { note: _, ...whole } = parts.strategy;
    this.#strategy = options.summarizer ? whole : parts.strategy;
    this.#model = options.model === undefined ? undefined : modelOf(options.model);
    const profile = profileOf(options.profile ?? this.#model?.profile ?? "openai-chat");
    this.#profile = this.#model ? { ...profile, model: this.#model.id } : profile;
    this.#counter = parts.counter;
    this.#budget = budgetFor(parts.strategy.settings, { budget: options.budget, model: this.#model });
    this.secretRules = store.capabilities.mask ?? knownSecrets;
    this.#on = maskedListener(options.on, this.secretRules);
    this.#stopHearing = listenToMask(options.on, this.secretRules);
    this.#now = clockOf(options.now);
    const { idleTimeout, memory, offload: settings = {} } = options;
    const every = everyOf(options.every);
    this.#stopLooking =
      idleTimeout === undefined
        ? () => undefined
        : every(Math.ceil(checkTimeout(idleTimeout) / 4), () => void this.#closeIdle(idleTimeout));
    const shared = { store, scope: this.#scope, settings, on: this.#on, every, now: this.#now };
    this.#offloader = memory && memory.readsStore !== true ? new Offloader({ ...shared, memory }) : undefined;
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
    checkManagerOptions(given);
    const { options, strategy, storeOptions } = await configured(given);
    const [{ openStore }, { checkMessage }] = await Promise.all([
      import("../../access/open.ts"),
      import("../../message/schema.ts"),
    ]);
    const counter = await loadCounterFor(strategy.settings, options.counter);
    const target = options.store ?? strategy.settings?.folder ?? "./contexts";
    const store = await openStore(target, storeOptions);
    const { memory: chosen, ...others } = options;
    const memory = await memoryOf(chosen, store, target, scopeOf(options));
    return new SessionManager(
      store,
      { check: checkMessage, counter, strategy },
      { ...others, ...(memory && { memory }) },
    );
  }

  /**
   * Makes a session and takes its lock.
   *
   * @throws WindrowError `bad-option`, `session-exists`, `session-id-invalid`, `store-unavailable`
   */
  async create(given: CreateOptions = {}): Promise<Session> {
    checkSessionOptions("create", given);
    const { taskKey = {}, config = {}, bootstrap: about, id = randomUUID() } = given;
    const createdAt = this.#now().toISOString();
    const settings = { ...this.#settings, ...config };
    const lock = await this.#store.create(this.#scope, { uuid: id, taskKey, config: settings, createdAt });
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
    checkSessionOptions("resume", given);
    if (given.readOnly === true) {
      const edits = await newestEdits(this.#store, this.#scope, id);
      const found = await this.#store.recovery(this.#scope, id);
      const missing = found.filter(({ problem }) => problem === "missing");
      const from = { edits, resumed: true, originals: given.originals };
      return this.#session(noLock(this.#scope, id, missing), from, readOnlyStore(this.#store));
    }
    const lock = await this.#store.lock(this.#scope, id);
    try {
      const edits = await newestEdits(this.#store, this.#scope, id);
      return await this.#session(lock, { edits, resumed: true, originals: given.originals });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * A new session that begins as another one did, up to and with message `at`, and goes on by itself: the way to try
   * again from an earlier place, or to write on what is finished or busy. The other one is only read.
   *
   * @throws WindrowError `not-found` where there is no message `at`; `session-not-found`, `session-exists`
   */
  async fork(id: string, given: SessionForkOptions = {}): Promise<Session> {
    checkSessionOptions("fork", given);
    const { at, config, id: uuid = randomUUID(), originals } = given;
    const [store, scope] = [this.#store, this.#scope];
    const { metadata } = await store.info(scope, id);
    let newest = 0;
    if (at === undefined) for await (const { seq } of store.read(scope, id, { kind: "message", last: 1 })) newest = seq;
    const lock = await forkSession(store, scope, id, {
      at: at ?? newest,
      uuid,
      createdAt: this.#now().toISOString(),
      config: { ...metadata.config, ...this.#settings, ...config },
    });
    try {
      return await this.#session(lock, { edits: await newestEdits(store, scope, uuid), originals });
    } catch (error) {
      await lock.release();
      throw error;
    }
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
    for await (const { message } of this.#store.read(this.#scope, id, { kind: "message", ...range })) yield message;
  }

  /** The sessions of the manager's scope, newest first. */
  list(query: ListQuery = {}): AsyncIterable<SessionInfo> {
    return conversations(this.#store, this.#scope, checkedQuery(query));
  }

  /**
   * One session's metadata and state.
   *
   * @throws WindrowError `session-not-found`
   */
  info(id: string): Promise<SessionInfo> {
    return this.#store.info(this.#scope, id);
  }

  /** The memory that was chosen, limited to the manager's scope; undefined for none. */
  get memory(): Memory | undefined {
    return this.#options.memory;
  }

  /**
   * Closes every open session and the store. One that another process took over is closed already. What fails keeps
   * nothing else open: the first failure is thrown in the end. Idempotent.
   */
  async close(): Promise<void> {
    this.#stopLooking();
    this.#stopHearing();
    const open = [...this.#sessions].map((session) => () => session.close());
    const rest = [() => this.#offloader?.close(), () => this.#store.close()];
    await eachInTurn([async () => this.#store.prepareClose(), ...open, ...rest]);
  }

  async #bootstrap(lock: Lock, text: string): Promise<EditRecord | undefined> {
    const { memory, maxBootstrapTokens = 1_000, bootstrapTimeout = 5_000, bootstrapPlace = "slot" } = this.#options;
    if (!memory) throw new WindrowError("bad-option", "`bootstrap` needs a manager with a `memory`.");
    const begun = performance.now();
    await this.#offloader?.settled(bootstrapTimeout / 2);
    const timeout = Math.max(1, Math.floor(bootstrapTimeout - (performance.now() - begun)));
    const limits = { maxTokens: maxBootstrapTokens, timeout, place: bootstrapPlace };
    const place = { store: this.#store, lock, on: this.#on, now: this.#now };
    return bootstrap(memory, { text, ...limits, counter: this.#counter, asking: lock.id }, place);
  }

  async #session(
    lock: Lock,
    { edits, resumed = false, originals }: Restored,
    store: Store = this.#store,
  ): Promise<Session> {
    const { metadata, state } = await store.info(this.#scope, lock.id);
    const running = runningState(state, this.#now());
    const { epoch } = edits;
    const mask = textMask(this.secretRules);
    const conversation = new ConversationState();
    const meter = new UsageMeter(this.#profile, this.#model?.contextWindow);
    const { calibration } = epoch?.conversation ?? {};
    if (calibration !== undefined) meter.restore(calibration);
    const on = store === this.#store ? this.#on : readOnlyListener(this.#on);
    const session = new Session({
      store,
      scope: this.#scope,
      lock,
      metadata,
      state: running,
      composer: {
        strategy: this.#strategy,
        profile: this.#profile,
        counter: this.#counter,
        mask,
        ...(this.#options.ingestCap !== undefined && { ingestCap: this.#options.ingestCap }),
        ...(this.#options.recallTools && { recallTools: this.#options.recallTools }),
        ...(this.#options.namesSession && { sessionName: metadata.uuid.slice(0, 8) }),
        ...(epoch && { state: epoch.state }),
      },
      conversation,
      meter,
      secretRules: this.secretRules,
      calibrate: this.#options.calibrate ?? false,
      compaction: this.#options.compaction ?? "background",
      ended: async () => this.#offloader?.ended({ metadata }),
      summarizer: this.#options.summarizer,
      maxSummaryTokens: this.#options.maxSummaryTokens,
      recorded: epoch !== undefined,
      budget: this.#budget,
      check: this.#check,
      now: this.#now,
      closed: () => this.#sessions.delete(session),
      on: withStatsLines(on, this.#options),
    });
    await session.restore(edits, originals);
    if (resumed && store === this.#store) {
      await this.#offloader?.enlist({ metadata });
      await recordResume(store, lock, running, { isRested: state.status === "closed", now: this.#now(), on });
    }
    if (store === this.#store) this.#sessions.add(session);
    tell(on, { type: "session-opened", sessionId: session.id, resumed, taskKey: metadata.taskKey });
    const { recovery } = lock;
    if (recovery.length > 0) tell(on, { type: "session-recovered", sessionId: session.id, recovery });
    return session;
  }

  /** The settings that a new session keeps. */
  get #settings(): JsonObject {
    const { memory } = this.#options;
    const isHanded = memory !== undefined && memory.readsStore !== true;
    return { ...settingsOf(this.#composing), ...(isHanded && { [engineSetting]: memory.name }) };
  }

  get #composing(): ComposingParts {
    return {
      strategy: this.#strategy,
      profile: this.#profile,
      counter: this.#counter,
      model: this.#model,
      budget: this.#budget,
    };
  }

  async #closeIdle(timeout: number): Promise<void> {
    for (const session of this.#sessions) {
      const since = session.idleSince;
      if (since === undefined || this.#now().getTime() - since < timeout) continue;
      try {
        await session.close("idle");
        await this.#offloader?.ended(await this.info(session.id));
      } catch (error) {
        if (isWindrowError(error)) tell(this.#on, { type: "append-failed", sessionId: session.id, error });
      }
    }
  }
}

/** The parts that are loaded before a manager is made. */
interface ManagerParts {
  readonly check: (message: unknown) => NewMessage;
  readonly counter: TokenCounter;
  readonly strategy: Strategy;
}
