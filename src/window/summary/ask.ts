/** Asking a model for a summary, request by request; each answer goes into the next request. */
import type { Locale } from "../../config/locale.ts";
import type { Usage } from "../../message/message.ts";
import type { Model, ModelAnswer, ModelRequest } from "../../model/model.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { checkSummary } from "./check.ts";
import type { Checked, CheckOptions } from "./check.ts";
import { summaryRequest } from "./prompt.ts";
import type { SourceItem } from "./source.ts";
import type { SummaryCost, SummaryFailure } from "./summary.ts";

/** One summary being asked for. */
export interface Asking {
  readonly model: Model;
  /** Most tokens one request may have. */
  readonly limit: number;
  readonly maxTokens: number;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  readonly locale: Locale;
  /** A host's own words for the task. */
  readonly prompt?: string | undefined;
  readonly counter: TokenCounter;
}

/** The material of a summary, and the facts its answer is checked by. */
export interface Material extends Pick<CheckOptions, "said" | "facts" | "paths" | "sourceTokens"> {
  /** The messages of each request, oldest first; at least one request. */
  readonly chunks: readonly (readonly SourceItem[])[];
  readonly previous?: { readonly text: string; readonly absorb: boolean };
}

/** The last answer, checked, and what all of them cost. */
export type Asked = Checked & SummaryCost;

/** Asks for every chunk in turn, and stops at the first answer that is none. */
export async function askInTurn(material: Material, asking: Asking, signal?: AbortSignal): Promise<Asked> {
  const usage: Usage[] = [];
  const struck: string[] = [];
  let calls = 0;
  let previous = material.previous;
  let checked: Checked = { ok: false, failed: "nothing-to-summarise", message: "There is nothing to read." };
  for (const [index, chunk] of material.chunks.entries()) {
    const last = index === material.chunks.length - 1;
    const request = requestFor(chunk, material, asking, previous);
    if (requestTokens(request, asking.counter) > asking.limit) {
      return { ok: false, failed: "window-too-small", message: tooLarge(asking.limit), calls, usage };
    }
    if (signal?.aborted) {
      return {
        ok: false,
        failed: "aborted",
        message: "The summary was aborted before the model was asked.",
        calls,
        usage,
      };
    }
    calls++;
    const answer = await answerOf(asking, request, signal);
    if ("failed" in answer) return { ok: false, ...answer, calls, usage };
    usage.push(answer.usage);
    const asked = last ? material : { ...material, facts: [], paths: [], sourceTokens: Infinity };
    checked = checkSummary(answer, { ...asked, ...asking });
    if (!checked.ok) return { ...checked, calls, usage };
    struck.push(...checked.struck);
    previous = { text: checked.text, absorb: true };
  }
  return checked.ok ? { ...checked, struck, calls, usage } : { ...checked, calls, usage };
}

/** One request; the names it asks for are what the summary has to hold. */
export function requestFor(
  chunk: readonly SourceItem[],
  { facts, paths }: Pick<Material, "facts" | "paths">,
  { maxTokens, locale, prompt, counter }: Asking,
  previous: Material["previous"],
): ModelRequest {
  const source = chunk.map(({ text }) => text);
  const absorbed = previous?.absorb === true ? [previous.text] : [];
  return summaryRequest({
    source,
    ...(previous && { previous }),
    names: [...facts, ...paths],
    maxTokens,
    sourceTokens: [...source, ...absorbed].reduce((sum, text) => sum + counter.count(text), 0),
    ...(prompt !== undefined && { task: prompt }),
    locale,
  });
}

/** Tokens of a whole request. */
export function requestTokens({ system = "", prompt }: ModelRequest, counter: TokenCounter): number {
  return counter.count(system) + counter.count(prompt) + 16;
}

function tooLarge(limit: number): string {
  return `A request would have been larger than the ${limit} tokens that the summariser's window leaves for it.`;
}

/** One answer, or why there is none; a model that hears no signal is not waited for. */
export async function answerOf(
  { model, timeout }: Pick<Asking, "model" | "timeout">,
  request: ModelRequest,
  signal: AbortSignal | undefined,
): Promise<ModelAnswer | { readonly failed: SummaryFailure; readonly message: string }> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, timeout);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const stopped = new Promise<never>((_, reject) => {
      controller.signal.addEventListener("abort", () => reject(new Error("no answer in time")), { once: true });
    });
    return await Promise.race([model(request, controller.signal), stopped]);
  } catch (error) {
    if (signal?.aborted) return { failed: "aborted", message: "The summary was aborted while the model was asked." };
    if (controller.signal.aborted) return { failed: "timeout", message: `The model did not answer in ${timeout} ms.` };
    const reason = error instanceof Error ? error.message : String(error);
    return { failed: "model-failed", message: `The model failed: ${reason.slice(0, 500)}` };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
