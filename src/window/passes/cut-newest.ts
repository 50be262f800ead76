/**
 * cut-newest: the largest parts of steps that may not leave are cut: results, arguments of calls, the assistant's words.
 * Each cut names the id that recalls the whole.
 */
import type { Part, ToolCallPart } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import { isPlaced } from "../edits.ts";
import { fit, markTokens } from "./fit.ts";
import type { FitEnds } from "./fit.ts";
import { cutMark, recallId, stubOf } from "../stub/stub.ts";
import type { Edit, Pass, PassContext, ViewStep } from "../window.ts";
import { excerptResult, leastExcerpt, resultsOf, stubResult } from "./results.ts";
import type { ViewResult } from "./results.ts";
import { shortenArguments, toLevel } from "./shorten.ts";

/** A part that can be cut, or several that leave together. */
interface Piece {
  readonly tokens: number;
  /** The edits that bring it down to about `level` tokens. */
  cut(level: number): readonly Edit[];
}

const why = { pass: "cut-newest", reason: "the newest step alone is larger than the budget" };

/** Cuts the largest parts of protected steps until the view meets the target; the newest results as excerpts. */
export const cutNewest: Pass = {
  name: why.pass,
  plan(view, context) {
    const excess = view.tokens - context.target;
    if (excess <= 0) return [];
    const pieces = view.steps
      .filter((step) => step.protected && step.kind === "assistant")
      .flatMap((step) => piecesOf(step, context));
    const sizes = pieces.map(({ tokens }) => tokens);
    const cut = (level: number): readonly Edit[] => {
      const cuts = pieces.filter(({ tokens }) => tokens > level).map((piece) => piece.cut(level));
      return cuts.filter((edits) => savedBy(edits) > 0).flat();
    };
    return toLevel(sizes, excess, cut, (edits) => excess - savedBy(edits));
  },
};

function savedBy(edits: readonly Edit[]): number {
  return edits.reduce((sum, { tokensBefore, tokensAfter }) => sum + tokensBefore - tokensAfter, 0);
}

function piecesOf(step: ViewStep, context: PassContext): readonly Piece[] {
  const own = step.messages.filter(({ message }) => message.role === "assistant" && message.status !== "synthetic");
  return [
    ...own.flatMap((numbered) => writtenPieces(numbered, context)),
    ...resultsOf([step]).map((entry) => resultPiece(entry, context)),
  ];
}

function resultPiece(entry: ViewResult, context: PassContext): Piece {
  const tokens = countResultOnce(context.counter, entry.result);
  const mark = cutMark(tokens, recallId(entry.seq));
  const cut = (level: number): readonly Edit[] => {
    const isMark = level < leastExcerpt;
    const edit = isMark ? stubResult(entry, mark, context, why, false) : excerptResult(entry, level, context, why);
    return edit ? [edit] : [];
  };
  return { tokens, cut };
}

/** The pieces of what the assistant wrote: reasoning, calls, and the parts beside them. */
function writtenPieces({ seq, message }: NumberedMessage, { counter, mask }: PassContext): readonly Piece[] {
  const context: FitEnds = { keep: "ends", id: recallId(seq), counter, mask };
  const at = { kind: "stub", from: seq, to: seq, ...why } as const;
  const tokensOf = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + countPart(counter, part), 0);

  const reasoning = tokensOf(message.parts.filter(({ type }) => type === "reasoning"));
  // Reasoning leaves whole: it goes back as it was written, or not at all.
  const without = { ...at, kind: "drop", only: "reasoning", tokensBefore: reasoning, tokensAfter: 0 } as const;

  const cutCall = (call: ToolCallPart, level: number): Edit => {
    const args = shortenArguments(call.args, level, context);
    const { argsText: _, ...rest } = call;
    return {
      ...at,
      callId: call.callId,
      part: "arguments",
      text: JSON.stringify(args),
      stubs: [stubOf(call.name, call.args, context.id, mask)],
      tokensBefore: countPart(counter, call),
      tokensAfter: countPart(counter, { ...rest, args }),
    };
  };

  const cutPlaced = (part: Part, place: number, level: number): Edit => {
    const tokensBefore = countPart(counter, part);
    const text = part.type === "text" ? fit(part.text, level, context) : cutMark(tokensBefore, context.id);
    return { ...at, part: "text", place, text, tokensBefore, tokensAfter: counter.count(text) };
  };
  const placed = message.parts.filter(isPlaced).map((part, index) => ({ part, place: index + 1 }));
  const blocks = placed.filter(({ part }) => part.type === "opaque");
  const others = placed.filter(({ part }) => part.type !== "opaque");

  return [
    ...(reasoning > markTokens ? [{ tokens: reasoning, cut: () => [without] }] : []),
    ...message.parts
      .filter((part) => part.type === "tool-call")
      .map((call) => ({ tokens: tokensOf([call]), cut: (level: number) => [cutCall(call, level)] })),
    // Blocks of a provider leave together, because one may answer another.
    ...[...others.map((one) => [one]), blocks].map((group) => ({
      tokens: tokensOf(group.map(({ part }) => part)),
      cut: (level: number) => group.map(({ part, place }) => cutPlaced(part, place, level)),
    })),
  ];
}
