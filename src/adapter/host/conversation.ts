/**
 * One conversation of a host that hands its whole history over on every call: its windows, its journal and its recall.
 * Windows are made from a session's log where the history continues it, else from the history alone.
 */
import { WindrowError } from "../../errors.ts";
import type { SecretRules } from "../../mask/text.ts";
import { defined } from "../../message/json.ts";
import type { Message, ToolDefinition, Usage } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { checkCounterName } from "../../tokens/counters.ts";
import { findModel } from "../../tokens/models.ts";
import type { ModelDescription } from "../../tokens/models.ts";
import { budgetFor, counterFor, loadCounterFor, sizedBy } from "../../window/settings.ts";
import { budgetOf } from "../../window/budget.ts";
import { strategyOf } from "../../window/by-name.ts";
import { composeWindow } from "../../window/compose.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import type { Composed, DynamicBlock, PinnedBlock, Strategy } from "../../window/window.ts";
import type { Budget } from "../../window/options.ts";
import type { StrategyChoice, WindowState } from "../../window/window.ts";
import { statsListener, Teller } from "./events.ts";
import type { AdapterListener } from "./events.ts";
import type { StatsLineOptions } from "../../session/stats-line.ts";
import { journalOf } from "./journal.ts";
import type { HostJournal, HostLog, JournalHost, LogMatch } from "./journal.ts";
import { liveHistory } from "./numbered.ts";
import type { StartedTool } from "./journal.ts";
import { Numbered } from "./numbered.ts";
import { RememberedEpochs } from "./remembered.ts";

/** How an adapter makes windows. */
export interface WindowOptions {
  /** Tokens a request may use, or `"auto"`. Default: from `model`, else the session's, else from the model that is called. */
  readonly budget?: Budget;
  /** A known model's id or a description; sets the budget. */
  readonly model?: string | ModelDescription;
  /** A name, a preset, `{ use, ...options }`, or a Strategy. Default `adaptive`. With a session it is refused. */
  readonly strategy?: string | Strategy | StrategyChoice;
  /** The profile of the provider behind the host. Default: the host's. With a session it is refused. */
  readonly profile?: string | Profile;
  /** An object or a name; `o200k` and `cl100k` are loaded. Default: the strategy's, else `estimate`. With a session it is refused. */
  readonly counter?: string | TokenCounter;
  /** Names of the tools with which the model recalls. Default `["recall"]`. Not with a session. */
  readonly recallTools?: readonly string[];
  /** Receives failures, replaced histories and windows. */
  readonly on?: AdapterListener;
}

/** How a {@link HostConversation} makes windows, and where it journals. */
export interface ConversationOptions extends WindowOptions, StatsLineOptions {
  /** Journals the conversation into this session, whose manager then sets strategy, profile and counter. */
  readonly session?: Session | undefined;
}

/** How a conversation reads its host. */
export interface ConversationHost<Host extends object> extends JournalHost<Host> {
  /** The profile of the provider behind the host, where no option names one. Default `openai-chat`. */
  readonly profile?: string | Profile;
  /** Whether several conversations come through at once: none of them then replaces another. Default false. */
  readonly isShared?: boolean;
}

/** The blocks of a request beside its messages. */
export interface RequestBlocks {
  /** Counted, never sent: the host sends it. */
  readonly system?: string;
  /** Counted, never sent. */
  readonly tools?: readonly ToolDefinition[];
  /** Texts for the call at hand, at the window's end. */
  readonly dynamic?: readonly DynamicBlock[];
}

/** A model that is called: its id, or its capacity and most output, in tokens. A contextWindow of Infinity has no limit. */
export type CalledModel =
  | string
  | { readonly contextWindow?: number | undefined; readonly maxOutput?: number | undefined };

/** One call of a host's model. */
export interface HostCall<Host extends object, Sent = Host> extends RequestBlocks {
  /** The host's messages, all of them, without the system prompt. */
  readonly messages: readonly Host[];
  /** The model that is called; its budget holds where neither the options nor the session name one. */
  readonly model?: CalledModel | undefined;
  /** Tokens of the request that stand in no message and no block: of documents, of an output schema. Default 0. */
  readonly besideTokens?: number;
  /** The profile of the called provider, where neither the options nor the session say it. */
  readonly profile?: string | Profile;
  /** Blocks before the history, where the window is not made from a log. */
  readonly pinned?: readonly PinnedBlock[];
  /** The state of the conversation's last window, where the host keeps it. Default: it is remembered. */
  readonly state?: WindowState | undefined;
  /** How the messages stand to a log, where the host itself decides it. Default: the session's journal decides. */
  readonly log?: HostLog<Host>;
  /** Makes a window of the history in the host's own way. Default: `composeWindow`. */
  readonly compose?: (history: readonly Message[]) => Composed;
  /**
   * The window's messages as they are sent. Default: the host's own object for each message that nothing changed, else
   * what the adapter encodes.
   *
   * @param original - the host's own object for a message of the log; absent where the window is not made from a log
   */
  readonly encode?: (
    messages: readonly Message[],
    original?: (message: Message) => Host | undefined,
  ) => readonly Sent[];
}

/** Reads a call from the host's request. */
export type CallReader<Host extends object, Sent = Host> = () =>
  | HostCall<Host, Sent>
  | undefined
  | Promise<HostCall<Host, Sent> | undefined>;

/** A window in the host's messages. */
export interface HostWindow<Sent> {
  readonly messages: readonly Sent[];
  readonly composed: Composed;
}

/** Parts that a conversation shares with others of the same host. */
export interface SharedParts {
  /** Sends failures once for all of them. */
  readonly teller?: Teller | undefined;
  /** The rules for secrets that no listener receives, where there is no session. */
  readonly secretRules?: SecretRules | undefined;
  /** The session that recall reads before the first window, where each call brings a log of its own. */
  readonly session?: Session | undefined;
}

/** The windows of one conversation, its journal where there is a session, and its recall. */
export class HostConversation<Host extends object> {
  /** The session's journal. */
  readonly journal: HostJournal<Host> | undefined;
  /** Sends events, a failure once. */
  readonly teller: Teller;
  readonly #host: ConversationHost<Host>;
  readonly #options: ConversationOptions;
  readonly #strategy: Strategy;
  readonly #numbered: Numbered;
  readonly #epochs = new RememberedEpochs();
  #isReplaced = false;
  /** The place at which this conversation's history left the journal; another one of the session may continue it. */
  #leftAt: number | undefined;
  #most = Infinity;
  /** Tokens that the newest window could use. */
  #newestBudget: number | undefined;

  constructor(host: ConversationHost<Host>, options: ConversationOptions = {}, shared: SharedParts = {}) {
    if (typeof host?.adapter?.name !== "string") {
      throw new WindrowError(
        "bad-option",
        "A HostConversation is made of { adapter }, as docs/writing-an-adapter.md says.",
      );
    }
    this.#host = host;
    this.#options = options;
    this.#strategy = ownStrategy(options);
    this.journal = options.session && journalOf(options.session, host);
    this.#numbered = this.journal?.numbered ?? new Numbered(shared.session);
    this.teller = this.journal?.teller ?? shared.teller ?? new Teller(host.adapter.name, shared.secretRules);
    this.teller.add(options.on);
    this.teller.add(statsListener(options));
  }

  /** The session, where there is one. */
  get session(): Session | undefined {
    return this.journal?.session;
  }

  /** Appends what the host has and the log lacks. Never rejects: the next call appends what a failing store refused. */
  async record(messages: readonly Host[]): Promise<void> {
    await this.attempt(async () => {
      if (!this.journal) return;
      await this.#match(this.journal, messages);
      this.teller.succeeded();
    });
  }

  /** Records that a tool is about to run, so that a crash in between is seen. Never rejects. */
  async startTool(call: StartedTool): Promise<void> {
    await this.attempt(() => this.journal?.writer.startTool(call));
  }

  /**
   * Notes that a started tool has ended.
   *
   * @param durationMs - how long it took. Default: since its start was recorded
   */
  endTool(callId: string, durationMs?: number): void {
    this.journal?.writer.endTool(callId, durationMs);
  }

  /** Records what a model call used. Never rejects. */
  async endStep(used: { readonly usage?: Usage | undefined; readonly model?: string | undefined } = {}): Promise<void> {
    await this.attempt(() => this.session?.endStep(defined({ usage: used.usage, model: used.model })));
  }

  /** The result of a piece of work; its failure is sent as an event, and gives undefined. */
  async attempt<Result>(work: () => Result | Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      this.teller.failed(error);
      return undefined;
    }
  }

  /**
   * The window for a call. Undefined where it could not be made or was aborted: the host then goes on with its own messages.
   *
   * @param call - or a function that reads it from the host's request: its failure is the window's, and with undefined no
   *   window is made
   */
  async window<Sent = Host>(
    call: HostCall<Host, Sent> | CallReader<Host, Sent>,
    signal?: AbortSignal,
  ): Promise<HostWindow<Sent> | undefined> {
    if (signal?.aborted) return undefined;
    try {
      const given = typeof call === "function" ? await call() : call;
      if (!this.session) await loadCounterFor(this.#strategy.settings, this.#options.counter);
      const window = given && (await this.#window(given, signal));
      if (!window || signal?.aborted) return undefined;
      this.teller.sent(window.messages.length, window.composed.report);
      return window;
    } catch (error) {
      if (!signal?.aborted) this.teller.failed(error);
      return undefined;
    }
  }

  /**
   * The window of the call's messages alone, whatever a log holds.
   *
   * @throws WindrowError `over-budget` or `budget-too-small` with the size of each block; `bad-option`, `bad-message`
   */
  alone<Sent = Host>(call: HostCall<Host, Sent>): HostWindow<Sent> {
    return this.#alone(call, call.log ?? this.journal, this.#host.adapter.decode(call.messages));
  }

  /** Keeps every later window below this many tokens, whatever the budget. */
  limit(tokens: number): void {
    this.#most = tokens;
  }

  /**
   * Brings back what left the window, by the ids of its notes or by words. {@link recallTool} makes a tool of it.
   *
   * @param options - `messages`: of the conversation that asks, where several share this one; `maxTokens` defaults to an eighth of the budget, and to 4,000 at most
   * @throws WindrowError `not-found`, `bad-option`
   */
  recall(
    query: RecallQuery,
    options: { readonly messages?: readonly Host[] | undefined; readonly maxTokens?: number | undefined } = {},
  ): Promise<Recalled> {
    const { messages, maxTokens } = options;
    const history = messages && (() => this.#host.adapter.decode(messages));
    const { counter, recallTools } = this.#options;
    return this.#numbered.recall(query, { counter, maxTokens, budget: this.#newestBudget, recallTools }, history);
  }

  async #window<Sent>(call: HostCall<Host, Sent>, signal?: AbortSignal): Promise<HostWindow<Sent>> {
    const log = call.log ?? this.journal;
    const match = await this.#match(log, call.messages);
    if (!log || !match?.isLog) {
      return this.#alone(call, log, match?.history ?? this.#host.adapter.decode(call.messages));
    }
    const { session } = log;
    await session.prepare(signal);
    this.#numbered.fromLog(session);
    const budget = this.#budget(call, session);
    const options = { ...blocksOf(call), ...(budget !== undefined && { budget }) };
    const composed = await session.compose(options, signal);
    return this.#written(call, composed, (message) => log.hostOf(message));
  }

  async #match(log: HostLog<Host> | undefined, messages: readonly Host[]): Promise<LogMatch | undefined> {
    let match = await log?.match(messages);
    // A history that was replaced once stays apart from the session's journal; a host's own log decides by itself.
    if (log === this.journal) this.#leftAt ??= match?.brokenAt;
    if (log === this.journal && this.#leftAt !== undefined) match = { isLog: false, brokenAt: this.#leftAt };
    this.#tellReplaced(match?.brokenAt);
    return match;
  }

  #alone<Sent>(
    call: HostCall<Host, Sent>,
    log: HostLog<Host> | undefined,
    given: readonly Message[],
  ): HostWindow<Sent> {
    const settings = log?.session.settings;
    const history = liveHistory(settings, given);
    const { state, brokenAt } = this.#epochs.recognise(history);
    if (!log && !this.#host.isShared) this.#tellReplaced(brokenAt);
    this.#numbered.fromHistory(() => given);
    const { profile, recallTools } = this.#options;
    const strategy = settings?.strategy ?? this.#strategy;
    // A budget beside a strategy's own share would be refused; this one is worked out of it.
    const { settings: _, ...bare } = strategy;
    const names = settings ? settings.recallTools : recallTools;
    const composed =
      call.compose?.(history) ??
      composeWindow({
        messages: history,
        ...blocksOf(call),
        ...(call.pinned && { pinned: call.pinned }),
        budget: this.#budget(call, log?.session) ?? NaN,
        strategy: bare,
        profile: settings?.profile ?? profile ?? call.profile ?? this.#host.profile ?? "openai-chat",
        counter: settings?.counter ?? counterFor(strategy.settings, this.#options.counter),
        ...(settings && { mask: settings.mask }),
        ...(names && { recallTools: names }),
        state: call.state ?? state,
      });
    this.#epochs.remember(history, composed.state);
    return this.#written(call, composed);
  }

  #written<Sent>(
    call: HostCall<Host, Sent>,
    composed: Composed,
    original?: (message: Message) => Host | undefined,
  ): HostWindow<Sent> {
    this.#newestBudget = composed.report.budget;
    const [fault] = composed.report.faults;
    if (fault) throw new WindrowError("bad-message", `The window breaks a rule: ${fault.message}.`, { fault });
    // The system prompt was only counted: the host sends it.
    const messages = composed.messages.filter(({ id }) => id !== "windrow:system");
    if (call.encode) return { composed, messages: call.encode(messages, original) };
    const { adapter } = this.#host;
    const encoded = original
      ? messages.flatMap((message) => original(message) ?? adapter.encode([message]))
      : adapter.encode(messages);
    return { composed, messages: encoded as readonly unknown[] as readonly Sent[] };
  }

  /** Sends `history-replaced` once for each replacement. */
  #tellReplaced(brokenAt: number | undefined): void {
    if (brokenAt === undefined) {
      if (this.journal) this.teller.continued();
    } else if (!this.#isReplaced) {
      if (this.journal) this.teller.replacedInJournal(brokenAt);
      else this.teller.replaced(brokenAt);
    }
    this.#isReplaced = brokenAt !== undefined;
  }

  #budget(call: Pick<HostCall<Host>, "model" | "besideTokens">, session: Session | undefined): number | undefined {
    const { settings } = session?.settings.strategy ?? this.#strategy;
    const whole =
      budgetFor(settings, this.#options) ?? session?.settings.budget ?? modelBudget(call.model, settings?.ratio);
    if (whole === undefined && this.#most === Infinity) return undefined;
    return Math.min((whole ?? Infinity) - (call.besideTokens ?? 0), this.#most);
  }
}

function blocksOf({ system, tools, dynamic }: RequestBlocks): RequestBlocks {
  return { ...(system !== undefined && { system }), ...(tools && { tools }), ...(dynamic && { dynamic }) };
}

/**
 * The strategy of a conversation: its session's, or its own.
 *
 * @throws WindrowError `bad-option` where a session's manager has set what is given, or the budget is given twice
 */
function ownStrategy(options: ConversationOptions): Strategy {
  const set = (["strategy", "profile", "counter", "recallTools"] as const).find((name) => options[name] !== undefined);
  if (options.session && set !== undefined) {
    const message = `\`${set}\` has no effect beside a session: give it to \`SessionManager.open\`.`;
    throw new WindrowError("bad-option", message, { option: set });
  }
  if (options.session && options.budget === "auto" && options.session.settings.strategy.floor === undefined) {
    const message = 'The budget "auto" has no effect beside a session: give it to `SessionManager.open`.';
    throw new WindrowError("bad-option", message, { option: "budget" });
  }
  checkCounterName(options.counter);
  const strategy =
    options.session?.settings.strategy ?? sizedBy(strategyOf(options.strategy ?? "adaptive"), options.budget);
  budgetFor(strategy.settings, options);
  return strategy;
}

/**
 * Tokens a request to a model may use, by its id or by what it takes; undefined for an unknown model.
 *
 * @param ratio - share of the contextWindow. Default 0.75
 */
function modelBudget(called: CalledModel | undefined, ratio?: number): number | undefined {
  const facts = typeof called === "string" ? findModel(called) : called;
  const { contextWindow, maxOutput } = facts ?? {};
  if (contextWindow === Infinity) return Infinity;
  return contextWindow && maxOutput ? budgetOf({ contextWindow, maxOutput, ...defined({ ratio }) }) : undefined;
}
