/** A plug-in for ADK's Runner that sends windows, journals what happens, and counts what it costs. */
import { WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue, Message } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import { renderSnapshot, statsDue, statsLine } from "../../session/state/snapshot.ts";
import { estimate } from "../../tokens/estimate.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { usage } from "../../message/parts.ts";
import { gemini } from "../../window/provider/profile.ts";
import type { Recalled, RecallQuery } from "../../window/recall/recall.ts";
import type { ComposeInput, PinnedBlock, Strategy, WindowState } from "../../window/window.ts";
import type { ContextManager } from "./context.ts";
import { asRequested, isShown } from "./event.ts";
import { adkLogs } from "./log.ts";
import type { AdkLog, AdkLogs } from "./log.ts";
import type { AdkContext, AdkEvent, AdkInvocation, AdkRequest, AdkResponse, AdkTool } from "./types.ts";
import { isReplaced, logWindow, requestBudget, requestWindow } from "./window.ts";
import type { AdkWindow } from "./window.ts";
import { Teller } from "../host/events.ts";
import type { AdapterListener } from "../host/events.ts";
import { Numbered } from "../host/numbered.ts";

/** How {@link ContextManagementPlugin} makes windows. */
export interface ContextManagementOptions {
  /** Keeps a log of every session of ADK, and makes windows from it. Default: none; windows are made of requests alone. */
  readonly manager?: SessionManager;
  /** Seed 000's manager: it is fed every message, its snapshot stands in every window, its strategy is the default. */
  readonly contextManager?: ContextManager;
  /** Tokens a request may use. Default: the manager's, else from the request's model. */
  readonly budget?: number;
  /** Default: `contextManager`'s, else `adaptive`. With a `manager` that one's. */
  readonly strategy?: string | Strategy;
  /** Default: `contextManager`'s, else `estimate`. With a `manager` that one's. */
  readonly counter?: TokenCounter;
  /**
   * Where dumps of screens shrink, with a `contextManager`: in the `window` alone (default), or before they are `stored`
   * too: ADK's own history then holds them cut.
   */
  readonly uiTrees?: "window" | "stored";
  /** Hears of failures, replaced histories and windows. */
  readonly on?: AdapterListener;
  /** Every how many windows a line `Context stats: 18 messages, ~4500 tokens` is logged (seed 000: 5). Default: never. */
  readonly debugEvery?: number;
  /** Takes the lines of `debugEvery`. Default: standard error. */
  readonly log?: (line: string) => void;
}

/** What is known of one agent's view of one session. */
interface View {
  state?: WindowState;
  /** The last request's history, where its windows are not the log's. */
  history?: readonly Message[];
  /** That ADK's history is no longer the log's was told. */
  replaced: boolean;
}

/**
 * A plug-in of ADK by its shape: `new Runner({ plugins: [new ContextManagementPlugin({ manager })], … })`. No callback
 * throws or answers in ADK's place; whatever fails, ADK's own request goes out, and `adapter-failed` is told once.
 *
 * Seed 000's hooks are ADK's: `beforeModelRequest` is `beforeModelCallback`, `afterModelResponse` is
 * `afterModelCallback` (what it used) and `onEventCallback` (the message), `afterFunctionExecution` is
 * `afterToolCallback`.
 */
export class ContextManagementPlugin {
  readonly name: string = "windrow";
  readonly #options: ContextManagementOptions;
  readonly #logs: AdkLogs | undefined;
  readonly #teller: Teller;
  readonly #views = new Map<string, View>();
  readonly #fed = new WeakSet<AdkEvent>();
  #windows = 0;

  constructor(options: ContextManagementOptions = {}) {
    this.#options = options;
    this.#logs = options.manager && adkLogs(options.manager);
    this.#teller = this.#logs?.teller ?? new Teller("adk");
    this.#teller.add(options.on);
  }

  /** Tool calls that failed one after the other, by the `contextManager`; seed 000 falls back to `elementsJson` at 3. */
  get consecutiveFailures(): number {
    return this.#options.contextManager?.consecutiveFailures ?? 0;
  }

  /** Puts the window into the request. ADK's session keeps every event; the request is ADK's copy. */
  async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: {
    callbackContext: AdkContext;
    llmRequest: AdkRequest;
  }): Promise<undefined> {
    await this.#quietly(async () => {
      const { invocationContext } = callbackContext;
      const view = this.#view(invocationContext);
      const log = await this.#log(invocationContext);
      const window =
        (log && (await this.#fromLog(log, invocationContext, llmRequest, view))) ?? this.#alone(llmRequest, view, log);
      const { report, tokens } = window.composed;
      const [fault] = report.faults;
      if (fault) throw new WindrowError("bad-message", `The window breaks a rule: ${fault.message}.`, { fault });
      llmRequest.contents = [...window.contents];
      this.#teller.succeeded();
      this.#teller.tell({ type: "window-sent", adapter: "adk", messages: window.contents.length, report });
      const { debugEvery, log: write = (line) => void process.stderr.write(`${line}\n`) } = this.#options;
      if (debugEvery !== undefined && statsDue(++this.#windows, debugEvery)) {
        write(statsLine({ messageCount: window.contents.length, estimatedTokens: tokens, hasSnapshot: false }));
      }
    });
  }

  /** Records what the call used. */
  async afterModelCallback({
    callbackContext,
    llmResponse,
  }: {
    callbackContext: AdkContext;
    llmResponse: AdkResponse;
  }): Promise<undefined> {
    const { usageMetadata: used, partial, modelVersion: model } = llmResponse;
    if (!used || partial === true) return;
    await this.#quietly(async () => {
      const log = await this.#log(callbackContext.invocationContext);
      const output = (used.candidatesTokenCount ?? 0) + (used.thoughtsTokenCount ?? 0);
      const counts = {
        input: used.promptTokenCount,
        output,
        cacheRead: used.cachedContentTokenCount,
        reasoning: used.thoughtsTokenCount,
      };
      await log?.session.endStep({ usage: usage(counts) ?? {}, ...(model !== undefined && { model }) });
    });
  }

  /** Records that a tool is about to run: after a crash `session.inDoubt()` names it. */
  async beforeToolCallback({
    tool,
    toolArgs,
    toolContext,
  }: {
    tool: AdkTool;
    toolArgs: Record<string, unknown>;
    toolContext: AdkContext;
  }): Promise<undefined> {
    const { functionCallId: callId, invocationContext } = toolContext;
    if (callId === undefined) return;
    await this.#quietly(async () => {
      const log = await this.#log(invocationContext);
      await log?.startTool({ callId, name: tool.name, args: JSON.parse(JSON.stringify(toolArgs)) as JsonValue });
    });
  }

  /** With `uiTrees: "stored"`, a dump of a screen cut to the limits; else nothing, and the result stays as it is. */
  async afterToolCallback({
    tool,
    result,
  }: {
    tool: AdkTool;
    toolArgs: Record<string, unknown>;
    toolContext: AdkContext;
    result: Record<string, unknown>;
  }): Promise<Record<string, unknown> | undefined> {
    const { contextManager, uiTrees } = this.#options;
    if (!contextManager || uiTrees !== "stored" || typeof result !== "object" || result === null) return undefined;
    const given = result as JsonObject;
    const limited = contextManager.compressResult(tool.name, given);
    return limited === given ? undefined : { ...limited };
  }

  /** Journals an event before ADK hands it on, unless a session service of {@link createSessionService} does. */
  async onEventCallback({
    invocationContext,
    event,
  }: {
    invocationContext: AdkInvocation;
    event: AdkEvent;
  }): Promise<undefined> {
    if (event.partial === true) return;
    this.#feed([...invocationContext.session.events, event]);
    await this.#quietly(async () => {
      const log = await this.#log(invocationContext);
      if (log && !log.served) await log.sync([event]);
    });
  }

  /** Journals what the user said, once ADK has it. */
  async beforeRunCallback({ invocationContext }: { invocationContext: AdkInvocation }): Promise<undefined> {
    this.#feed(invocationContext.session.events);
    await this.#quietly(async () => {
      await this.#log(invocationContext);
    });
  }

  /** Nothing. */
  async onUserMessageCallback(_given: object): Promise<undefined> {}
  /** Nothing. */
  async afterRunCallback(_given: object): Promise<void> {}
  /** Nothing. */
  async beforeAgentCallback(_given: object): Promise<undefined> {}
  /** Nothing. */
  async afterAgentCallback(_given: object): Promise<undefined> {}
  /** Nothing. */
  async beforeNodeCallback(_given: object): Promise<undefined> {}
  /** Nothing. */
  async afterNodeCallback(_given: object): Promise<undefined> {}
  /** Nothing. */
  async onModelErrorCallback(_given: object): Promise<undefined> {}
  /** Nothing. */
  async beforeToolSelection(_given: object): Promise<undefined> {}
  /** Nothing. */
  async beforeContextCompaction(_given: object): Promise<void> {}
  /** Nothing. */
  async afterContextCompaction(_given: object): Promise<void> {}
  /** Nothing. */
  async onToolErrorCallback(_given: object): Promise<undefined> {}

  /**
   * Brings back what left a window, for the agent that asks. {@link recallTool} makes a tool of it.
   *
   * @param options - `maxTokens` defaults to 4,000
   * @throws WindrowError `not-found`, `bad-option`
   */
  async recall(
    query: RecallQuery,
    invocation: AdkInvocation,
    options: { readonly maxTokens?: number } = {},
  ): Promise<Recalled> {
    const view = this.#view(invocation);
    const log = view.history ? undefined : await this.#log(invocation);
    const numbered = new Numbered(log?.session);
    const { history } = view;
    if (history) numbered.fromHistory(() => history);
    return numbered.recall(query, { ...options, counter: this.#counter });
  }

  get #counter(): TokenCounter {
    return this.#options.counter ?? this.#options.contextManager?.counter ?? estimate;
  }

  async #log({ session }: AdkInvocation): Promise<AdkLog | undefined> {
    const { appName, userId, id: sessionId } = session;
    const log = await this.#logs?.log({ appName, userId, sessionId }, true);
    await log?.sync(session.events);
    return log;
  }

  async #fromLog(
    log: AdkLog,
    invocation: AdkInvocation,
    request: AdkRequest,
    view: View,
  ): Promise<AdkWindow | undefined> {
    const { contextManager, budget } = this.#options;
    const snapshot = contextManager?.getContextSnapshot();
    const { current } = log.session.snapshot;
    if (!snapshot && current) contextManager?.updateSnapshot(current);
    if (snapshot && JSON.stringify(snapshot) !== JSON.stringify(current)) {
      await log.session.snapshot.update(snapshot);
    }
    const most = budget ?? log.session.settings.budget ?? this.#defaultBudget(request);
    const { events } = invocation.session;
    if (!view.replaced && isReplaced(log, events)) {
      view.replaced = true;
      const at = events.findIndex((event, index) => event.id !== log.events[index]?.id);
      this.#teller.tell({ type: "history-replaced", adapter: "adk", at: at === -1 ? events.length : at });
    }
    const window = await logWindow(log, events, request, most);
    if (window) delete view.history;
    return window;
  }

  #alone(request: AdkRequest, view: View, log: AdkLog | undefined): AdkWindow {
    const { contextManager, budget, ...options } = this.#options;
    const settings = log?.session.settings;
    const snapshot = contextManager?.getContextSnapshot();
    const pinned: readonly PinnedBlock[] = snapshot ? [{ id: "snapshot", text: renderSnapshot(snapshot) }] : [];
    const own: Omit<ComposeInput, "messages"> = {
      budget: budget ?? settings?.budget ?? this.#defaultBudget(request) ?? NaN,
      strategy: settings?.strategy ?? options.strategy ?? contextManager?.strategy ?? "adaptive",
      counter: settings?.counter ?? this.#counter,
      profile: settings?.profile ?? gemini,
      pinned,
      ...(view.state && { state: view.state }),
      ...(settings && { mask: settings.mask }),
    };
    const window = requestWindow(request, own, settings);
    view.state = window.state;
    view.history = window.history;
    return window;
  }

  /** Seed 000 counts messages: without a known model it has no limit in tokens. */
  #defaultBudget(request: AdkRequest): number | undefined {
    return requestBudget(request) ?? (this.#options.contextManager ? Infinity : undefined);
  }

  #feed(events: readonly AdkEvent[]): void {
    const { contextManager } = this.#options;
    if (!contextManager) return;
    for (const event of events) {
      if (event.partial === true || this.#fed.has(event)) continue;
      this.#fed.add(event);
      if (isShown(event) && event.content) contextManager.addMessage(asRequested(event.content));
    }
  }

  #view({ session, agent, branch }: AdkInvocation): View {
    const name = JSON.stringify([session.appName, session.userId, session.id, agent?.name, branch]);
    let view = this.#views.get(name);
    if (!view) this.#views.set(name, (view = { replaced: false }));
    return view;
  }

  /** Runs work whose failure is told and goes no further. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#teller.failed(error);
    }
  }
}
