/** A window that sizes itself: it grows where calls come back to what left it, and shrinks where they do not. */
import { messageText, resultText, toolCalls, toolResults } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import { splitLines } from "../message/quote.ts";
import type { NumberedMessage } from "../message/step.ts";
import { wordsOf, worthOf } from "./digest/texts.ts";
import { RecallMarks } from "./stub/recalled.ts";
import type { ReadingContext, Report, Sizing, Strategy, View, ViewStep, WindowState } from "./window.ts";

/** The factor between one size and the next, and how many of them a window grows at once. */
const step = Math.SQRT2;
const mostSteps = 2;

/** Calls that a window holds at least: an epoch costs what nine calls read from the cache, and takes half of the window. */
const callsHeld = 15;
/**
 * Shares of calls that come back to what left: above the first the window grows, below the second it shrinks.
 *
 * The next size costs each call four tenths of a call more: what it reads from the cache and what epochs write grow as the
 * window does. A call that comes back costs another call, or a wrong one.
 */
const growsFrom = 0.3;
const shrinksTo = 0.08;
/** Calls without which nothing is decided: on what they bring, and on what they come back to. */
const fewestCalls = 3;
const fewestReturning = 6;
/** What calls before an epoch count for at the next. */
const memory = 0.5;

/** The budget of a window: its size, where it sizes itself, with system, tools, pinned blocks and dynamic text on top. */
export function sizedBudget(
  { floor, passes }: Strategy,
  { sizing }: WindowState,
  { blocks, tokens }: Pick<Report, "blocks" | "tokens">,
  most: number,
): number {
  if (floor === undefined || passes.length === 0) return most;
  return Math.min(most, Math.max(floor, sizing?.size ?? 0) + tokens - blocks.history - blocks.notes);
}

/** The window before an epoch, and the log that its calls may come back to. */
interface Sized extends View, Pick<ReadingContext, "recallTools"> {
  readonly log: readonly NumberedMessage[];
}

/**
 * A state with the size for the window that an epoch opens: as it was, larger, or smaller, between two limits. What may not
 * leave takes two thirds of it at most. One whose window has its budget stays as it is.
 */
export function resized({ floor }: Strategy, state: WindowState, read: () => Sized, most: number): WindowState {
  if (floor === undefined) return state;
  const { epoch, opened, sizing } = state;
  const { steps, log, recallTools } = read();
  const since = epoch === 0 ? 0 : opened;
  const before = sizing ?? { size: floor, calls: 0, tokens: 0, returns: 0 };
  const shown = steps.flatMap(({ messages }) => messages.filter(({ seq }) => seq <= since));
  const stretch = returnsIn(log, shown, since, recallTools);
  const calls = memory * before.calls + stretch.calls;
  const returns = memory * before.returns + stretch.returns;
  const tokens = memory * before.tokens + tokensOf(steps.filter(({ from }) => from > since));
  const size = before.size * step ** stepsFor(before.size, { calls, returns, tokens });
  const least = Math.max(floor, 1.5 * tokensOf(steps.filter((one) => one.protected)));
  const within = Math.round(Math.min(most, Math.max(least, size)));
  return { ...state, sizing: { size: within, calls, returns, tokens } };
}

function tokensOf(steps: readonly ViewStep[]): number {
  return steps.reduce((sum, { tokens }) => sum + tokens, 0);
}

function stepsFor(size: number, { calls, returns, tokens }: Omit<Sizing, "size">): number {
  const enough = (callsHeld * tokens) / Math.max(1, calls);
  if (calls >= fewestCalls && size < enough)
    return Math.min(mostSteps, Math.ceil(Math.log(enough / size) / Math.log(step)));
  if (calls < fewestReturning) return 0;
  if (returns > growsFrom * calls) return 1;
  return returns < shrinksTo * calls && size / step >= enough ? -1 : 0;
}

/** Why a window has its size, in one line; undefined for one that does not size itself. */
export function sizingLine(sizing: Sizing | undefined, floor: number | undefined): string | undefined {
  if (floor === undefined) return undefined;
  const shown = (value: number): string => Math.round(value).toLocaleString("en-US");
  if (!sizing) return `${shown(floor)} tokens beside system and tools, until something has left the window.`;
  const { size, calls, tokens, returns } = sizing;
  return (
    `${shown(size)} tokens beside system and tools: of the last ${shown(calls)} calls, which brought ` +
    `${shown(tokens / Math.max(1, calls))} tokens each, ${shown(returns)} came back to what had left the window.`
  );
}

/**
 * The model calls since an epoch opened, and how many of them came back to what had left the window then: they recalled,
 * they name what only the log behind the window has, or their results bring lines of it again.
 *
 * @param log - all messages that may be looked back for, oldest first
 * @param window - the messages that the epoch left in the window, as they stand in it
 * @param opened - the newest message when it opened
 */
function returnsIn(
  log: readonly NumberedMessage[],
  window: readonly NumberedMessage[],
  opened: number,
  recallTools?: readonly string[],
): Pick<Sizing, "calls" | "returns"> {
  const left = log.filter(({ seq, message }) => seq <= opened && message.role !== "assistant").map(textOf);
  const shown = window.map(textOf);
  const isBack = (text: string): boolean =>
    !shown.some((one) => one.includes(text)) && left.some((one) => one.includes(text));
  const marks = new RecallMarks(recallTools);
  let [calls, returns] = [0, 0];
  let isReturn = false;
  for (const numbered of log) {
    const { seq, message } = numbered;
    marks.note(message);
    if (seq <= opened) continue;
    if (message.role === "assistant") {
      if (isReturn) returns++;
      calls++;
      isReturn = message.parts.some((part) => marks.has(part)) || namesIn(message).some(isBack);
    } else if (!isReturn) {
      isReturn = toolResults(message).some((result) => linesIn(resultText(result)).filter(isBack).length >= 2);
    }
    shown.push(textOf(numbered));
  }
  return { calls, returns: isReturn ? returns + 1 : returns };
}

function textOf({ message }: NumberedMessage): string {
  const results = toolResults(message).map(resultText);
  return [messageText(message), ...toolCalls(message).map(({ args }) => JSON.stringify(args)), ...results].join("\n");
}

/** The paths, names and numbers that a message's calls are given. */
function namesIn(message: Message): readonly string[] {
  const words = toolCalls(message).flatMap(({ args }) => wordsOf(JSON.stringify(args).replaceAll(/\\[nrt"]/g, " ")));
  return [...new Set(words)].filter((word) => word.length > 3 && worthOf(word) >= 1);
}

/** Three of a result's longer lines. */
function linesIn(text: string): readonly string[] {
  const lines = splitLines(text).filter((line) => line.trim().length >= 24);
  return [0.25, 0.5, 0.75].flatMap((share) => lines[Math.floor(share * lines.length)] ?? []);
}
