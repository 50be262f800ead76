/**
 * Summaries by a model: it is asked in requests that fit its own window, each answer goes into the next request, and the
 * last one is checked. What goes wrong with the model is an outcome and no exception.
 */
import type { Locale } from "../../config/locale.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Model, ModelAnswer, ModelRequest } from "../../model/model.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { writtenPaths } from "../action/calls.ts";
import { budgetOf } from "../budget.ts";
import { clip } from "../stub/cut.ts";
import type { StrategyContext, TextMask } from "../window.ts";
import { shownMessages, summaryRequest } from "./prompt.ts";
import { noSummary } from "./summary.ts";
import type { NoSummary, SummaryFailure, SummaryHookOptions, SummaryOutcome, SummaryTask } from "./summary.ts";

/** The window of a model that does not say how large it is, in tokens. */
const unknownWindow = 32_000;
/** Most characters of one message that the model is shown, and the fewest where it would be asked too often. */
const [longestShown, shortestShown] = [2_000, 80];
/** Most requests for one summary while messages can be shown shorter. */
const mostCalls = 16;
/** Tokens of a request that its messages need at least. */
const leastRoom = 100;
/** Most paths that a summary has to name: the newest. */
const mostPaths = 20;

/**
 * Asks the session's summarizer for a summary of messages.
 *
 * @throws WindrowError `bad-option` for a model whose contextWindow is no number above 0
 */
export async function writeSummary(
  task: SummaryTask,
  { counter, mask, spend }: Pick<StrategyContext, "counter" | "mask" | "spend">,
  model: Model,
  { locale = "en", prompt, timeout = 120_000 }: Pick<SummaryHookOptions, "locale" | "prompt" | "timeout">,
  signal?: AbortSignal,
): Promise<SummaryOutcome> {
  const contextWindow = model.contextWindow ?? unknownWindow;
  const maxTokens = Math.max(1, Math.min(task.maxTokens, Math.floor(contextWindow / 4)));
  const paths = writtenPaths(task.messages).slice(-mostPaths);
  const standing = task.live.map(({ text }) => text).join("\n");
  const requestOf = (source: readonly string[], previous: string): ModelRequest => {
    const sourceTokens = [...source, previous].reduce((sum, text) => sum + counter.count(text), 0);
    return summaryRequest({ source, previous, paths, maxTokens, sourceTokens, task: prompt, locale });
  };
  const { system = "", prompt: bare } = requestOf([], " ");
  const words = counter.count(system) + counter.count(bare) + 16;
  // A counter may be off by a little on a long text; the margin prevents a refused request.
  const room = Math.floor((budgetOf({ contextWindow, maxOutput: maxTokens }) - words - maxTokens) * 0.98);
  if (room < leastRoom) return noSummary("window-too-small", "The summariser's window has no room for messages.");
  const chunks = chunksOf(task.messages, room, counter, mask);
  if (chunks.length === 0) return noSummary("nothing-to-summarise", "The range holds no message with a text.");

  let text = cutToRoom(standing, maxTokens, counter, mask);
  let tokens = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (signal?.aborted) return noSummary("aborted", "The summary was aborted before the model was asked.", index);
    const calls = index + 1;
    const answer = await answerOf(model, requestOf(chunk, text), timeout, signal);
    if ("failed" in answer) return { ...answer, calls };
    await spend("summary", answer.usage, model.id);
    text = answer.text.toWellFormed().trim();
    if (calls === chunks.length && text !== "") text = withPaths(text, paths, pathsTitle[locale], maxTokens, counter);
    tokens = counter.count(text);
    const fault = faultOf(answer, tokens, maxTokens);
    if (fault) return noSummary(...fault, calls);
  }
  return { ok: true, text, tokens, by: "model", calls: chunks.length };
}

/** The messages of each request, in shorter cuts where they would take too many requests. */
function chunksOf(
  messages: readonly NumberedMessage[],
  room: number,
  counter: TokenCounter,
  mask: TextMask,
  longest = longestShown,
): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let left = 0;
  for (const item of shownMessages(messages, longest, mask)) {
    const shown = cutToRoom(item, room - 1, counter, mask);
    const tokens = counter.count(shown) + 1;
    if (tokens > left) {
      if (chunks.length === mostCalls && longest > shortestShown)
        return chunksOf(messages, room, counter, mask, Math.floor(longest / 2));
      chunks.push([]);
      left = room;
    }
    chunks.at(-1)?.push(shown);
    left -= tokens;
  }
  return chunks;
}

/** A text cut in its middle until it has at most so many tokens; empty where not even a word fits. */
function cutToRoom(text: string, maxTokens: number, counter: TokenCounter, mask: TextMask): string {
  let shown = text;
  while (shown !== "" && counter.count(shown) > maxTokens) {
    const length = Math.floor(shown.length * Math.min(0.9, maxTokens / counter.count(shown)));
    shown = length < 8 ? "" : clip(shown, length, mask);
  }
  return shown;
}

/** One answer, or why there is none; a model that hears no signal is not waited for. */
async function answerOf(
  model: Model,
  request: ModelRequest,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<ModelAnswer | NoSummary> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout);
  const stop = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    const stopped = new Promise<never>((_, reject) => {
      stop.addEventListener("abort", () => reject(new Error("no answer in time")), { once: true });
    });
    return await Promise.race([model(request, stop), stopped]);
  } catch (error) {
    if (signal?.aborted) return noSummary("aborted", "The summary was aborted while the model was asked.");
    if (late.signal.aborted) return noSummary("timeout", `The model did not answer in ${timeout} ms.`);
    const reason = error instanceof Error ? error.message : String(error);
    return noSummary("model-failed", `The model failed: ${reason.slice(0, 500)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Ways in which models write tool calls into their text. */
const toolSyntax =
  /<\|?(?:tool_calls?|function_calls?|tool_use|invoke|antml|python_tag)\b|<｜tool|\[TOOL_CALLS\]|"(?:tool_calls|function_call)"\s*:|^\s*functions\.\w+(?::\d+)?\s*[({<]|^\s*\{\s*"(?:name|tool)"\s*:\s*"[^"]+"\s*,\s*"(?:arguments|parameters|args|input)"/im;

/** Why an answer is no summary; undefined for one that is. */
function faultOf(
  { finish, text }: ModelAnswer,
  tokens: number,
  maxTokens: number,
): readonly [SummaryFailure, string] | undefined {
  if (finish !== "stop") return ["unfinished", `The answer ended with "${finish}".`];
  if (text.trim() === "") return ["empty", "The answer was empty."];
  if (toolSyntax.test(text)) return ["tool-syntax", "The answer holds the syntax of tool calls."];
  if (tokens > maxTokens) return ["too-long", `The answer has ${tokens} tokens; the cap is ${maxTokens}.`];
  return undefined;
}

const pathsTitle: Readonly<Record<Locale, string>> = {
  en: "Files changed:",
  ja: "変更したファイル:",
  zh: "已修改的文件：",
};

/** A summary with the newest of the paths that it leaves out, as many as its cap leaves room for. */
function withPaths(
  text: string,
  paths: readonly string[],
  title: string,
  maxTokens: number,
  counter: TokenCounter,
): string {
  const missing = paths.filter((path) => !text.includes(path));
  for (let first = 0; first < missing.length; first++) {
    const longer = `${text}\n${title} ${missing.slice(first).join(", ")}`;
    if (counter.count(longer) <= maxTokens) return longer;
  }
  return text;
}
