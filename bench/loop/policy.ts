/** Policies, which make the windows of a job: Windrow's sessions, and the simple ways that agents have without it. */
import { recallTool } from "../../src/adapter/host/recall-tool.ts";
import { WindrowError } from "../../src/errors.ts";
import type { Message, ToolDefinition, ToolResultPart } from "../../src/message/message.ts";
import type { NumberedMessage } from "../../src/message/step.ts";
import { nearest } from "../../src/nearest.ts";
import type { MessageTokens } from "../../src/replay/cost-metric.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { strategyNames } from "../../src/window/by-name.ts";
import { extractSummary } from "../../src/window/summary/extract.ts";
import { paired, withinBudget } from "./guard.ts";

/** The job's side of a policy: its budget, its fixed texts and its counter. */
export interface LoopSetting {
  /** Tokens that a request may use, tool definitions among them. */
  readonly budget: number;
  /** Tokens that its messages may use. */
  readonly room: number;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly counter: TokenCounter;
  readonly tokens: MessageTokens;
}

/** The windows of one job. */
export interface LoopWindows {
  /** Takes the next message of the history. */
  append(message: Message): Promise<void>;
  /** The window for the next call, its system message first. */
  window(): Promise<readonly Message[]>;
  /** The answer of the recall tool; absent where there is none. */
  recall?(args: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

/** A way to make windows. */
export interface LoopPolicy {
  readonly name: string;
  /** Whether it keeps to a budget; one that does not is measured once, for all of them. */
  readonly keepsBudget: boolean;
  /** Whether the agent has the recall tool. */
  readonly hasRecall: boolean;
  start(setting: LoopSetting): Promise<LoopWindows>;
}

/** Makes a window of a whole history. */
export type MakeWindow = (
  history: readonly Message[],
  setting: LoopSetting,
) => readonly Message[] | Promise<readonly Message[]>;

/** A policy that makes each window of the whole history anew, behind the guard. */
export function plainPolicy(name: string, start: () => MakeWindow): LoopPolicy {
  return {
    name,
    keepsBudget: true,
    hasRecall: false,
    start: async (setting) => {
      const make = start();
      const history: Message[] = [systemMessage(setting.system)];
      return {
        append: async (message) => void history.push(message),
        window: async () => withinBudget(paired(await make(history, setting)), setting.room, setting.tokens),
        close: async () => {},
      };
    },
  };
}

/** The end of the name of a policy with the recall tool. */
const withRecall = "+recall";

/** The policy whose windows size themselves: `adaptive` with the budget `auto`. */
const selfSizing = "auto";

/** Windrow's own: a session with a strategy, and with the recall tool where `hasRecall` says so. */
export function sessionPolicy(strategy: string, hasRecall: boolean): LoopPolicy {
  const isAuto = strategy === selfSizing;
  return {
    name: hasRecall ? `${strategy}${withRecall}` : strategy,
    keepsBudget: strategy !== "none" && !isAuto,
    hasRecall,
    start: async ({ budget, system, tools, counter }) => {
      const sized = isAuto ? ({ model: "claude-sonnet-4-5", budget: "auto" } as const) : { strategy, budget };
      const manager = await SessionManager.open({ store: "ram:", ...sized, counter });
      const session = await manager.create();
      const tool = recallTool((query) => session.recall(query));
      return {
        append: async (message) => void (await session.append(message)),
        window: async () => (await session.compose({ system, tools })).messages,
        ...(hasRecall && { recall: (args: unknown) => tool.execute(args) }),
        close: () => manager.close(),
      };
    },
  };
}

/** The policies that are compared and need no other package. */
export const policies: readonly LoopPolicy[] = [
  { ...plainPolicy("none", () => (history) => history), keepsBudget: false },
  plainPolicy("sliding-window", () => (history) => history),
  plainPolicy("keep-3", () => keepResults(3)),
  plainPolicy("keep-10", () => keepResults(10)),
  plainPolicy("summary", summaryAndTail),
  sessionPolicy("layered", false),
  sessionPolicy("adaptive", false),
  sessionPolicy("adaptive", true),
  sessionPolicy(selfSizing, false),
  sessionPolicy(selfSizing, true),
];

/**
 * Policies by name: one of `known`, or a strategy of Windrow's, with `+recall` behind it where the agent has the tool.
 *
 * @throws WindrowError `bad-option`
 */
export function policiesOf(names: readonly string[], known: readonly LoopPolicy[] = policies): readonly LoopPolicy[] {
  return names.map((name) => {
    const found = known.find((policy) => policy.name === name);
    if (found) return found;
    const strategy = name.endsWith(withRecall) ? name.slice(0, -withRecall.length) : name;
    if (strategyNames.includes(strategy)) return sessionPolicy(strategy, strategy !== name);
    const all = [...known.map((policy) => policy.name), ...strategyNames];
    throw new WindrowError("bad-option", `There is no policy "${name}".${nearest(name, all)}`, { policy: name });
  });
}

function systemMessage(text: string): Message {
  return { id: "system", role: "system", parts: [{ type: "text", text }] };
}

/** Results before the newest ones are cleared; every call and every word stays. */
function keepResults(most: number): MakeWindow {
  const cleared = new WeakMap<Message, Message>();
  return (history) => {
    let kept = 0;
    return history
      .toReversed()
      .map((message) => {
        if (message.role !== "tool" || kept++ < most) return message;
        let empty = cleared.get(message);
        if (!empty) cleared.set(message, (empty = { ...message, parts: message.parts.map(clear) }));
        return empty;
      })
      .toReversed();
  };
}

function clear(part: Message["parts"][number]): Message["parts"][number] {
  return part.type === "tool-result" ? ({ ...part, content: "[cleared]" } satisfies ToolResultPart) : part;
}

/** Shares of the room that the summary and the newest steps have after a compaction. */
const summaryShare = 0.3;
const tailShare = 0.3;

/**
 * Over the budget everything before the newest steps becomes one summary, extracted anew from the whole history: no
 * model's summary knows as much.
 */
function summaryAndTail(): MakeWindow {
  let summary: Message | undefined;
  let tailFrom = 0;
  return (history, { room, tokens, counter }) => {
    const [system, task] = history as readonly [Message, Message];
    const whole = (): readonly Message[] => (summary ? [system, task, summary, ...history.slice(tailFrom)] : history);
    if (tokens.sum(whole()) <= room) return whole();
    tailFrom = history.length;
    for (let taken = 0; tailFrom > 2; tailFrom--) {
      taken += tokens.of(history[tailFrom - 1] as Message);
      if (taken > room * tailShare && history[tailFrom]?.role !== "tool") break;
    }
    const older = history.slice(2, tailFrom).map((message, at): NumberedMessage => ({ seq: at + 2, message }));
    const { text } = extractSummary(older, Math.floor(room * summaryShare), counter);
    const said = `Summary of what happened before:\n${text}`;
    summary = { id: `summary ${tailFrom}`, role: "user", parts: [{ type: "text", text: said }] };
    return whole();
  };
}
