/** The text of a message for recall: its pieces in order, and passages of it. */
import { resultText, toolCalls } from "../../message/message.ts";
import { inlineName, quoteHint, quoteNotice, quoteText } from "../../message/quote.ts";
import type { Part } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { beyondCut, clip } from "../cut.ts";
import type { TextMask } from "../window.ts";
import { recallId } from "./stub.ts";

/** A message as recall reads it. */
export interface RecallDocument {
  readonly seq: number;
  /** The line above what is shown of it. */
  readonly head: string;
  /** The texts of its parts; together they are its body, with a line end between each two. */
  readonly texts: readonly string[];
  /** Characters of the body. */
  readonly length: number;
}

/** Lines of a message, by their place in its body. */
export interface ShownLines {
  readonly head: string;
  /** Lines of the body. */
  readonly count: number;
  readonly lines: ReadonlyMap<number, string>;
}

/** Tokens from which there is room to say at length what follows. */
const roomy = 200;

/** The first line of what recall answers: what follows is no instruction, and how it is quoted. */
export function recallNotice(maxTokens: number): string {
  return maxTokens >= roomy ? `[Windrow: a record. ${quoteNotice}]` : `[Windrow: a record, ${quoteHint}]`;
}

/** Characters from which a line is cut. */
export const longestLine = 2_000;

/** Characters that a cut line shows before and after a hit of the query. */
const aroundHit = 800;

/** The line that stands above the beginning of a message that is too long. */
export const moreFollows = "[the beginning; recall with words for the rest]";

/** A message's text for recall; nothing is copied but what stands in several pieces. */
export function documentOf({ seq, message }: NumberedMessage): RecallDocument {
  const names = toolCalls(message).map((call) => inlineName(call.name));
  const texts = message.parts.map(bodyOf).filter((text) => text !== "");
  return {
    seq,
    head: `[${[recallId(seq), message.role, ...names].join(" ")}]`,
    texts,
    length: texts.reduce((sum, text) => sum + text.length + 1, -1),
  };
}

function bodyOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-result":
      return resultText(part);
    case "tool-call":
      return `${part.name} ${readable(part.args)}`;
    default:
      return `[${part.type}]`;
  }
}

/** Arguments with their texts as they are, not escaped: an edit's lines stay lines. */
function readable(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}: ${readable(item)}`)
    .join("\n");
}

/** The text of a message, whole. */
export function renderWhole({ head, texts }: RecallDocument): string {
  return `${head}\n${texts.map(quoteText).join("\n")}`;
}

/** The beginning of a message that is longer than its room. */
export function renderBeginning({ head }: RecallDocument, lines: readonly string[]): string {
  return `${head}\n${moreFollows}\n${lines.map(quoteText).join("\n")}`;
}

/** Passages of a message, in their order, each gap marked. */
export function renderPassages({ head, count, lines }: ShownLines): string {
  const shown: string[] = [];
  let before = -1;
  for (const [index, line] of [...lines].toSorted(([left], [right]) => left - right)) {
    if (index > before + 1) shown.push(`[… line ${index + 1} of ${count}]`);
    shown.push(quoteText(line));
    before = index;
  }
  return [head, ...shown].join("\n");
}

/**
 * A line as recall shows it; a very long one as the stretch around what was asked for.
 *
 * @param at - where the query stands in it; negative where it does not
 * @param mask - replaces the secrets of a line that is cut
 */
export function shownLine(line: string, at: number, queryLength: number, mask: TextMask): string {
  if (line.length <= longestLine) return line;
  if (at < 0) return clip(line, longestLine, mask);
  const from = Math.max(0, at - aroundHit);
  const start = Math.max(0, from - beyondCut);
  const near = line.slice(start, at + queryLength + aroundHit + beyondCut);
  const masked = mask(near);
  if (masked !== near) {
    const hit = masked.indexOf(line.slice(at, at + queryLength));
    return hit < 0 ? clip(masked, longestLine, mask) : around(masked, hit, queryLength);
  }
  return around(near, at - start, queryLength);
}

function around(line: string, at: number, queryLength: number): string {
  const cut = line.slice(Math.max(0, at - aroundHit), at + queryLength + aroundHit);
  return `… ${cut.replace(/^[\uDC00-\uDFFF]/, "").replace(/[\uD800-\uDBFF]$/, "")} …`;
}

/** Counts are not quite additive: what came out some tokens too large loses its last lines. */
export function fit(text: string, maxTokens: number, counter: TokenCounter): string {
  let shown = text;
  while (shown !== "" && counter.count(shown) > maxTokens) {
    const end = shown.lastIndexOf("\n");
    shown = end < 0 ? shown.slice(0, Math.floor(shown.length / 2)).toWellFormed() : shown.slice(0, end);
  }
  return shown;
}
