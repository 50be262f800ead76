/**
 * The pi agent (`@mariozechner/pi-agent-core` 0.73, `@earendil-works/pi-agent-core` from 0.74 on): its messages in and
 * out, a `transformContext` that sends windows, and a journal that keeps a session in step. pi itself is never imported.
 */
import { WindrowError } from "../errors.ts";
import type { JsonValue, Message, ToolDefinition } from "../message/message.ts";
import type { Session } from "../session/session.ts";
import { estimate } from "../tokens/estimate.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { modelOf } from "../tokens/models.ts";
import type { ModelDescription } from "../tokens/models.ts";
import { budgetOf } from "../window/budget.ts";
import { composeWindow } from "../window/compose.ts";
import { pi as piProfile } from "../window/profile.ts";
import type { Profile } from "../window/profile.ts";
import type { Composed, Strategy, WindowState } from "../window/window.ts";
import type { Adapter } from "./adapter.ts";
import { journalOf, SeenHistory, Teller } from "./journal.ts";
import type { AdapterListener, HostJournal } from "./journal.ts";
import { fromPi, isCutOff, piUsage, toPi } from "./pi-message.ts";
import type { PiMessage } from "./pi-message.ts";

export type { AdapterEvent, AdapterListener } from "./journal.ts";
export type { PiMessage } from "./pi-message.ts";

/** A tool as pi declares it: the fields that are sent to the model. */
export interface PiTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly parameters?: unknown;
}

/** What is read of pi's `Agent`. */
export interface PiAgent {
  readonly state: {
    readonly messages: readonly PiMessage[];
    readonly systemPrompt?: string;
    readonly tools?: readonly PiTool[];
    /** Tokens; 0 where pi does not know them. */
    readonly model?: { readonly contextWindow?: number; readonly maxTokens?: number };
  };
  /** Calls the listener for every event and awaits it; returns what ends the subscription. */
  subscribe(listener: (event: PiAgentEvent) => Promise<void>): () => unknown;
}

/** What is read of pi's agent events. */
export interface PiAgentEvent {
  readonly type: string;
  readonly message?: PiMessage;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly args?: unknown;
}

/** How {@link createTransformContext} makes windows. */
export interface TransformContextOptions {
  /** Tokens a request may use. Default: from `model`, else the session's, else from the model the agent runs. */
  readonly budget?: number;
  /** A known model's id or a description; sets the budget. */
  readonly model?: string | ModelDescription;
  /** Composes from this session's log and appends what it lacks. Its manager then sets strategy, profile and counter. */
  readonly session?: Session;
  /**
   * The agent, for its system prompt, tools and model where pi passes these beside the messages (0.73). Default: the
   * one that was given to {@link journal} with the same session.
   */
  readonly agent?: PiAgent;
  /** The system prompt, where no `agent` tells it. Counted, never sent: pi sends it. */
  readonly system?: string;
  /** Tokens of a system prompt that is not at hand as text. Default 0. */
  readonly systemTokens?: number;
  /** The tools, where no `agent` tells them. Counted, never sent. */
  readonly tools?: readonly PiTool[];
  /** Default `adaptive`. Not with a session. */
  readonly strategy?: string | Strategy;
  /** Default `pi`. Not with a session. */
  readonly profile?: string | Profile;
  /** Default `estimate`. Not with a session. */
  readonly counter?: TokenCounter;
  /** Hears of failures, replaced histories and windows. */
  readonly on?: AdapterListener;
  /** Every how many windows a line `Context stats: 18 messages, ~4500 tokens` is logged (seed 000: 5). Default: never. */
  readonly debugEvery?: number;
  /** Takes the lines of `debugEvery`. Default: standard error. */
  readonly log?: (line: string) => void;
}

/** Decoded messages by the host's object, with the place they were decoded for. */
const decoded = new WeakMap<PiMessage, { readonly index: number; readonly message: Message }>();
const sources = new WeakMap<Message, PiMessage>();

/**
 * pi's messages in and out. Messages of a host application's own roles are carried whole. `encode` gives back the very
 * object `decode` was given for a message that nothing changed; after a resume, from disk, a deeply equal one. A message
 * object is taken to stay as it is once it was decoded.
 */
export const piAdapter: Adapter<PiMessage> = {
  name: "pi",
  decode(messages) {
    return messages.map((host, index) => {
      const known = typeof host === "object" && host !== null ? decoded.get(host) : undefined;
      if (known?.index === index) return known.message;
      const read = fromPi(host);
      if (!read) {
        throw new WindrowError("bad-message", `Message ${index} is no message of pi: it needs a role.`, { index });
      }
      const message: Message = { ...read, id: `m${index + 1}` };
      decoded.set(host, { index, message });
      sources.set(message, host);
      return message;
    });
  },
  encode(messages) {
    return messages.map((message) => sources.get(message) ?? toPi(message));
  },
};

const host = { adapter: piAdapter, optional: isCutOff };

/** The agent that journals into a session: it knows the system prompt and the tools. */
const agents = new WeakMap<Session, PiAgent>();

/**
 * Journals a run of pi into a session as it happens: every message when it ends, tool starts before the tool runs, and
 * what each model call used. Works beside `createTransformContext({ session })` without appending anything twice. A
 * store that fails never breaks the run: `adapter-failed` is told once, and what is missing is appended by the next
 * message that can be.
 *
 * @returns ends the journal; the session stays open
 */
export function journal(agent: PiAgent, session: Session, options: { readonly on?: AdapterListener } = {}): () => void {
  const log = journalOf(session, host);
  const starts = new Map<string, number>();
  log.teller.add(options.on);
  agents.set(session, agent);
  const unsubscribe = agent.subscribe(async (event) => {
    try {
      await record(agent, log, event, starts);
    } catch (error) {
      log.teller.failed(error);
    }
  });
  return () => {
    unsubscribe();
    if (agents.get(session) === agent) agents.delete(session);
  };
}

async function record(
  agent: PiAgent,
  log: HostJournal<PiMessage>,
  event: PiAgentEvent,
  starts: Map<string, number>,
): Promise<void> {
  const { toolCallId: callId, toolName: name, message } = event;
  switch (event.type) {
    case "message_end":
    case "agent_end":
      await log.sync(agent.state.messages);
      return log.teller.succeeded();
    case "tool_execution_start":
      if (callId === undefined || name === undefined) return;
      await log.startTool({ callId, name, args: JSON.parse(JSON.stringify(event.args ?? {})) as JsonValue });
      starts.set(callId, performance.now());
      return;
    case "tool_execution_end": {
      const started = starts.get(callId ?? "");
      if (callId !== undefined && started !== undefined) log.endTool(callId, performance.now() - started);
      starts.delete(callId ?? "");
      return;
    }
    case "turn_end": {
      const usage = message && piUsage(message);
      const { model } = (message ?? {}) as { readonly model?: unknown };
      if (usage) await log.session.endStep({ usage, ...(typeof model === "string" && { model }) });
    }
  }
}

/**
 * The messages a session's log holds, for `agent.state.messages` after a resume.
 *
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function piMessages<M extends PiMessage = PiMessage>(session: Session): Promise<M[]> {
  const messages: Message[] = [];
  for await (const message of session.messages()) messages.push(message);
  return [...piAdapter.encode(messages)] as M[];
}

/**
 * A `transformContext` for pi's `Agent`: what it returns is the window for one model call; the agent's own messages stay
 * as they are. Never throws or rejects: on any failure, or when the signal is aborted, the host gets its own array back
 * (and one `adapter-failed` event for a failure).
 *
 * @example
 * const agent = new Agent({ initialState, transformContext: createTransformContext({ budget: 60_000 }) });
 */
export function createTransformContext(
  options: TransformContextOptions = {},
): <M extends PiMessage>(messages: M[], signal?: AbortSignal) => Promise<M[]> {
  const { session, debugEvery, log = (line) => void process.stderr.write(`${line}\n`) } = options;
  const journalled = session && journalOf(session, host);
  const teller = journalled?.teller ?? new Teller("pi");
  teller.add(options.on);
  const seen = new SeenHistory();
  let state: WindowState | undefined;
  let replaced = false;
  let calls = 0;

  const composeLog = async (log: HostJournal<PiMessage>, messages: readonly PiMessage[]): Promise<Sent | undefined> => {
    const broken = await log.sync(messages);
    if (broken !== undefined && !replaced) {
      replaced = true;
      teller.tell({ type: "history-replaced", adapter: "pi", at: broken });
    }
    if (replaced) return undefined;
    const given = surroundings(options, messages);
    const budget = budgetFor(options, given.agent);
    const composed = await log.session.compose({ ...given.blocks, ...(budget !== undefined && { budget }) });
    return { composed, window: shown(composed).map((message) => log.hostOf(message) ?? toPi(message)) };
  };

  const composeAlone = (messages: readonly PiMessage[]): Sent => {
    const history = piAdapter.decode(messages);
    const broken = seen.see(history);
    if (broken !== undefined) {
      state = undefined;
      if (!replaced) teller.tell({ type: "history-replaced", adapter: "pi", at: broken });
    }
    const settings = session?.settings ?? { strategy: "adaptive", profile: piProfile, counter: estimate };
    const given = surroundings(options, messages);
    const composed = composeWindow({
      messages: history,
      ...given.blocks,
      budget: budgetFor(options, given.agent) ?? NaN,
      strategy: options.strategy ?? settings.strategy,
      profile: options.profile ?? settings.profile,
      counter: options.counter ?? settings.counter,
      state,
    });
    state = composed.state;
    return { composed, window: piAdapter.encode(shown(composed)) };
  };

  return async (messages, signal) => {
    if (signal?.aborted) return messages;
    try {
      const { composed, window } = (journalled && (await composeLog(journalled, messages))) ?? composeAlone(messages);
      if (signal?.aborted) return messages;
      const [fault] = composed.report.faults;
      if (fault) throw new WindrowError("bad-message", `The window breaks a rule: ${fault.message}.`, { fault });
      teller.succeeded();
      const own = new Set<PiMessage>(messages);
      const sent = window.filter((message) => !isCutOff(message) || own.has(message));
      teller.tell({ type: "window-sent", adapter: "pi", messages: sent.length, report: composed.report });
      if (debugEvery !== undefined && ++calls % debugEvery === 0) {
        log(`Context stats: ${sent.length} messages, ~${composed.tokens} tokens`);
      }
      return sent as typeof messages;
    } catch (error) {
      teller.failed(error);
      return messages;
    }
  };

  function budgetFor(given: TransformContextOptions, agent: PiAgent | undefined): number | undefined {
    const model = agent?.state.model;
    const described = given.model === undefined ? undefined : budgetOf(modelOf(given.model));
    const own = given.budget ?? described ?? session?.settings.budget;
    const budget =
      own ??
      (model?.contextWindow && model.maxTokens
        ? budgetOf({ contextWindow: model.contextWindow, maxOutput: model.maxTokens })
        : undefined);
    return budget === undefined ? undefined : budget - (given.systemTokens ?? 0);
  }
}

interface Sent {
  readonly composed: Composed;
  readonly window: readonly PiMessage[];
}

interface Surroundings {
  readonly agent: PiAgent | undefined;
  readonly blocks: { readonly system?: string; readonly tools?: readonly ToolDefinition[] };
}

/** What stands beside the messages. Since 0.86 it stands among them, as system messages, and is counted there. */
function surroundings(options: TransformContextOptions, messages: readonly PiMessage[]): Surroundings {
  const agent = options.agent ?? (options.session && agents.get(options.session));
  if (messages.some((message) => message.role === "system")) return { agent, blocks: {} };
  const system = options.system ?? agent?.state.systemPrompt ?? "";
  const tools = (options.tools ?? agent?.state.tools ?? []).map(
    ({ name, description, parameters }): ToolDefinition => ({
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { inputSchema: parameters as JsonValue }),
    }),
  );
  return { agent, blocks: { ...(system !== "" && { system }), ...(tools.length > 0 && { tools }) } };
}

/** The window without the system prompt that was only counted. */
function shown({ messages }: Composed): readonly Message[] {
  return messages.filter((message) => message.id !== "windrow:system");
}
