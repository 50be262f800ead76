/**
 * truncate-tool-results: older large results become excerpts of the lines that later calls look back for. Also cuts
 * results above a cap when they come in.
 */
import { inlineText, quoteHint, splitLines, unquoteStub } from "../../message/quote.ts";
import { ownText, resultMedia, resultText, toolResults, withOwnText } from "../../message/message.ts";
import type { ToolResultPart } from "../../message/message.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import { excerpt } from "../digest/excerpt.ts";
import type { ExcerptOptions } from "../digest/excerpt.ts";
import { recallId, stubsOf } from "../stub/stub.ts";
import { isStub, stubPass } from "../edits.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Edit, Pass, PassContext, Stub, View, ViewStep } from "../window.ts";

/** Options of {@link truncateToolResults}. */
export interface TruncateOptions {
  /** Share of the target that the newest steps may fill with whole results. Default 0.3. */
  readonly keepShare?: number;
  /** Most tokens an older result keeps. Default 160. */
  readonly maxTokens?: number;
}

/** Cuts results behind the newest steps to excerpts, each with its size and its id. */
export function truncateToolResults({ keepShare = 0.3, maxTokens = 160 }: TruncateOptions = {}): Pass {
  return {
    name: "truncate-tool-results",
    plan(view: View, context: PassContext): readonly Edit[] {
      const seen = new Set<string>();
      const edits: Edit[] = [];
      let whole = Math.floor(context.target * keepShare);
      // Newest first, so that an excerpt leaves out what newer steps show; the oldest are then cut first.
      for (const step of view.steps.toReversed()) {
        if (step.kind !== "assistant") continue;
        whole -= step.tokens;
        if (whole < 0 && !step.protected) edits.push(...truncateStep(step, context, maxTokens, seen).toReversed());
        remember(step, seen);
      }
      let excess = view.tokens - context.target;
      return edits.toReversed().filter((edit) => {
        const needed = excess > 0;
        excess -= edit.tokensBefore - edit.tokensAfter;
        return needed;
      });
    },
  };
}

/** Tokens below which an excerpt has no room for its label. */
export const leastExcerpt = 96;

/**
 * Edits that bring the results of one step down to about `maxTokens` each. An image or a file stays where it leaves room
 * for an excerpt of the text beside it, and goes with the rest where it does not.
 */
export function truncateStep(
  step: ViewStep,
  { counter, mask }: Pick<PassContext, "counter" | "mask">,
  maxTokens: number,
  seen?: ReadonlySet<string>,
): readonly Edit[] {
  const stubs = stubsOf(step.messages, mask);
  const edits: Edit[] = [];
  for (const { seq, message } of step.messages) {
    const results = toolResults(message);
    const own = stubs.filter((stub) => stub.id === recallId(seq));
    for (const [position, result] of results.entries()) {
      const before = countResultOnce(counter, result);
      if (before <= maxTokens + 24 || message.status === "synthetic") continue;
      const about = own[position];
      const room = maxTokens - mediaTokens(result, counter);
      const keepsMedia = resultMedia(result).length > 0 && room >= leastExcerpt && ownText(result) !== undefined;
      const shown = keepsMedia ? (ownText(result) ?? "") : resultText(result);
      const text = stubText(result, shown, about, {
        maxTokens: keepsMedia ? room : maxTokens,
        counter,
        mask,
        ...(seen && { seen }),
      });
      const after = countPart(counter, keepsMedia ? withOwnText(result, text) : { ...result, content: text });
      if (after >= before) continue;
      edits.push({
        kind: "stub",
        from: seq,
        to: seq,
        ...(results.length > 1 && { callId: result.callId }),
        text,
        ...(keepsMedia && { keepsMedia }),
        stubs: about ? [about] : [],
        pass: "truncate-tool-results",
        reason: `an older result of ${before} tokens`,
        tokensBefore: before,
        tokensAfter: after,
      });
    }
  }
  return edits;
}

function mediaTokens(result: ToolResultPart, counter: TokenCounter): number {
  return resultMedia(result).reduce((sum, part) => sum + countPart(counter, part), 0);
}

/** A label with the whole result's size and id, and as much of the result as fits. */
function stubText(result: ToolResultPart, text: string, about: Stub | undefined, options: ExcerptOptions): string {
  // A result cut before names its true size in its own label; that label stays the first line.
  const shown = isStub(result) ? unquoteStub(text) : text;
  const earlier = labelling.has(stubPass(result) ?? "") ? labelPattern.exec(text) : null;
  const body = earlier ? shown.slice(earlier[0].length) : shown;
  const label = earlier ? hinted(earlier[0].trimEnd()) : labelOf(text, about);
  const room = options.maxTokens - options.counter.count(label);
  const lines = room > 0 ? excerpt(body, { ...options, maxTokens: room }) : "";
  return lines === "" ? label : `${label}\n${lines}`;
}

/** A label, with the hint about quotation marks added where an earlier version wrote it without one. */
function hinted(label: string): string {
  return label.includes(quoteHint)
    ? label
    : label.replace(/; the whole (?=\([^)]*\) is m\d+\]$)/, `, ${quoteHint}; the whole `);
}

/** Passes whose excerpts begin with a label; the first line of any other stub may be a tool's. */
const labelling: ReadonlySet<string> = new Set(["truncate-tool-results", "ingest-cap"]);

const labelPattern = /^\[Windrow: an excerpt of .*; the whole \([^)]*\) is m\d+\]\n?/;

function labelOf(text: string, about: Stub | undefined): string {
  const lines = splitLines(text).length;
  const size = `${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}, ${text.length.toLocaleString("en-US")} characters`;
  const what = inlineText([about?.tool, about?.subject].filter(Boolean).join(" "));
  return `[Windrow: an excerpt of ${what}, ${quoteHint}; the whole (${size}) is ${about?.id}]`;
}

function remember(step: ViewStep, seen: Set<string>): void {
  for (const { message } of step.messages) {
    for (const result of toolResults(message)) {
      for (const line of splitLines(resultText(result))) if (line.length >= 3) seen.add(line.trim());
    }
  }
}

/**
 * Stub edits that show every result above a cap as an excerpt of at most that many tokens: errors, paths, ids and names
 * beside head and tail, with the id that recalls the whole. Applied when a step is first shown, before it was ever sent
 * whole, so no epoch opens. The same step gives the same edits.
 *
 * @param cap - most tokens of one result
 */
export function ingestEdits(
  step: ViewStep,
  cap: number,
  context: Pick<PassContext, "counter" | "mask">,
): readonly Edit[] {
  if (step.kind !== "assistant" || step.tokens <= cap) return [];
  return truncateStep(step, context, cap).map((edit) => ({
    ...edit,
    pass: "ingest-cap",
    reason: `a result of ${edit.tokensBefore} tokens; one may have ${cap}`,
  }));
}
