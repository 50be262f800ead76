/**
 * An extension for pi's coding agent: every request gets a window within the budget, large results give way to excerpts,
 * compactions are made without a model, and `recall` brings anything back. Its state stands in pi's own session file, as
 * entries of the branch they belong to; pi itself is never imported.
 */
import { WindrowError } from "../../errors.ts";
import { knownSecrets, textMask } from "../../mask/text.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { estimate } from "../../tokens/estimate.ts";
import { budgetFor, loadCounterFor, sizedBy } from "../../window/settings.ts";
import { budgetOf } from "../../window/budget.ts";
import { defined } from "../../message/json.ts";
import { strategyFrom } from "../../window/by-name.ts";
import type { Report, Strategy, WindowState } from "../../window/window.ts";
import { HostConversation } from "../host/conversation.ts";
import { recallDeclaration, recallTool } from "../host/recall-tool.ts";
import { composeBranch, entryTypes, PiBranch } from "./branch.ts";
import type { KeptResult, PiSessionManager } from "./branch.ts";
import { compactionText } from "./compaction.ts";
import type { Leaving } from "./compaction.ts";
import { piHost } from "./host.ts";
import type { PiModel, PiTool } from "./host.ts";
import type { PiMessage } from "./message.ts";
import { cutContent, piAnswer, piDeclaration } from "./tools.ts";
import type { Cut, PiContent, PiRecallTool } from "./tools.ts";

/** The fields that are read of the context that pi gives an extension's handlers. */
export interface PiExtensionContext {
  readonly sessionManager: PiSessionManager;
  readonly model: PiModel | undefined;
  readonly ui: { notify(message: string, type?: "info" | "warning" | "error"): void };
  getSystemPrompt(): string;
}

/** Pi's event for a tool's result, before it becomes a message. */
interface ResultEvent<Content = PiContent> {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly Content[];
}

/** Pi's event before it compacts. */
interface CompactEvent {
  readonly preparation: Leaving & {
    readonly firstKeptEntryId: string;
    /** Tokens. */
    readonly tokensBefore: number;
  };
  /** The user's wishes for the summary; Windrow then leaves it to pi and its model. */
  readonly customInstructions?: string;
}

/** The compaction that pi writes in place of one of its own. */
interface Compaction {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
}

/** The part that is used of pi's `ExtensionAPI`. */
export interface PiExtensionApi {
  on(
    event: "context",
    handler: <Message extends PiMessage>(
      event: { messages: Message[] },
      context: PiExtensionContext,
    ) => Promise<{ messages: Message[] } | undefined>,
  ): unknown;
  on(
    event: "tool_result",
    handler: <Content extends PiContent>(
      event: ResultEvent<Content>,
      context: PiExtensionContext,
    ) => Promise<{ content: Cut<Content> } | undefined>,
  ): unknown;
  on(
    event: "session_before_compact",
    handler: (event: CompactEvent, context: PiExtensionContext) => Promise<{ compaction: Compaction } | undefined>,
  ): unknown;
  on(event: "session_start", handler: () => void): unknown;
  on(event: "session_tree", handler: () => void): unknown;
  on(event: "session_compact", handler: () => void): unknown;
  registerTool(tool: PiExtensionTool): void;
  registerCommand(
    name: string,
    command: { description: string; handler: (args: string, context: PiExtensionContext) => Promise<void> },
  ): void;
  registerFlag(name: string, options: { description: string; type: "string" }): void;
  getFlag(name: string): boolean | string | undefined;
  appendEntry(customType: string, data: unknown): void;
  getAllTools(): readonly PiTool[];
  getActiveTools(): readonly string[];
}

/** The recall tool as an extension registers it. */
export interface PiExtensionTool extends Omit<PiRecallTool, "execute"> {
  execute(
    callId: string,
    given: unknown,
    signal: AbortSignal | undefined,
    onUpdate: unknown,
    context: PiExtensionContext,
  ): ReturnType<PiRecallTool["execute"]>;
}

const budgetFlag = "windrow-budget";
const strategyFlag = "windrow-strategy";

/** Tokens of a context window that pi leaves free before it compacts by itself (its `compaction.reserveTokens`). */
const piReserve = 16_384;

/** Most tokens of a compaction's text. */
const compactionTokens = 12_000;

/** The share of the budget that one result or a compaction may have. */
const resultShare = 0.25;

/**
 * Sets the extension up. A package for pi names the module whose default export this is (docs/hosts/pi-coding-agent.md).
 * No handler throws: on any failure pi goes on with its own messages, and the user is notified once.
 */
export function piExtension(pi: PiExtensionApi): void {
  const mask = textMask(knownSecrets);
  let state: WindowState | undefined;
  let report: Report | undefined;
  /** The messages that the notes of the newest window number, as pi and its other extensions gave them. */
  let sent: readonly PiMessage[] | undefined;
  let counter: TokenCounter = estimate;
  pi.registerFlag(budgetFlag, { description: "Windrow: most tokens a request may use, or auto", type: "string" });
  pi.registerFlag(strategyFlag, {
    description:
      'Windrow: a strategy or preset, or \'{ "use": "pi", "keepRecentToolResults": 3 }\' (default: adaptive)',
    type: "string",
  });
  const strategy = memoised(() => {
    const given = strategyFrom(String(pi.getFlag(strategyFlag) ?? "adaptive"));
    return pi.getFlag(budgetFlag) === "auto" ? sizedBy(given, "auto") : given;
  });
  const budget = (model: PiModel | undefined): number | undefined =>
    flagBudget(pi.getFlag(budgetFlag), model, strategy());

  // Another branch has a state of its own, which its entries tell.
  const forget = (): void => {
    state = undefined;
    sent = undefined;
  };
  pi.on("session_start", forget);
  pi.on("session_tree", forget);
  pi.on("session_compact", forget);

  let ui: PiExtensionContext["ui"] | undefined;
  const conversation = new HostConversation<PiMessage>(piHost, {
    on: (event) => event.type === "adapter-failed" && ui?.notify(`Windrow: ${event.error.message}`, "warning"),
  });
  const handled =
    <Event, Result>(work: (event: Event, context: PiExtensionContext) => Result | Promise<Result>) =>
    (event: Event, context: PiExtensionContext): Promise<Result | undefined> => {
      ({ ui } = context);
      return conversation.attempt(() => work(event, context));
    };

  const windowed = handled(async ({ messages }: { readonly messages: readonly PiMessage[] }, context) => {
    const window = await conversation.window(async () => {
      const tokens = budget(context.model);
      if (tokens === undefined) return undefined;
      counter = await loadCounterFor(strategy().settings);
      const active = new Set(pi.getActiveTools());
      const tools = pi.getAllTools().filter(({ name }) => active.has(name));
      const system = context.getSystemPrompt();
      const given = { budget: tokens, ingestCap: capOf(tokens), system, tools, strategy: strategy(), counter };
      return {
        messages,
        compose: () => {
          const composed = composeBranch(messages, new PiBranch(context.sessionManager), given, state);
          // An epoch is on disk before its window is sent: a resume makes the same one.
          if (composed.report.opened) pi.appendEntry(entryTypes.window, composed.state);
          return composed;
        },
      };
    });
    if (!window) return undefined;
    ({ state, report } = window.composed);
    sent = messages;
    return { messages: [...window.messages] };
  });
  pi.on("context", windowed as never);

  const cutResult = handled(({ toolCallId, toolName, content }: ResultEvent, { model, sessionManager }) => {
    const tokens = budget(model);
    if (tokens === undefined || toolName === recallDeclaration.name) return undefined;
    const id = `r${new PiBranch(sessionManager).results.length + 1}`;
    const cut = cutContent(content, capOf(tokens), counter, `is ${id} for the tool recall`, mask);
    if (cut) pi.appendEntry(entryTypes.result, { id, toolCallId, content } satisfies KeptResult);
    return cut && { content: cut };
  });
  pi.on("tool_result", cutResult as never);

  const compacted = handled(({ preparation, customInstructions }: CompactEvent, { model }) => {
    if (customInstructions !== undefined && customInstructions !== "") return undefined;
    const { firstKeptEntryId, tokensBefore } = preparation;
    const most = Math.min(compactionTokens, capOf(budget(model) ?? Infinity));
    const summary = compactionText(preparation, most, mask);
    return summary === "" ? undefined : { compaction: { summary, firstKeptEntryId, tokensBefore } };
  });
  pi.on("session_before_compact", compacted);

  pi.registerTool({
    ...piDeclaration(recallDeclaration),
    execute: (_callId, given, _signal, _onUpdate, { sessionManager }) =>
      piAnswer(
        recallTool((query) => new PiBranch(sessionManager).recall(query, sent)),
        given,
      ),
  });

  pi.registerCommand("context", {
    description: "Windrow: what is in the model's window, and what is not",
    handler: async (_args, { ui, sessionManager }) => {
      ui.notify(contextText(report, new PiBranch(sessionManager)), "info");
    },
  });
}

/** The value of a function that is asked once; one that throws is asked again. */
function memoised<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

function flagBudget(
  flag: boolean | string | undefined,
  model: PiModel | undefined,
  { settings }: Strategy,
): number | undefined {
  if (typeof flag === "string" && flag !== "auto") {
    const budget = Number(flag);
    if (budget > 0) return budgetFor(settings, { budget });
    throw new WindrowError("bad-option", `--${budgetFlag} is a number of tokens or auto, not "${flag}".`, { flag });
  }
  const { contextWindow = 0, maxTokens = 0 } = model ?? {};
  if (contextWindow <= 0) return undefined;
  const maxOutput = Math.min(maxTokens, contextWindow / 4);
  const own = budgetOf({ contextWindow, maxOutput, ...defined({ ratio: settings?.ratio }) });
  const free = contextWindow - piReserve;
  // Below the line at which pi compacts by itself, where the model is large enough to have one.
  return free > own / 2 ? Math.min(own, free) : own;
}

function capOf(budget: number): number {
  return Math.max(500, Math.floor(budget * resultShare));
}

function contextText(report: Report | undefined, branch: PiBranch): string {
  if (!report) return "Windrow: nothing was sent yet.";
  const { tokens, budget, epoch, counts, blocks, strategy, counter } = report;
  const size = (count: number): string => count.toLocaleString("en-US");
  const left = counts.dropped + counts.stubbed + counts.replaced;
  return [
    `Windrow: ${size(tokens)} of ${size(budget)} tokens in the window`,
    `  system ${size(blocks.system)}, tools ${size(blocks.tools)}, history ${size(blocks.history)}, notes ${size(blocks.notes)}`,
    `  ${size(counts.kept)} messages whole, ${size(left)} shortened or left out (recall brings them back)`,
    `  by strategy ${strategy}, counted by ${counter}`,
    `  epoch ${epoch}; ${size(branch.results.length)} large results kept aside; ${size(branch.compacted.length)} messages compacted by pi`,
  ].join("\n");
}
