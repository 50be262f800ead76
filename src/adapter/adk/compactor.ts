/** A context compactor for ADK, for those who use its list of them: what is old becomes one event, and nothing is lost. */
import type { Message } from "../../message/message.ts";
import { quoteText } from "../../message/quote.ts";
import { messageText } from "../../message/message.ts";
import { countMessage } from "../../tokens/counter.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { budgetFor, counterFor, withoutSettings } from "../../window/apply-settings.ts";
import { strategyOf } from "../../window/by-name.ts";
import { composeWindow } from "../../window/compose.ts";
import { checkGiven } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { gemini } from "../../window/provider/profile.ts";
import { recallInTurns } from "../../window/recall/recall.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import type { Strategy, StrategyChoice } from "../../window/window.ts";
import { eventMessage, isShown } from "./event.ts";
import { GeminiCalls } from "../../shape/gemini/gemini.ts";
import { windowKinds } from "../host/window-options.ts";
import type { AdkEvent, AdkInvocation, AdkSession } from "./types.ts";

/** Messages that stay go out as ADK has it, signed or not. */
const sent = { ...gemini, rules: { ...gemini.rules, callNeedsSignature: false } };

/** How {@link contextCompactor} compacts. */
export interface ContextCompactorOptions {
  /** Tokens that the contents of a request may have; the system instruction and the tools come on top. */
  readonly budget: number;
  /** A name, a preset, `{ use, ...options }`, or a Strategy. Default `adaptive`. */
  readonly strategy?: string | Strategy | StrategyChoice;
  /** An object or a name. Default: the strategy's, else `estimate`; an exact one is loaded first (`loadCounter`). */
  readonly counter?: string | TokenCounter;
}

const compactorKinds = {
  budget: windowKinds.budget,
  strategy: windowKinds.strategy,
  counter: windowKinds.counter,
} as const satisfies Record<keyof ContextCompactorOptions, Kind>;

/** A compactor as ADK takes it: `new LlmAgent({ contextCompactors: [contextCompactor({ budget: 60_000 })] })`. */
export interface ContextCompactor {
  shouldCompact(invocation: AdkInvocation): boolean;
  compact(invocation: AdkInvocation): void;
  /**
   * Brings back what a compaction stands for, by the ids in it or by words, from the session's own events. Make a tool of
   * it: `recallTool(FunctionTool, compactor)`.
   *
   * @throws WindrowError `not-found`, `bad-option`
   */
  recall(query: RecallQuery, invocation: AdkInvocation): Promise<Recalled>;
}

/**
 * Compacts a session of ADK without a model: where its events outgrow the budget, one event is added that stands for the
 * older ones in requests: the goal in the user's words, then what was chosen of the rest. It ends between two steps, so
 * that a request never begins with a call; every event stays in the session, and each compaction is made anew from all
 * of them. Not beside a {@link ContextManagementPlugin}, which needs no compaction.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`
 */
export function contextCompactor(options: ContextCompactorOptions): ContextCompactor {
  checkGiven("contextCompactor", options, compactorKinds);
  const { budget } = options;
  const strategy = strategyOf(options.strategy ?? "adaptive");
  const counter = counterFor(strategy.settings, options.counter);
  budgetFor(strategy.settings, { budget });
  return {
    shouldCompact({ session }) {
      const calls = new GeminiCalls();
      const active = activeEvents(session.events).filter(isShown);
      const told = countText(counter, newestCompaction(session.events)?.compactedContent ?? "");
      const tokens = active.reduce((sum, event) => sum + countMessage(counter, eventMessage(event, 0, calls)), told);
      return tokens > budget;
    },
    recall: async (query, { session }) => recallInTurns(historyOf(session).history, query, { counter }),
    compact({ session }) {
      const { events, history } = historyOf(session);
      const window = composeWindow({
        messages: history,
        profile: sent,
        // Room for ADK's heading, and for growth until the next compaction.
        budget: Math.floor(budget * 0.7),
        counter,
        strategy: withoutSettings(strategy),
      }).messages;
      const kept = tailLength(window, history, events);
      const last = events[events.length - kept - 1];
      if (!last || kept === 0) return;
      const text = window
        .slice(0, window.length - kept)
        .map(told)
        .join("\n\n");
      session.events.push(compactedEvent(text, events, last));
    },
  };
}

/** The events that ADK shows a model, as messages: `m3` is the third of them, in every compaction and every recall. */
function historyOf({ events: all }: AdkSession): {
  readonly events: readonly AdkEvent[];
  readonly history: readonly Message[];
} {
  const events = all.filter((event) => event.isCompacted !== true && isShown(event));
  const calls = new GeminiCalls();
  const history = events.map((event, index): Message => {
    return { ...eventMessage(event, index, calls), id: `m${index + 1}` };
  });
  return { events, history };
}

interface CompactedEvent extends AdkEvent {
  readonly startTime: number;
  readonly endTime: number;
  readonly compactedContent: string;
}

function newestCompaction(events: readonly AdkEvent[]): CompactedEvent | undefined {
  return events.findLast((event): event is CompactedEvent => event.isCompacted === true);
}

/** As ADK has it: the newest compaction, and what came after the time it stands for. */
function activeEvents(events: readonly AdkEvent[]): readonly AdkEvent[] {
  const newest = newestCompaction(events);
  if (!newest) return events;
  return events.filter((event) => event.isCompacted !== true && event.timestamp > newest.endTime);
}

function countText(counter: TokenCounter, text: string): number {
  return text === "" ? 0 : countMessage(counter, { parts: [{ type: "text", text }] });
}

/** How many of the newest messages stand in a window as they are, back to the beginning of a step. */
function tailLength(window: readonly Message[], history: readonly Message[], events: readonly AdkEvent[]): number {
  let kept = 0;
  while (kept < history.length && isSame(window.at(-1 - kept), history.at(-1 - kept))) kept++;
  // ADK hides what is not later than the time a compaction ends with, so both sides of the cut need times of their own.
  for (; kept > 0; kept--) {
    const first = events.length - kept;
    const before = events[first - 1];
    if (history[first]?.role !== "tool" && before && before.timestamp < (events[first]?.timestamp ?? 0)) return kept;
  }
  return 0;
}

/** Reasoning apart: ADK sends its own events, with all that stands in them. */
function isSame(shown: Message | undefined, message: Message | undefined): boolean {
  if (shown === undefined || shown.id !== message?.id) return false;
  const [left, right] = [shown, message].map((one) => one.parts.filter((part) => part.type !== "reasoning"));
  return JSON.stringify(left) === JSON.stringify(right);
}

function told(message: Message): string {
  const text = messageText(message);
  const own = message.status === "synthetic" && message.id.startsWith("windrow:");
  return own ? text : `[${message.role}]\n${quoteText(text)}`;
}

function compactedEvent(text: string, events: readonly AdkEvent[], last: AdkEvent): CompactedEvent {
  const event = {
    id: globalThis.crypto.randomUUID(),
    invocationId: (last as { readonly invocationId?: string }).invocationId ?? "",
    author: "windrow",
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    longRunningToolIds: [],
    timestamp: Date.now(),
    isCompacted: true,
    startTime: events[0]?.timestamp ?? last.timestamp,
    endTime: last.timestamp,
    compactedContent: text,
  };
  return event;
}
