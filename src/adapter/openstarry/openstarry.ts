/**
 * OpenStarry's context manager (docs/presets.md): `composePayload` and `onTurnComplete` over a session, set up by the
 * `contextStrategy` of a plugin.json. Messages are chat-completions messages.
 */
import type { Model } from "../../model/model.ts";
import { SessionManager } from "../../session/manager/manager.ts";
import type { ManagerOptions } from "../../session/manager/options.ts";
import type { Session } from "../../session/session.ts";
import { loadStrategy } from "../../window/load-strategy.ts";
import type { ContextStrategyConfig, LoadOptions } from "../../window/load-strategy.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import type { RecallQuery } from "../../window/recall/query.ts";
import type { DynamicBlock, Report } from "../../window/window.ts";
import { chatAdapter } from "../chat/chat.ts";
import type { ChatMessage } from "../chat/chat.ts";
import { HostConversation } from "../host/conversation.ts";
import type { HostCall, WindowOptions } from "../host/conversation.ts";
import { recallTool } from "../host/recall-tool.ts";
import { windowKinds } from "../host/window-options.ts";
import type { RecallTool } from "../host/recall-tool.ts";
import { toolDefinition } from "../host/tool-definition.ts";

export type { ChatMessage } from "../chat/chat.ts";

/** A tool as an agent defines it; further fields are kept. */
interface OpenStarryTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema, under either name. */
  readonly parameters?: unknown;
  readonly inputSchema?: unknown;
}

/** The request that goes to the model. */
export interface LLMPayload {
  /** The system prompt first, byte for byte; then the window. */
  readonly messages: readonly ChatMessage[];
  /** The tools that were given: complete, in their order. */
  readonly tools: readonly OpenStarryTool[];
  /** Tokens of the whole payload, within the budget. */
  readonly tokens: number;
  /** The report of the window: what was done, and why. */
  readonly report: Report;
}

/** OpenStarry's interface, as every strategy meets it. */
export interface IContextManager {
  /**
   * The payload for the next call.
   *
   * @param history - all of it, as it came; never changed
   * @param ragContext - what was retrieved for this call
   * @throws WindrowError `over-budget` or `budget-too-small` with the size of each block: system and tools never leave
   */
  composePayload(
    systemPrompt: string,
    history: readonly ChatMessage[],
    tools: readonly OpenStarryTool[],
    ragContext?: string,
  ): Promise<LLMPayload>;
  /**
   * After every turn: journals it, and lets the strategy summarise in the background. Never throws.
   *
   * @param newHistory - all of it, the turn included
   */
  onTurnComplete(newHistory: readonly ChatMessage[]): Promise<void>;
}

/** A plugin.json, as far as it is read here. */
export interface OpenStarryPlugin extends Partial<ContextStrategyConfig> {
  /** The agent's id: the session's task key. */
  readonly id?: string;
}

/** Options of {@link ContextManager}. */
interface ContextManagerOptions extends WindowOptions {
  /**
   * Sends retrieved text as it is, in the user's voice. Default false: quoted, under a line that says it is a record and no
   * instruction.
   */
  readonly literalRag?: boolean;
}

/** How {@link openContextManager} opens a session. */
export interface OpenContextManagerOptions
  extends ManagerOptions, Pick<LoadOptions, "from" | "importModule">, Pick<ContextManagerOptions, "literalRag"> {
  /** The model that `config.compressionModel` names; becomes the session's summarizer where no other is given. */
  readonly modelFor?: (compressionModel: string) => Model;
}

const host = { adapter: chatAdapter };

/** {@link IContextManager} over one session, or without one. */
export class ContextManager implements IContextManager {
  readonly #conversation: HostConversation<ChatMessage>;
  readonly #literalRag: boolean;

  /**
   * @param session - keeps the history, the summaries and the state; without one, windows are all there is
   * @throws WindrowError `bad-option`, `unknown-strategy`
   */
  constructor(session?: Session, given: ContextManagerOptions = {}) {
    checkGiven("ContextManager", given, { ...windowKinds, literalRag: kinds.flag });
    const { literalRag = false, ...options } = given;
    this.#literalRag = literalRag;
    this.#conversation = new HostConversation(host, { ...options, session });
  }

  /** See {@link IContextManager.composePayload}. A store that fails is told of, and the payload made without it. */
  async composePayload(
    systemPrompt: string,
    history: readonly ChatMessage[],
    tools: readonly OpenStarryTool[],
    ragContext?: string,
  ): Promise<LLMPayload> {
    const call: HostCall<ChatMessage> = {
      messages: history,
      ...(systemPrompt !== "" && { system: systemPrompt }),
      tools: tools.map(({ name, description, parameters, inputSchema }) =>
        toolDefinition(name, description, parameters ?? inputSchema),
      ),
      ...(ragContext !== undefined && ragContext !== "" && { dynamic: [this.#retrieved(ragContext)] }),
    };
    const { composed, messages } = (await this.#conversation.window(call)) ?? this.#conversation.alone(call);
    const system = systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt }];
    return { messages: [...system, ...messages], tools, tokens: composed.tokens, report: composed.report };
  }

  #retrieved(text: string): DynamicBlock {
    return { name: "rag", text, ...(this.#literalRag && { literal: true }) };
  }

  /** See {@link IContextManager.onTurnComplete}. */
  async onTurnComplete(newHistory: readonly ChatMessage[]): Promise<void> {
    await this.#conversation.record(newHistory);
    await this.#conversation.endStep();
  }

  /** Brings back messages that left the payload: the answer of {@link ContextManager.recallTool}. Never rejects. */
  recall(query: RecallQuery): Promise<string> {
    return this.recallTool.execute(query);
  }

  /** A tool with which the model brings back what left the payload, by the id that a note names or by words. */
  get recallTool(): RecallTool {
    return recallTool((query) => this.#conversation.recall(query));
  }
}

/** The result of {@link openContextManager}. */
export interface OpenedContext {
  readonly context: ContextManager;
  readonly session: Session;
  /** Close it when the program ends. */
  readonly manager: SessionManager;
}

/**
 * A context manager as a plugin.json sets it up: `pluginId` is a strategy's name, one of OpenStarry's ids
 * (`std-sliding-window-strategy`, `std-summarization-strategy`, `std-entity-extraction-strategy`) or a module, `config` its
 * options. Without a `contextStrategy` it is the sliding window.
 *
 * @example
 * const { context } = await openContextManager(plugin, { store: "./contexts", budget: 32_000 });
 * const { messages } = await context.composePayload(systemPrompt, history, tools);
 *
 * @throws WindrowError `unknown-strategy`, `bad-option`, and as `SessionManager.open`
 */
export async function openContextManager(
  plugin: OpenStarryPlugin = {},
  { from, importModule, modelFor, literalRag = false, ...options }: OpenContextManagerOptions = {},
): Promise<OpenedContext> {
  const { id, contextStrategy } = plugin;
  const loading = { ...(from !== undefined && { from }), ...(importModule && { importModule }) };
  const strategy =
    options.strategy ?? (await loadStrategy(contextStrategy ? { contextStrategy } : "openstarry-sliding", loading));
  const named = contextStrategy?.config?.["compressionModel"];
  const summarizer = typeof named === "string" ? modelFor?.(named) : undefined;
  const manager = await SessionManager.open({ ...(summarizer && { summarizer }), ...options, strategy });
  const session = await manager.create(id === undefined ? {} : { taskKey: { id } });
  return { context: new ContextManager(session, { literalRag }), session, manager };
}
