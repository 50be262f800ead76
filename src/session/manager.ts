/** SessionManager: opens, resumes, lists and finishes the sessions of a store. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../errors.ts";
import type { JsonObject, JsonValue, NewMessage } from "../message/message.ts";
import type { ListQuery, Lock, Scope, SessionInfo, SessionState, Store } from "../store/store.ts";
import { counterOf } from "../tokens/counters.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { modelOf } from "../tokens/models.ts";
import type { Model, ModelDescription } from "../tokens/models.ts";
import { budgetOf, checkBudget } from "../window/budget.ts";
import { profileOf } from "../window/profile.ts";
import type { Profile } from "../window/profile.ts";
import { strategyOf } from "../window/strategy.ts";
import { EditIndex } from "../window/view.ts";
import type { Strategy } from "../window/window.ts";
import { epochOf } from "./epoch-record.ts";
import type { EpochData } from "./epoch-record.ts";
import { tell } from "./events.ts";
import type { Listener } from "./events.ts";
import { Session } from "./session.ts";

/** How a manager is opened. */
export interface ManagerOptions {
  /** A folder, a URL (`file:`, `ram:`), or a Store. Default `./contexts`. */
  readonly store?: string | Store;
  /** A name or a Strategy. Default `adaptive`. */
  readonly strategy?: string | Strategy;
  /** A known model's id, or `{ contextWindow, maxOutput, prices, profile }`. Sets the budget and the profile. */
  readonly model?: string | ModelDescription;
  /** Tokens a window may use. Default: from the model. */
  readonly budget?: number;
  /** Default: the model's, else `openai-chat`. */
  readonly profile?: string | Profile;
  /** Default `estimate`. */
  readonly counter?: string | TokenCounter;
  /** On whose behalf: sessions of others do not exist for this manager. */
  readonly user?: string;
  readonly tenant?: string;
  /** Hears what happens. */
  readonly on?: Listener;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

/** What a session is created with. */
export interface CreateOptions {
  /** What the session is about, for people and statistics (seed 001 §3.1): any JSON object. */
  readonly taskKey?: JsonObject;
  /** Further settings to keep in the metadata. */
  readonly config?: JsonObject;
  /** A UUID v4. Default: a new one. */
  readonly id?: string;
}

const optionNames: readonly string[] = [
  "store",
  "strategy",
  "model",
  "budget",
  "profile",
  "counter",
  "user",
  "tenant",
  "on",
  "now",
];

/** Opens, resumes, lists and finishes sessions. */
export class SessionManager {
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #strategy: Strategy;
  readonly #profile: Profile;
  readonly #counter: TokenCounter;
  readonly #model: Model | undefined;
  readonly #budget: number | undefined;
  readonly #check: (message: unknown) => NewMessage;
  readonly #on: Listener | undefined;
  readonly #now: () => Date;
  readonly #sessions = new Set<Session>();

  private constructor(store: Store, check: (message: unknown) => NewMessage, options: ManagerOptions) {
    this.#store = store;
    this.#check = check;
    this.#scope = {
      ...(options.user !== undefined && { user: options.user }),
      ...(options.tenant !== undefined && { tenant: options.tenant }),
    };
    this.#strategy = strategyOf(options.strategy ?? "adaptive");
    this.#model = options.model === undefined ? undefined : modelOf(options.model);
    this.#profile = profileOf(options.profile ?? this.#model?.profile ?? "openai-chat");
    this.#counter = counterOf(options.counter ?? "estimate");
    const fromModel = this.#model && budgetOf(this.#model);
    this.#budget = options.budget === undefined ? fromModel : checkBudget(options.budget);
    this.#on = options.on;
    this.#now = options.now ?? (() => new Date());
  }

  /**
   * Opens a manager over a store.
   *
   * @throws WindrowError `bad-option` for an option it does not know, `unknown-store`, `unknown-strategy`,
   * `unknown-model`, `unknown-profile`, `unknown-counter`, `store-unavailable`
   */
  static async open(options: ManagerOptions = {}): Promise<SessionManager> {
    for (const name of Object.keys(options)) {
      if (optionNames.includes(name)) continue;
      const { nearest } = await import("../nearest.ts");
      throw new WindrowError(
        "bad-option",
        `SessionManager.open has no option "${name}".${nearest(name, optionNames)}`,
        { name },
      );
    }
    const [{ openStore }, { checkMessage }] = await Promise.all([
      import("../store/open.ts"),
      import("../message/schema.ts"),
    ]);
    return new SessionManager(await openStore(options.store ?? "./contexts"), checkMessage, options);
  }

  /**
   * Makes a session and takes its lock.
   *
   * @throws WindrowError `session-exists`, `session-id-invalid`, `store-unavailable`
   */
  async create({ taskKey = {}, config = {}, id = randomUUID() }: CreateOptions = {}): Promise<Session> {
    const createdAt = this.#now().toISOString();
    const settings = { ...this.#settings(), ...config };
    const lock = await this.#store.create(this.#scope, { uuid: id, taskKey, config: settings, createdAt });
    return this.#session(lock, undefined, false);
  }

  /**
   * Goes on with a session that was closed, or whose process died. What a crash left is mended; the next window is the
   * one the old process would have composed.
   *
   * @throws WindrowError `session-not-found`, `session-busy` with the owner, `read-only`, `format-newer`
   */
  async resume(id: string): Promise<Session> {
    const lock = await this.#store.lock(this.#scope, id);
    try {
      return await this.#session(lock, await this.#epoch(id), true);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Sessions, newest first. */
  list(query?: ListQuery): AsyncIterable<SessionInfo> {
    return this.#store.list(this.#scope, query);
  }

  /**
   * One session's metadata and state.
   *
   * @throws WindrowError `session-not-found`
   */
  info(id: string): Promise<SessionInfo> {
    return this.#store.info(this.#scope, id);
  }

  /** Closes every open session and the store. Idempotent. */
  async close(): Promise<void> {
    for (const session of this.#sessions) await session.close();
    this.#sessions.clear();
    await this.#store.close();
  }

  #settings(): JsonObject {
    const settings: Record<string, JsonValue> = {
      strategy: this.#strategy.name,
      profile: this.#profile.name,
      counter: this.#counter.name,
    };
    if (this.#model) {
      settings.model = this.#model.id;
      settings.context_length = this.#model.contextWindow;
      settings.llm_provider = this.#model.provider;
    }
    if (this.#budget !== undefined && Number.isFinite(this.#budget)) {
      settings.budget = this.#budget;
      if (this.#model)
        settings.compression_threshold = Math.round((1_000 * this.#budget) / this.#model.contextWindow) / 1_000;
    }
    return settings;
  }

  /** The newest epoch record; each is complete, so no older one is needed. */
  async #epoch(id: string): Promise<EpochData | undefined> {
    for (const last of [8, 256, Infinity]) {
      let newest: EpochData | undefined;
      let read = 0;
      const query = { kind: "edit", ...(Number.isFinite(last) && { last }) } as const;
      for await (const record of this.#store.read(this.#scope, id, query)) {
        read++;
        if (record.type === "epoch") newest = epochOf(record.data) ?? newest;
      }
      if (newest || read < last) return newest;
    }
    return undefined;
  }

  async #session(lock: Lock, epoch: EpochData | undefined, resumed: boolean): Promise<Session> {
    const { metadata, state } = await this.#store.info(this.#scope, lock.id);
    const session = new Session({
      store: this.#store,
      scope: this.#scope,
      lock,
      metadata,
      state: this.#running(state),
      composer: {
        strategy: this.#strategy,
        profile: this.#profile,
        counter: this.#counter,
        ...(epoch && { state: epoch.state }),
      },
      budget: this.#budget,
      check: this.#check,
      now: this.#now,
      closed: () => this.#sessions.delete(session),
      ...(this.#on && { on: this.#on }),
    });
    if (resumed) await this.#restore(session, epoch);
    this.#sessions.add(session);
    tell(this.#on, { type: "session-opened", sessionId: session.id, resumed });
    if (lock.recovery.length > 0) {
      tell(this.#on, { type: "session-recovered", sessionId: session.id, recovery: lock.recovery });
    }
    return session;
  }

  #running(state: SessionState): SessionState {
    return state.status === "initializing" ? { ...state, status: "processing" } : state;
  }

  /** Reads what the window holds and what came after its epoch; what left the window stays unread. */
  async #restore(session: Session, epoch: EpochData | undefined): Promise<void> {
    const opened = epoch?.state.opened ?? 0;
    session.counted(opened, epoch?.historyTokens ?? 0);
    const ranges = [...gaps(new EditIndex(epoch?.state.edits ?? []), opened), { from: opened + 1, to: undefined }];
    for (const { from, to } of ranges) {
      const query = { kind: "message", from, ...(to !== undefined && { to }) } as const;
      for await (const { seq, message, tokenCount } of this.#store.read(this.#scope, session.id, query)) {
        session.restore(seq, message);
        if (seq > opened) session.counted(seq, tokenCount);
      }
    }
  }
}

/** The stretches of the log up to `last` that no edit took out of the window. */
function gaps(index: EditIndex, last: number): readonly { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  let from = 1;
  for (const range of [...index.ranges, { from: last + 1, to: last + 1 }]) {
    if (range.from > from) found.push({ from, to: range.from - 1 });
    from = Math.max(from, range.to + 1);
  }
  return found;
}
