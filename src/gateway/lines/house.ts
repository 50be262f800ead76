/** The parts that all requests share: the store, its managers, the groups of lines, and who hears of failures. */
import type { ComposingOptions, WireApi } from "../gateway.ts";
import { inform } from "../../handed-in.ts";
import { findModel } from "../../tokens/models.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Listener } from "../../session/events.ts";
import { SessionManager } from "../../session/manager/manager.ts";
import type { Store } from "../../store/store.ts";
import type { Strategy, StrategyChoice } from "../../window/window.ts";
import { finderOf, knownSecrets } from "../../mask/text.ts";
import type { SecretRules } from "../../mask/text.ts";
import { toolName } from "../recall/shapes.ts";
import { Backlog } from "./backlog.ts";
import { Crew } from "./crew.ts";
import { Groups } from "./groups.ts";
import { Line } from "./line.ts";
import type { LineFacts } from "./facts.ts";
import { OpenLines } from "./open-lines.ts";
import { unboundProfile } from "./window.ts";

/** Something that happened to a request beside its way. */
export interface LinesEvent {
  /**
   * `request-bypassed`: one was sent without its line's work; `request-not-kept`: something of it was not kept;
   * `session-left`: one is damaged, and its conversation goes on in a new one; `edits-unavailable`: a provider that was to
   * edit cannot, and requests pass as they came.
   */
  readonly type: "request-bypassed" | "request-not-kept" | "session-left" | "edits-unavailable";
  /** An error's code, or `slow`; of edits the API or the model. */
  readonly reason: string;
  readonly sessionId?: string;
  readonly error?: unknown;
}

/** How {@link openLines} keeps and composes lines. */
export interface LinesOptions extends ComposingOptions {
  /** The store, open; closing the lines leaves it open. */
  readonly store: Store;
  /** The store's secret, of 32 bytes: `keptSecret`. */
  readonly secret: Buffer;
  /** How windows are made. Default `adaptive`. */
  readonly strategy?: string | Strategy | StrategyChoice;
  /** Default `estimate`. */
  readonly counter?: string | TokenCounter;
  /** Groups of conversations in memory. Default 256. */
  readonly mostGroups?: number;
  /** Bytes of requests that wait for the store; more are sent and not kept, but with the next request. Default 256 MB. */
  readonly mostWaiting?: number;
  /** Milliseconds: an idle session is closed, and opened again when it goes on. Default ten minutes. */
  readonly idleTimeout?: number;
  /**
   * Milliseconds that a composed request may wait for its bytes, and for its messages on the disk, and those behind which
   * keeping what nobody waits for is told as slow. Default 1,000, 250 and 10,000.
   */
  readonly mostWait?: { readonly whole?: number; readonly append?: number; readonly keep?: number };
  /** Hears of requests that were not kept or composed; of one cause once, until it is over. */
  readonly on?: (event: LinesEvent) => void;
  /** Hears of every event of the sessions. */
  readonly onSession?: Listener;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

/** The share of a model's contextWindow that `auto` lets a request use. */
const autoShare = 0.6;

/** A budget that no request reaches: windows that are only looked at. */
const unlimited = 1_000_000_000;

/** Observed requests whose messages are kept at one time: each begins and syncs files, which holds the next one back. */
const mostAtOnce = 1;

/** Most bytes of requests that wait for the store. */
const mostWaiting = 256 * 2 ** 20;

/** The parts that all requests share. */
export class House {
  readonly options: LinesOptions;
  readonly groups: Groups;
  readonly open = new OpenLines();
  /** Keeps what no request waits for. */
  readonly crew = new Crew(mostAtOnce);
  /** The bodies that wait for the store. */
  readonly backlog: Backlog;
  readonly #managers = new Map<string, Promise<SessionManager>>();
  readonly #told = new Set<string>();
  /** Told for as long as the house stands. */
  readonly #toldOnce = new Set<string>();
  readonly #refused = new Set<string>();

  constructor(options: LinesOptions) {
    this.options = options;
    this.backlog = new Backlog(options.mostWaiting ?? mostWaiting);
    const pace = { now: () => this.now().getTime(), longest: this.mostKeeping };
    this.groups = new Groups(options.store, options.mostGroups ?? 256, pace);
  }

  /** Whether the gateway composes requests. */
  get isComposing(): boolean {
    return this.options.budget !== undefined && !this.isAsking;
  }

  /** Whether providers are asked to edit requests. */
  get isAsking(): boolean {
    return this.options.budget !== undefined && this.options.edits === "provider";
  }

  /** Whether a tool brings back what left a window. */
  isRecallTool(name: string): boolean {
    return this.options.recall !== "off" && name.endsWith(toolName);
  }

  /** Whether a provider did not take edits for a model. */
  hasRefused(tenant: string, model = ""): boolean {
    return this.#refused.has(`${tenant} ${model}`);
  }

  /** Notes that a provider does not take edits for a model. */
  refuse(tenant: string, model = ""): void {
    this.#refused.add(`${tenant} ${model}`);
    this.tellOnce({ type: "edits-unavailable", reason: model });
  }

  /** Milliseconds behind which keeping is told as slow. */
  get mostKeeping(): number {
    return this.options.mostWait?.keep ?? 10_000;
  }

  now(): Date {
    return this.options.now?.() ?? new Date();
  }

  /** Tokens that a request to a model may use; undefined where its windows are only looked at. */
  budgetFor(model: string | undefined): number | undefined {
    const { budget } = this.options;
    if (budget !== "auto") return budget;
    const contextWindow = model === undefined ? undefined : findModel(model)?.contextWindow;
    return contextWindow !== undefined && Number.isFinite(contextWindow)
      ? Math.floor(contextWindow * autoShare)
      : undefined;
  }

  /** The budget of windows that have none. */
  get unlimited(): number {
    return unlimited;
  }

  /** Builds what the first request would wait for: the search of all secrets at once. */
  warm(): void {
    setImmediate(() => finderOf(this.secrets.rules)).unref();
  }

  /** The secrets that the store masks. */
  get secrets(): SecretRules {
    return this.options.store.capabilities.mask ?? knownSecrets;
  }

  /** A line that is in the store already, or a new one. */
  line(api: WireApi, facts: LineFacts, id?: string): Line {
    const { store, secret } = this.options;
    const isComposed = this.isComposing;
    const parts = {
      store,
      secret,
      api,
      open: this.open,
      manager: (...how: [boolean, boolean]) => this.#manager(api, ...how),
    };
    return new Line(facts, parts, isComposed, id);
  }

  #manager(api: WireApi, isComposed: boolean, keepsReasoning: boolean): Promise<SessionManager> {
    const key = `${api.name} ${isComposed} ${isComposed && keepsReasoning}`;
    const known = this.#managers.get(key);
    if (known) return known;
    const {
      store,
      counter,
      strategy = "adaptive",
      idleTimeout = 600_000,
      now,
      onSession,
      recall,
      budget,
    } = this.options;
    // A window that is only looked at is the client's own request: no rule changes it, and reasoning stays.
    const rules = Object.fromEntries(Object.keys(api.profile.rules).map((rule) => [rule, false]));
    const looked = { ...api.profile, rules: rules as typeof api.profile.rules, reasoning: "required" as const };
    const composed = keepsReasoning ? unboundProfile(api) : api.profile;
    const opened = SessionManager.open({
      store,
      strategy: isComposed ? strategy : "none",
      // Each window brings its own budget: the most that it may grow to.
      ...(isComposed && budget === "auto" && { budget }),
      profile: isComposed ? composed : looked,
      idleTimeout,
      ...(recall !== "off" && { recallTools: [toolName, "recall"] }),
      namesSession: recall === undefined || recall === "mcp",
      ...(counter !== undefined && { counter }),
      ...(now && { now }),
      ...(onSession && { on: onSession }),
    });
    this.#managers.set(key, opened);
    opened.catch(() => this.#managers.delete(key));
    return opened;
  }

  /** Tells of a failure, once until something succeeds. */
  failed(event: LinesEvent): void {
    const cause = `${event.type} ${event.reason}`;
    if (this.#told.has(cause)) return;
    this.#told.add(cause);
    this.#tell(event);
  }

  /** Tells of something that does not change any more. */
  tellOnce(event: LinesEvent): void {
    const cause = `${event.type} ${event.reason}`;
    if (this.#toldOnce.has(cause)) return;
    this.#toldOnce.add(cause);
    this.#tell(event);
  }

  #tell(event: LinesEvent): void {
    inform(this.options.on, event, `the event ${event.type}`);
  }

  /** Failures are told again from now on. */
  succeeded(): void {
    this.#told.clear();
  }
}
