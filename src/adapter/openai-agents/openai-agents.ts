/**
 * The OpenAI Agents SDK (`@openai/agents` 0.20): a `Session` in Windrow's log, a `callModelInputFilter` that journals
 * during the run and sends windows, and the options of a recall tool. The SDK itself is never imported.
 */
import { WindrowError } from "../../errors.ts";
import type { Message, ToolDefinition } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { ModelDescription } from "../../tokens/models.ts";
import { checkGiven, listOf, withTexts } from "../../window/options.ts";
import type { Budget, Kind } from "../../window/options.ts";
import { HostConversation } from "../host/conversation.ts";
import type { HostCall } from "../host/conversation.ts";
import type { AdapterListener } from "../host/events.ts";
import { asSession } from "../host/given-session.ts";
import type { HostLog } from "../host/journal.ts";
import { recallTool } from "../host/recall-tool.ts";
import { windowKinds } from "../host/window-options.ts";
import { toolCallOf, toolsOf, usageOf } from "./events.ts";
import { AgentHistory, plainItem } from "./history.ts";
import { printOf } from "../host/prints.ts";
import { groupItems, openaiAgentsAdapter } from "./item.ts";
import type { AgentItem, AgentItems } from "./item.ts";
import { agentsToolOptions } from "./tools.ts";
import type { AgentsToolOptions } from "./tools.ts";

export { agentsMemoryTools } from "./tools.ts";
export type { AgentsToolOptions } from "./tools.ts";
export { groupItems, openaiAgentsAdapter } from "./item.ts";
export type { AgentItem, AgentItems } from "./item.ts";

/** How an {@link AgentsSession} makes windows. */
export interface AgentsSessionOptions {
  /**
   * Tokens a request may use, system and tools included. Default: from `model`, the session's, or the agent's model.
   */
  readonly budget?: Budget;
  /** A known model's id or a description; sets the budget. */
  readonly model?: string | ModelDescription;
  /** Tools that are counted, never sent. Default: the agent's own; not its handoffs and those of MCP servers. */
  readonly tools?: readonly ToolDefinition[];
  /** Receives failures, replaced histories and windows. */
  readonly on?: AdapterListener;
}

const sessionKinds = {
  budget: windowKinds.budget,
  model: windowKinds.model,
  tools: listOf(withTexts("name")),
  on: windowKinds.on,
} as const satisfies Record<keyof AgentsSessionOptions, Kind>;

/** The data that a `callModelInputFilter` receives, and returns with another input. */
interface ModelInput {
  readonly input: AgentItem[];
  readonly instructions?: string | undefined;
}

/** The fields that are read of an agent. */
interface AgentLike {
  readonly model?: unknown;
  readonly tools?: readonly unknown[];
}

/** A `Runner` or an `Agent`: what tells of its tools. */
interface AgentEvents {
  on(type: "agent_tool_start" | "agent_tool_end", listener: (...given: unknown[]) => void): unknown;
  off(type: "agent_tool_start" | "agent_tool_end", listener: (...given: unknown[]) => void): unknown;
}

/** A change of a history under an id, as the SDK describes it. */
type HistoryTransaction =
  | { readonly type: "append_items"; readonly items: readonly AgentItem[] }
  | {
      readonly type: "replace_suffix";
      readonly expectedSuffix: readonly AgentItem[];
      readonly replacement: readonly AgentItem[];
    };

/**
 * A Windrow session as the SDK's `Session`. Its items are the log's; items that the host pops, clears or replaces stay in
 * the log under a record that says so. `filter` is a `callModelInputFilter`: it journals the model's input and answers with
 * the window for that call. A store that cannot be written never breaks a run: `adapter-failed` is sent once, the host goes
 * on with its own items, and the next write also writes what is missing.
 *
 * @example
 * const history = new AgentsSession(session);
 * const runner = new Runner({ callModelInputFilter: history.filter });
 * await runner.run(agent, "Fix the bug", { session: history });
 */
export class AgentsSession {
  /** The session behind it. */
  readonly session: Session;
  /** Tells the SDK to hand over its run context: what the last model call used is in it. */
  readonly acceptsRunContext = true;
  readonly #history: AgentHistory;
  readonly #options: AgentsSessionOptions;
  readonly #conversation: HostConversation<AgentItems>;
  readonly #log: HostLog<AgentItems>;
  /** Fingerprints of items that Windrow itself wrote into windows; they are none of the host's. */
  readonly #own = new Set<number>();
  readonly #calls = new WeakMap<object, number>();

  /** @throws WindrowError `bad-option` */
  constructor(session: Session, options: AgentsSessionOptions = {}) {
    checkGiven("AgentsSession", options, sessionKinds);
    this.session = asSession(session, "AgentsSession");
    this.#history = new AgentHistory(session);
    this.#options = options;
    const { secretRules } = session.settings;
    this.#conversation = new HostConversation({ adapter: openaiAgentsAdapter }, options, { session, secretRules });
    this.#log = {
      session,
      hostOf: () => undefined,
      match: async (groups) => {
        await this.#history.load();
        const brokenAt = this.#history.see(groups.flat());
        await this.#history.flush();
        if (brokenAt !== undefined) return { isLog: false, brokenAt };
        return this.#history.isCut ? { isLog: false, history: this.#history.messages() } : { isLog: true };
      },
    };
  }

  /** The session's id. */
  async getSessionId(): Promise<string> {
    return this.session.id;
  }

  /**
   * The history, oldest first: all of it, or the newest `limit` items.
   *
   * @throws WindrowError `closed`, `store-unavailable` where the log cannot be read: no run begins without its history
   */
  async getItems<Item extends AgentItem>(limit?: number): Promise<Item[]> {
    await this.#history.load();
    const { items } = this.#history;
    const newest = limit === undefined ? items : items.slice(Math.max(0, items.length - Math.max(0, limit)));
    return structuredClone(newest) as Item[];
  }

  /** Adds what the log lacks of these items: the filter has mostly journalled them already. */
  addItems(items: readonly AgentItem[], runContext?: unknown): Promise<void> {
    return this.#change(() => this.#history.add(items, this.#own), runContext);
  }

  /** Takes the newest item off the history. The log keeps it. */
  async popItem<Item extends AgentItem>(): Promise<Item | undefined> {
    let popped: AgentItem | undefined;
    await this.#change(() => {
      const { items } = this.#history;
      popped = items.at(-1);
      if (popped) this.#history.replace(items.length - 1, []);
    });
    return popped as Item | undefined;
  }

  /** Begins the history anew. The log keeps all of it. */
  clearSession(): Promise<void> {
    return this.#change(() => this.#history.replace(0, []));
  }

  /** Puts a compaction and what it retains in the place of the history. The log keeps all of it. */
  replaceHistoryWithCompaction(items: readonly AgentItem[]): Promise<void> {
    return this.#change(() => this.#history.replace(0, items));
  }

  /** Puts other calls in the place of calls of the history, as when a person approved other arguments. */
  applyHistoryMutations(args: {
    readonly mutations: readonly { readonly callId: string; readonly replacement: AgentItem }[];
  }): Promise<void> {
    return this.#change(() => {
      const { items } = this.#history;
      const isOf = (item: AgentItem, callId: string): boolean =>
        item.type === "function_call" && (item as { readonly callId?: unknown }).callId === callId;
      const changed = args.mutations.reduce<readonly AgentItem[]>((before, { callId, replacement }) => {
        const first = before.findIndex((item) => isOf(item, callId));
        return before.flatMap((item, index) => (isOf(item, callId) ? (index === first ? [replacement] : []) : [item]));
      }, items);
      const kept = changed.findIndex((item, index) => item !== items[index]);
      if (kept !== -1) this.#history.replace(kept, changed.slice(kept));
    });
  }

  /**
   * Changes the history at once, and only once for an id.
   *
   * @throws WindrowError `bad-option` for an id that was used for another change, or a suffix that is not there
   */
  applyHistoryTransaction(args: {
    readonly operationId: string;
    readonly transaction: HistoryTransaction;
  }): Promise<void> {
    return this.#change(() => {
      const { operationId, transaction } = args;
      const said = printOf(transaction);
      const before = this.#history.operation(operationId);
      if (before === said) return;
      if (before !== undefined) throw refused("the operation was applied with another transaction");
      if (transaction.type === "append_items") {
        this.#history.append(transaction.items, this.#own, operationId, said);
        return;
      }
      const { expectedSuffix, replacement } = transaction;
      const kept = this.#history.items.length - expectedSuffix.length;
      const suffix = kept < 0 ? [] : this.#history.items.slice(kept).map((item) => this.#history.print(item));
      const expected = expectedSuffix.map((item) => this.#history.print(plainItem(item)));
      if (kept < 0 || suffix.some((print, index) => print !== expected[index])) {
        throw refused("the history does not end with the expected items");
      }
      this.#history.replace(kept, replacement, operationId, said);
    });
  }

  /**
   * For `callModelInputFilter`, of a `Runner` or of one run: journals what the log lacks, then answers with the window.
   * Never throws or rejects: on any failure the host's own input goes to the model, and one `adapter-failed` is told.
   */
  readonly filter = async <Data extends ModelInput>(args: {
    readonly modelData: Data;
    readonly agent: AgentLike;
  }): Promise<Data> => {
    const { modelData, agent } = args;
    const sent = await this.#conversation.window(() => this.#call(modelData, agent));
    return sent ? { ...modelData, input: [...sent.messages] } : modelData;
  };

  /**
   * Journals tool starts and what each model call used, from a `Runner` (or an `Agent`).
   *
   * @returns ends it
   */
  watch(events: AgentEvents): () => void {
    const { writer } = this.#history;
    const started = (...given: readonly unknown[]): void => {
      const call = toolCallOf(given);
      void this.#conversation.attempt(() => writer.inTurn(() => this.#used(given[0])));
      if (call) void this.#conversation.attempt(() => writer.startTool(call));
    };
    const ended = (...given: readonly unknown[]): void => writer.endTool(toolCallOf(given)?.callId ?? "");
    events.on("agent_tool_start", started);
    events.on("agent_tool_end", ended);
    return () => {
      events.off("agent_tool_start", started);
      events.off("agent_tool_end", ended);
    };
  }

  /** Options for the SDK's `tool()`: a tool that brings back what left the window, by id, range or words. */
  recallTool(): AgentsToolOptions {
    return agentsToolOptions(recallTool((query) => this.#conversation.recall(query)));
  }

  async #change(work: () => void, runContext?: unknown): Promise<void> {
    await this.#history.load();
    work();
    try {
      await this.#history.flush();
      await this.#history.writer.inTurn(() => this.#used(runContext));
      this.#conversation.teller.succeeded();
    } catch (error) {
      this.#conversation.teller.failed(error);
    }
  }

  /** Records the model calls of a run that were not recorded yet. */
  async #used(context: unknown): Promise<void> {
    const { usage } = (context ?? {}) as { readonly usage?: { readonly requestUsageEntries?: readonly unknown[] } };
    if (!usage) return;
    const entries = usage.requestUsageEntries ?? [];
    const from = this.#calls.get(usage) ?? 0;
    this.#calls.set(usage, entries.length);
    for (const entry of entries.slice(from)) await this.session.endStep({ usage: usageOf(entry) });
  }

  #call<Item extends AgentItem>(
    { input, instructions }: { readonly input: readonly Item[]; readonly instructions?: string | undefined },
    agent: AgentLike,
  ): HostCall<AgentItems, Item> {
    const tools = this.#options.tools ?? toolsOf(agent.tools ?? []);
    return {
      messages: groupItems(input.map(plainItem)),
      log: this.#log,
      model: typeof agent.model === "string" ? agent.model : undefined,
      ...(instructions && { system: instructions }),
      ...(tools.length > 0 && { tools }),
      encode: (messages) => this.#written(messages, input),
    };
  }

  /** The window as items: the host's very objects where nothing of them changed. */
  #written<Item extends AgentItem>(messages: readonly Message[], input: readonly Item[]): Item[] {
    const given = new Map<number, Item[]>();
    for (const item of input) {
      const print = printOf(plainItem(item));
      const same = given.get(print);
      if (same) same.push(item);
      else given.set(print, [item]);
    }
    return openaiAgentsAdapter.encode(messages).flatMap((group) =>
      group.map((item) => {
        const print = printOf(plainItem(item));
        const own = given.get(print)?.shift();
        if (!own) this.#own.add(print);
        // Ids that the host takes off when it stores an item: with them the next run would send other bytes.
        return (own && printOf(own) === print ? own : item) as Item;
      }),
    );
  }
}

function refused(why: string): WindrowError {
  return new WindrowError("bad-option", `The history was not changed: ${why}.`);
}
