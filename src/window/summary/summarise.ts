/**
 * The summariser: asks a model for a summary of an exact range, in requests that fit the model's own window, and checks
 * its answers. It changes nothing: its caller commits the outcome, or records the failure.
 */
import type { Locale } from "../../config/locale.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Model } from "../../model/model.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { budgetOf } from "../budget.ts";
import { defaultMask } from "../stub/cut.ts";
import { sumTokens } from "../../tokens/counter.ts";
import type { TextMask } from "../window.ts";
import { askInTurn, requestFor, requestTokens } from "./ask.ts";
import type { Asking, Material } from "./ask.ts";
import { mostPaths } from "./check.ts";
import { chunkItems, cutToRoom, stepEnd } from "./chunks.ts";
import { messageCharacters, messageItems, userTexts } from "./source.ts";
import type { SourceItem } from "./source.ts";
import { ratioOf } from "./summary.ts";
import type { SummaryFailure, SummaryOutcome } from "./summary.ts";

/** How a summariser asks. */
export interface SummariserOptions {
  readonly model: Model;
  /** Tokens of the model's own window. Default: what the model says of itself, else 32,000. */
  readonly contextWindow?: number;
  /** Most tokens of a summary. Default 2,000, and never more than a quarter of the contextWindow. */
  readonly maxTokens?: number;
  /** Most characters of one message that the model is shown. Default 2,000. */
  readonly messageCharacters?: number;
  /** Most requests for one summary; what needs more is left for the next one. Default 16. */
  readonly maxCalls?: number;
  /** Milliseconds for one answer. Default 120,000. */
  readonly timeout?: number;
  /** The language of the request. Default `en`. */
  readonly locale?: Locale;
  /** Words for the task in place of those of the language: what a summary is to hold. The rules about quotation stay. */
  readonly prompt?: string;
  readonly counter: TokenCounter;
  /** Replaces the secrets of texts that are cut. Default: those of a known form. */
  readonly mask?: TextMask;
}

/** The range to summarise, and the previous summary. */
export interface SummaryTask {
  /** Every message of the range, in order, as the log has them. */
  readonly messages: readonly NumberedMessage[];
  /** Messages of the range that stay verbatim, by `seq`. */
  readonly kept?: readonly number[];
  /** The summary before this one: to be worked in (`absorb`), or only known and not repeated. */
  readonly previous?: { readonly text: string; readonly absorb: boolean };
  /** Facts the summary has to name as they stand. */
  readonly facts?: readonly string[];
  /** Paths it has to name, the newest last; of more than 20 the newest. */
  readonly paths?: readonly string[];
}

/** The window of a model that does not say how large it is. */
const unknownWindow = 32_000;

/** Tokens of a request that its messages need at least. */
const leastRoom = 100;

/**
 * Asks for a summary of a range. What goes wrong with the model is the outcome and no exception.
 *
 * @throws WindrowError `bad-option` for a contextWindow that is no number above 0
 */
export async function summarise(
  task: SummaryTask,
  options: SummariserOptions,
  signal?: AbortSignal,
): Promise<SummaryOutcome> {
  const { counter, mask = defaultMask, maxCalls = 16 } = options;
  const asking = askingOf(options);
  const { kept = [], facts = [] } = task;
  const paths = (task.paths ?? []).slice(-mostPaths);
  const previous = task.previous && {
    ...task.previous,
    text: cutToRoom(task.previous.text, asking.maxTokens, counter, mask),
  };
  const room = roomOf({ facts, paths }, asking);
  if (room < leastRoom) return failure("window-too-small", "The summariser's window has no room for messages.");

  const told = task.messages.filter(({ seq }) => !kept.includes(seq));
  const longest = options.messageCharacters ?? messageCharacters;
  const portion = portionOf(task.messages, told, longest, { room, maxCalls, counter, mask });
  if (!portion) return failure("nothing-to-summarise", "The range holds no message with a text.");

  const source = told.filter(({ seq }) => seq <= portion.endSeq);
  const originalTokens = sumTokens(counter, source);
  const absorbed = previous?.absorb === true ? previous.text : "";
  const material: Material = {
    chunks: portion.chunks,
    ...(previous && { previous }),
    said: [...userTexts(source), absorbed],
    facts,
    paths,
    sourceTokens: originalTokens + counter.count(absorbed),
  };
  const asked = await askInTurn(material, asking, signal);
  if (!asked.ok) return asked;
  const { text, tokens, struck, calls, usage } = asked;
  return {
    ok: true,
    text,
    startSeq: task.messages[0]?.seq ?? 0,
    endSeq: portion.endSeq,
    kept: kept.filter((seq) => seq <= portion.endSeq),
    originalTokens,
    summaryTokens: tokens,
    compressionRatio: ratioOf(tokens, originalTokens),
    struck,
    by: "model",
    calls,
    usage,
  };
}

/**
 * The limits of every request of a summariser.
 *
 * @throws WindrowError `bad-option` for a contextWindow that is no number above 0
 */
export function askingOf(options: SummariserOptions): Asking {
  const { model, counter, locale = "en", timeout = 120_000, prompt } = options;
  const contextWindow = options.contextWindow ?? model.contextWindow ?? unknownWindow;
  const maxTokens = Math.max(1, Math.min(options.maxTokens ?? 2_000, Math.floor(contextWindow / 4)));
  return {
    model,
    limit: budgetOf({ contextWindow, maxOutput: maxTokens }),
    maxTokens,
    timeout,
    locale,
    prompt,
    counter,
  };
}

/** Tokens of a request that messages may take, beside its words and a summary to be worked in. */
export function roomOf(names: Pick<Material, "facts" | "paths">, asking: Asking): number {
  const bare = requestFor([], names, asking, { text: "", absorb: true });
  // A counter may be off by a little on a long text; the margin prevents a refused request.
  return Math.floor((asking.limit - requestTokens(bare, asking.counter) - asking.maxTokens) * 0.98);
}

interface Cutting {
  readonly room: number;
  readonly maxCalls: number;
  readonly counter: TokenCounter;
  readonly mask: TextMask;
}

interface Portion {
  readonly chunks: readonly (readonly SourceItem[])[];
  readonly endSeq: number;
}

/**
 * The range in chunks; where those are too many, its beginning up to the end of a step. A step too large for that is shown
 * in shorter cuts.
 */
function portionOf(
  messages: readonly NumberedMessage[],
  told: readonly NumberedMessage[],
  longest: number,
  { room, maxCalls, counter, mask }: Cutting,
): Portion | undefined {
  const end = messages.at(-1)?.seq ?? 0;
  const chunks = chunkItems(messageItems(told, longest, mask), room, counter, mask, maxCalls);
  if (chunks.length === 0) return undefined;
  if (chunks.length <= maxCalls) return { chunks, endSeq: end };
  const fitting = chunks.slice(0, maxCalls);
  const endSeq = stepEnd(messages, fitting.at(-1)?.at(-1)?.to ?? 0);
  const inside = fitting.map((chunk) => chunk.filter(({ to }) => to <= endSeq)).filter((chunk) => chunk.length > 0);
  if (inside.length > 0) return { chunks: inside, endSeq };
  return longest <= 80
    ? undefined
    : portionOf(messages, told, Math.floor(longest / 2), { room, maxCalls, counter, mask });
}

function failure(failed: SummaryFailure, message: string): SummaryOutcome {
  return { ok: false, failed, message, calls: 0, usage: [] };
}
