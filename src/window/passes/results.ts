/** The tool results of a view, with the calls they answer, and the stub edits that shorten them. */
import { inlineText, quoteHint, splitLines, unquoteStub } from "../../message/quote.ts";
import { ownText, resultMedia, resultText, toolCalls, toolResults, withOwnText } from "../../message/message.ts";
import type { ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import { ingestPass, isStub, stubPass } from "../edits.ts";
import { excerpt } from "../digest/excerpt.ts";
import { recallId, stubOf } from "../stub/stub.ts";
import type { Edit, Pass, PassContext, TextMask, ViewStep } from "../window.ts";

/** One result as it stands in the window. */
export interface ViewResult {
  readonly seq: number;
  readonly result: ToolResultPart;
  /** The call it answers. */
  readonly call: ToolCallPart | undefined;
  /** The name of the tool. */
  readonly name: string;
  /** The text of its text parts as it stands in the window, after an edit that edit's; undefined where it has none. */
  readonly text: string | undefined;
  /** Whether other results stand in the same message. */
  readonly several: boolean;
}

/** All results that tools gave, oldest first. Those that only close an interrupted call are none. */
export function resultsOf(steps: readonly ViewStep[]): readonly ViewResult[] {
  const found: ViewResult[] = [];
  for (const step of steps) {
    if (step.kind !== "assistant") continue;
    const calls = new Map<string, ToolCallPart>();
    for (const { message } of step.messages) for (const call of toolCalls(message)) calls.set(call.callId, call);
    for (const { seq, message } of step.messages) {
      if (message.status === "synthetic") continue;
      const results = toolResults(message);
      for (const result of results) {
        const call = calls.get(result.callId);
        const name = result.name ?? call?.name ?? "tool";
        found.push({ seq, result, call, name, text: ownText(result), several: results.length > 1 });
      }
    }
  }
  return found;
}

/** A pass that shows results with shorter texts. */
export interface Shortening {
  readonly name: string;
  /** When results shrink: `over-target`, or `always`. */
  readonly when: "over-target" | "always";
  /** The results that shrink, with the texts they are shown with, in any order. */
  readonly texts: (results: readonly ViewResult[], mask: TextMask) => Iterable<ShorterText>;
}

/** The text that a result is shown with. Its images and files stay. */
export interface ShorterText {
  readonly entry: ViewResult;
  readonly text: string;
  readonly reason: string;
}

/** A pass that shows results with other texts, where those are shorter. */
export function shortening({ name, when, texts }: Shortening): Pass {
  return {
    name,
    plan(view, context) {
      if (when === "over-target" && view.tokens <= context.target) return [];
      return [...texts(resultsOf(view.steps), context.mask)].flatMap(
        ({ entry, text, reason }) => stubResult(entry, text, context, { pass: name, reason }) ?? [],
      );
    },
  };
}

/** The context in which results are shortened. */
type StubContext = Pick<PassContext, "counter" | "mask">;

/** The pass of an edit, and why it was made. */
type Why = Pick<Edit, "pass" | "reason">;

/**
 * The edit that shows a result with another text; undefined where that is no shorter.
 *
 * @param keepsMedia - whether its images and files stay beside the text. Default true
 */
export function stubResult(
  entry: ViewResult,
  text: string,
  { counter, mask }: StubContext,
  why: Why,
  keepsMedia = true,
): Edit | undefined {
  const { seq, result, call, name, several } = entry;
  const tokensBefore = countResultOnce(counter, result);
  const tokensAfter = countPart(counter, keepsMedia ? withOwnText(result, text) : { ...result, content: text });
  if (tokensAfter >= tokensBefore) return undefined;
  return {
    kind: "stub",
    from: seq,
    to: seq,
    ...(several && { callId: result.callId }),
    text,
    ...(keepsMedia && resultMedia(result).length > 0 && { keepsMedia }),
    stubs: [stubOf(name, call?.args, recallId(seq), mask)],
    ...why,
    tokensBefore,
    tokensAfter,
  };
}

/** Tokens below which an excerpt has no room for its label. */
export const leastExcerpt = 96;

/**
 * The edit that shows a result as an excerpt of about `maxTokens`, with its size and its id; undefined where that is no
 * shorter. An image or a file stays where it leaves room for an excerpt of the text beside it, and else goes with the rest.
 */
export function excerptResult(entry: ViewResult, maxTokens: number, context: StubContext, why: Why): Edit | undefined {
  const { result } = entry;
  const { counter, mask } = context;
  if (countResultOnce(counter, result) <= maxTokens + 24) return undefined;
  const media = resultMedia(result);
  const beside = maxTokens - media.reduce((sum, part) => sum + countPart(counter, part), 0);
  const keepsMedia = media.length > 0 && beside >= leastExcerpt && entry.text !== undefined;
  const text = keepsMedia ? (entry.text ?? "") : resultText(result);
  // A result cut before names its true size in its own label; that label stays the first line.
  const earlier = labelling.has(stubPass(result) ?? "") ? (labelPattern.exec(text)?.[0] ?? "") : "";
  const label = earlier === "" ? labelOf(entry, text, mask) : earlier.trimEnd();
  const body = (isStub(result) ? unquoteStub(text) : text).slice(earlier.length);
  const room = (keepsMedia ? beside : maxTokens) - counter.count(label);
  const lines = room > 0 ? excerpt(body, { maxTokens: room, counter, mask }) : "";
  return stubResult(entry, lines === "" ? label : `${label}\n${lines}`, context, why, keepsMedia);
}

/** Passes whose excerpts begin with a label; the first line of any other stub may be a tool's. */
const labelling: ReadonlySet<string> = new Set(["cut-newest", ingestPass]);

const labelPattern = /^\[Windrow: an excerpt of .*; the whole \([^)]*\) is m\d+\]\n?/;

function labelOf({ seq, call, name }: ViewResult, text: string, mask: TextMask): string {
  const { tool, subject, id } = stubOf(name, call?.args, recallId(seq), mask);
  const lines = splitLines(text).length;
  const size = `${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}, ${text.length.toLocaleString("en-US")} characters`;
  return `[Windrow: an excerpt of ${inlineText(`${tool} ${subject}`)}, ${quoteHint}; the whole (${size}) is ${id}]`;
}

/**
 * Stub edits that show every result above a cap as an excerpt of at most that many tokens: errors, paths, ids and names
 * beside head and tail, with the id that recalls the whole. Applied when a step is first shown, before it was ever sent
 * whole, so no epoch opens. The same step gives the same edits.
 *
 * @param cap - most tokens of one result
 */
export function ingestEdits(step: ViewStep, cap: number, context: StubContext): readonly Edit[] {
  if (step.tokens <= cap) return [];
  return resultsOf([step]).flatMap((entry) => {
    const reason = `a result of ${countResultOnce(context.counter, entry.result)} tokens; one may have ${cap}`;
    return excerptResult(entry, cap, context, { pass: ingestPass, reason }) ?? [];
  });
}
