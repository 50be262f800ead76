/** Windows for pi's agent: of a session's log or of pi's own messages, within the budget of the model it runs. */
import { WindrowError } from "../../errors.ts";
import type { JsonValue, Message, ToolDefinition } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { estimate } from "../../tokens/estimate.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { modelOf } from "../../tokens/models.ts";
import type { ModelDescription } from "../../tokens/models.ts";
import { budgetOf } from "../../window/budget.ts";
import { composeWindow } from "../../window/compose.ts";
import { pi as piProfile } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { strategyOf } from "../../window/by-name.ts";
import type { StrategyChoice } from "../../window/by-name.ts";
import type { Composed, Strategy, WindowState } from "../../window/window.ts";
import { journalOf, SeenHistory, Teller } from "../host/journal.ts";
import type { AdapterListener, HostJournal } from "../host/journal.ts";
import { liveHistory } from "../host/live-history.ts";
import { agents, piAdapter, piHost } from "./host.ts";
import type { PiAgent, PiModel, PiTool } from "./host.ts";
import { isCutOff, toPi } from "./message.ts";
import type { PiMessage } from "./message.ts";

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
  /** A name, a preset, `{ use, ...options }`, or a Strategy. Default `adaptive`. Not with a session. */
  readonly strategy?: string | Strategy | StrategyChoice;
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

/** The window for one call of the host; its own array where that fails, was aborted, or nothing is known to fit it to. */
export type PiWindows = <M extends PiMessage>(
  messages: M[],
  call?: { readonly signal?: AbortSignal | undefined; readonly model?: PiModel },
) => Promise<M[]>;

/** Makes the windows of one agent. What it returns never throws or rejects. */
export function piWindows(options: TransformContextOptions): PiWindows {
  const { session, debugEvery, log = (line) => void process.stderr.write(`${line}\n`) } = options;
  const journalled = session && journalOf(session, piHost);
  const teller = journalled?.teller ?? new Teller("pi");
  teller.add(options.on);
  const seen = new SeenHistory();
  let state: WindowState | undefined;
  let replaced = false;
  let calls = 0;

  const composeLog = async (
    log: HostJournal<PiMessage>,
    messages: readonly PiMessage[],
    model: PiModel | undefined,
  ): Promise<Sent | undefined> => {
    const broken = await log.sync(messages);
    if (broken !== undefined && !replaced) {
      replaced = true;
      teller.tell({ type: "history-replaced", adapter: "pi", at: broken });
    }
    if (replaced) return undefined;
    log.numbered.fromLog();
    const { blocks, budget } = surroundings(options, messages, model);
    const composed = await log.session.compose({ ...blocks, ...(budget !== undefined && { budget }) });
    return { composed, window: shown(composed).map((message) => log.hostOf(message) ?? toPi(message)) };
  };

  const composeAlone = (messages: readonly PiMessage[], model: PiModel | undefined): Sent => {
    const given = piAdapter.decode(messages);
    const broken = seen.see(given);
    const history = liveHistory(session?.settings, given);
    if (broken !== undefined) {
      state = undefined;
      if (!replaced) teller.tell({ type: "history-replaced", adapter: "pi", at: broken });
    }
    journalled?.numbered.fromHistory(() => journalled.whole(given));
    const { blocks, budget = NaN } = surroundings(options, messages, model);
    const settings = session?.settings ?? { strategy: "adaptive", profile: piProfile, counter: estimate };
    const composed = composeWindow({
      messages: history,
      ...blocks,
      budget,
      strategy: strategyOf(options.strategy ?? settings.strategy),
      profile: options.profile ?? settings.profile,
      counter: options.counter ?? settings.counter,
      ...(session && { mask: session.settings.mask }),
      state,
    });
    state = composed.state;
    return { composed, window: piAdapter.encode(shown(composed)) };
  };

  return async (messages, { signal, model } = {}) => {
    if (signal?.aborted) return messages;
    try {
      const inLog = journalled && (await composeLog(journalled, messages, model));
      const { composed, window } = inLog ?? composeAlone(messages, model);
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
}

interface Sent {
  readonly composed: Composed;
  readonly window: readonly PiMessage[];
}

interface Surroundings {
  readonly blocks: { readonly system?: string; readonly tools?: readonly ToolDefinition[] };
  readonly budget: number | undefined;
}

/** What stands beside the messages, and the budget. Since 0.86 the prompt stands among them, and is counted there. */
function surroundings(
  options: TransformContextOptions,
  messages: readonly PiMessage[],
  model: PiModel | undefined,
): Surroundings {
  const agent = options.agent ?? (options.session && agents.get(options.session));
  const budget = budgetFor(options, model ?? agent?.state.model);
  if (messages.some((message) => message.role === "system")) return { budget, blocks: {} };
  const system = options.system ?? agent?.state.systemPrompt ?? "";
  const tools = piTools(options.tools ?? agent?.state.tools ?? []);
  return { budget, blocks: { ...(system !== "" && { system }), ...(tools.length > 0 && { tools }) } };
}

function budgetFor(options: TransformContextOptions, model: PiModel | undefined): number | undefined {
  const described = options.model === undefined ? undefined : budgetOf(modelOf(options.model));
  const own = options.budget ?? described ?? options.session?.settings.budget;
  const known =
    model?.contextWindow && model.maxTokens
      ? { contextWindow: model.contextWindow, maxOutput: model.maxTokens }
      : undefined;
  const budget = own ?? (known && budgetOf(known));
  return budget === undefined ? undefined : budget - (options.systemTokens ?? 0);
}

/** pi's tools as a window counts them. */
export function piTools(tools: readonly PiTool[]): readonly ToolDefinition[] {
  return tools.map(({ name, description, parameters }) => ({
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { inputSchema: parameters as JsonValue }),
  }));
}

/** A window's messages without the system prompt that was only counted. */
export function shown({ messages }: Composed): readonly Message[] {
  return messages.filter((message) => message.id !== "windrow:system");
}
