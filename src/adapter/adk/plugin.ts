/** A plug-in for ADK's Runner that sends windows, journals what happens, and counts what it costs. */
import { WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { renderSnapshot } from "../../session/state/snapshot.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { checkCounterName } from "../../tokens/counters.ts";
import { gemini } from "../../window/provider/profile.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import { strategyOf } from "../../window/by-name.ts";
import { anyOf, checkGiven, kinds, oneOf, withActions } from "../../window/options.ts";
import type { Budget, Kind } from "../../window/options.ts";
import type { Strategy, StrategyChoice } from "../../window/window.ts";
import { geminiAdapter } from "../gemini/gemini.ts";
import type { GeminiContent } from "../../shape/gemini/gemini.ts";
import { HostConversation } from "../host/conversation.ts";
import { statsListener, Teller } from "../host/events.ts";
import type { AdapterListener } from "../host/events.ts";
import { usageBy } from "../host/usage.ts";
import { statsKinds } from "../../session/stats-line.ts";
import type { StatsLineOptions } from "../../session/stats-line.ts";
import { PluginBase } from "./callbacks.ts";
import type { ContextManager } from "./context.ts";
import { asRequested, isShown } from "./event.ts";
import { adkLogs } from "./log.ts";
import type { AdkLog, AdkLogs } from "./log.ts";
import type { AdkContext, AdkEvent, AdkInvocation, AdkRequest, AdkResponse, AdkSession } from "./types.ts";
import { adkCall } from "./window.ts";

/** How {@link ContextManagementPlugin} makes windows. */
export interface ContextManagementOptions extends StatsLineOptions {
  /** Keeps a log of every session of ADK, and makes windows from it. Default: none; windows are made of requests alone. */
  readonly manager?: SessionManager;
  /** Receives every message; its snapshot stands in every window, and its strategy is the default. */
  readonly contextManager?: ContextManager;
  /** Tokens a request may use. Default: the manager's, else from the request's model. */
  readonly budget?: Budget;
  /** A name, a preset, `{ use, ...options }`, or a Strategy. Default: `contextManager`'s, else `adaptive`. With a `manager` that one's. */
  readonly strategy?: string | Strategy | StrategyChoice;
  /**
   * An object or a name; `o200k` and `cl100k` are loaded. Default: `contextManager`'s, else the strategy's, else `estimate`.
   * With a `manager` that one's.
   */
  readonly counter?: string | TokenCounter;
  /**
   * The place where dumps of screens shrink, with a `contextManager`: in the `window` alone (default), or before they
   * are `stored` too: ADK's own history then holds them cut.
   */
  readonly uiTrees?: "window" | "stored";
  /** Receives failures, replaced histories and windows. */
  readonly on?: AdapterListener;
}

const pluginKinds = {
  ...statsKinds,
  manager: withActions("create", "resume"),
  contextManager: withActions("addMessage", "getMessages"),
  // A budget has a check of its own.
  budget: kinds.any,
  strategy: anyOf(kinds.text, kinds.object),
  counter: anyOf(kinds.text, kinds.counter),
  uiTrees: oneOf("window", "stored"),
  on: kinds.action,
} as const satisfies Record<keyof ContextManagementOptions, Kind>;

const usageNames = {
  input: "promptTokenCount",
  output: "output",
  cacheRead: "cachedContentTokenCount",
  reasoning: "thoughtsTokenCount",
};

interface ModelStart {
  readonly callbackContext: AdkContext;
  readonly llmRequest: AdkRequest;
}

interface ModelEnd {
  readonly callbackContext: AdkContext;
  readonly llmResponse: AdkResponse;
}

interface ToolRun {
  readonly tool: { readonly name: string };
  readonly toolArgs: Record<string, unknown>;
  readonly toolContext: AdkContext;
}

interface ToolEnd extends ToolRun {
  readonly result: Record<string, unknown>;
}

interface RunEvent {
  readonly invocationContext: AdkInvocation;
  readonly event: AdkEvent;
}

/** One agent's view of one session. */
interface View {
  readonly session: Session | undefined;
  readonly conversation: HostConversation<GeminiContent>;
}

/**
 * A plug-in of ADK by its shape: `new Runner({ plugins: [new ContextManagementPlugin({ manager })], … })`. No callback
 * throws or answers in ADK's place; whatever fails, ADK's own request goes out, and `adapter-failed` is sent once.
 *
 * Hooks of miki (docs/hosts/adk.md) are ADK's: `beforeModelRequest` is `beforeModelCallback`,
 * `afterModelResponse` is `afterModelCallback` (its usage) and `onEventCallback` (the message), `afterFunctionExecution` is
 * `afterToolCallback`.
 */
export class ContextManagementPlugin extends PluginBase {
  readonly name: string = "windrow";
  readonly #options: ContextManagementOptions;
  readonly #logs: AdkLogs | undefined;
  readonly #teller: Teller;
  readonly #views = new Map<string, View>();
  /** The events that the `contextManager` has, by session and id: ADK hands out other objects in every run. */
  readonly #fed = new Set<string>();

  /** @throws WindrowError `unknown-strategy`, `unknown-counter`, `bad-option`: also for what has no effect beside a `manager` */
  constructor(options: ContextManagementOptions = {}) {
    super();
    checkGiven("ContextManagementPlugin", options, pluginKinds);
    const { strategy, manager } = options;
    const set = (["strategy", "counter"] as const).find((name) => options[name] !== undefined);
    if (manager && set !== undefined) {
      const message = `\`${set}\` has no effect beside a \`manager\`: give it to \`SessionManager.open\`.`;
      throw new WindrowError("bad-option", message, { option: set });
    }
    checkCounterName(options.counter);
    this.#options = { ...options, ...(strategy !== undefined && { strategy: strategyOf(strategy) }) };
    this.#logs = options.manager && adkLogs(options.manager);
    this.#teller = this.#logs?.teller ?? new Teller("adk");
    this.#teller.add(options.on);
    this.#teller.add(statsListener(options));
  }

  /** Tool calls that failed one after the other, by the `contextManager`. */
  get consecutiveFailures(): number {
    return this.#options.contextManager?.consecutiveFailures ?? 0;
  }

  /** Puts the window into the request. ADK's session keeps every event; the request is ADK's copy. */
  async beforeModelCallback({ callbackContext, llmRequest }: ModelStart): Promise<undefined> {
    const { invocationContext } = callbackContext;
    await this.#quietly(invocationContext, async (log) => {
      await this.#keepSnapshot(log?.session);
      const { contextManager } = this.#options;
      const snapshot = contextManager?.getContextSnapshot();
      const sent = await this.#conversation(invocationContext, log).window(() => {
        const call = adkCall(llmRequest, invocationContext.session.events, log);
        return {
          ...call,
          // Preset miki counts messages: without a known model it has no limit in tokens.
          model: call.model ?? (contextManager ? { contextWindow: Infinity } : undefined),
          ...(snapshot && { pinned: [{ id: "snapshot", text: renderSnapshot(snapshot) }] }),
        };
      });
      if (sent) llmRequest.contents = [...sent.messages];
    });
  }

  /** Records what the call used. */
  async afterModelCallback({ callbackContext, llmResponse }: ModelEnd): Promise<undefined> {
    const { usageMetadata: used, partial, modelVersion: model } = llmResponse;
    if (!used || partial === true) return;
    const output = (used.candidatesTokenCount ?? 0) + (used.thoughtsTokenCount ?? 0);
    const counts = usageBy({ ...used, output }, usageNames) ?? {};
    await this.#quietly(callbackContext.invocationContext, (log) =>
      log?.session.endStep({ usage: counts, ...(model !== undefined && { model }) }),
    );
  }

  /** Records that a tool is about to run: after a crash `session.inDoubt()` names it. */
  async beforeToolCallback({ tool, toolArgs: args, toolContext }: ToolRun): Promise<undefined> {
    const { functionCallId: callId, invocationContext } = toolContext;
    if (callId === undefined) return;
    await this.#quietly(invocationContext, (log) => log?.writer.startTool({ callId, name: tool.name, args }));
  }

  /** With `uiTrees: "stored"`, a dump of a screen cut to the limits; else nothing, and the result stays as it is. */
  async afterToolCallback({ tool, result }: ToolEnd): Promise<Record<string, unknown> | undefined> {
    const { contextManager, uiTrees } = this.#options;
    if (!contextManager || uiTrees !== "stored" || typeof result !== "object" || result === null) return undefined;
    const given = result as JsonObject;
    const limited = contextManager.compressResult(tool.name, given);
    return limited === given ? undefined : { ...limited };
  }

  /** Journals an event before ADK hands it on, unless a session service of {@link createSessionService} does. */
  async onEventCallback({ invocationContext, event }: RunEvent): Promise<undefined> {
    if (event.partial === true) return;
    this.#feed(invocationContext.session, event);
    await this.#quietly(invocationContext, (log) => (log?.served === false ? log.sync([event]) : undefined));
  }

  /** Journals what the user said, once ADK has it. */
  async beforeRunCallback({ invocationContext }: Pick<RunEvent, "invocationContext">): Promise<undefined> {
    this.#feed(invocationContext.session);
    await this.#quietly(invocationContext, () => undefined);
  }

  /**
   * Brings back what left a window, for the agent that asks. {@link recallTool} makes a tool of it.
   *
   * @param options - `maxTokens` defaults to an eighth of the budget, and to 4,000 at most
   * @throws WindrowError `not-found`, `bad-option`
   */
  async recall(
    query: RecallQuery,
    invocation: AdkInvocation,
    options: { readonly maxTokens?: number } = {},
  ): Promise<Recalled> {
    const log = await this.#log(invocation);
    return this.#conversation(invocation, log).recall(query, options);
  }

  async #log({ session }: AdkInvocation): Promise<AdkLog | undefined> {
    const { appName, userId, id: sessionId } = session;
    const log = await this.#logs?.log({ appName, userId, sessionId }, true);
    await log?.sync(session.events);
    return log;
  }

  /** Carries the snapshot from the `contextManager` to the session, and after a resume the other way. */
  async #keepSnapshot(session: Session | undefined): Promise<void> {
    const { contextManager } = this.#options;
    const snapshot = contextManager?.getContextSnapshot();
    const logged = session?.snapshot.current;
    if (!snapshot && logged) contextManager?.updateSnapshot(logged);
    if (snapshot && JSON.stringify(snapshot) !== JSON.stringify(logged)) await session?.snapshot.update(snapshot);
  }

  #feed({ appName, userId, id, events }: AdkSession, ...more: readonly AdkEvent[]): void {
    const { contextManager } = this.#options;
    if (!contextManager) return;
    for (const event of [...events, ...more]) {
      const name = JSON.stringify([appName, userId, id, event.id]);
      if (event.partial === true || this.#fed.has(name)) continue;
      this.#fed.add(name);
      if (isShown(event) && event.content) contextManager.addMessage(asRequested(event.content));
    }
  }

  /** The windows of one agent over one session. */
  #conversation(invocation: AdkInvocation, log: AdkLog | undefined): HostConversation<GeminiContent> {
    const { appName, userId, id } = invocation.session;
    const name = JSON.stringify([appName, userId, id, invocation.agent?.name, invocation.branch]);
    const known = this.#views.get(name);
    if (known && known.session === log?.session) return known.conversation;
    const { budget, contextManager, strategy = contextManager?.strategy } = this.#options;
    const { counter = contextManager?.counter } = this.#options;
    const conversation = new HostConversation<GeminiContent>(
      // Agents see different parts of one session; none of them replaces another's.
      { adapter: geminiAdapter, profile: gemini, isShared: true },
      { ...(budget !== undefined && { budget }), ...(strategy && { strategy }), ...(counter && { counter }) },
      { teller: this.#teller, session: log?.session },
    );
    this.#views.set(name, { session: log?.session, conversation });
    return conversation;
  }

  /** Does work on the log of an invocation; a failure is reported as `adapter-failed` and not thrown. */
  async #quietly(
    invocation: AdkInvocation,
    work: (log: AdkLog | undefined) => Promise<unknown> | undefined,
  ): Promise<void> {
    try {
      await work(await this.#log(invocation));
    } catch (error) {
      this.#teller.failed(error);
    }
  }
}
