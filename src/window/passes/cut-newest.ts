/**
 * cut-newest: the largest parts of steps that may not leave are cut: results, arguments of calls, the assistant's words.
 * Each cut names the id that recalls the whole.
 */
import type { JsonValue, Message, Part, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { inlineName } from "../../message/quote.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import { isPlaced } from "../edits.ts";
import { cutMark, recallId, stubsOf, subjectOf } from "../stub/stub.ts";
import type { Edit, Pass, PassContext, ViewStep } from "../window.ts";
import { levelOf, markTokens, shortenArguments, shortenText } from "./shorten.ts";
import type { ShortenContext } from "./shorten.ts";
import { leastExcerpt, truncateStep } from "./truncate-tool-results.ts";

/** A part that can be cut. */
interface Piece {
  readonly tokens: number;
  /** The edits that bring it down to about `level` tokens. */
  cut(level: number): readonly Edit[];
}

const pass = "cut-newest";
const reason = "the newest step alone is larger than the budget";

/** Cuts the largest parts of protected steps until the view meets the target; the newest results as excerpts. */
export const cutNewest: Pass = {
  name: pass,
  plan(view, context) {
    const excess = view.tokens - context.target;
    if (excess <= 0) return [];
    const pieces = view.steps
      .filter((step) => step.protected && step.kind === "assistant")
      .flatMap((step) => step.messages.flatMap((numbered) => piecesOf(step, numbered, context)));
    const sizes = pieces.map(({ tokens }) => tokens);
    let level = Math.max(0, levelOf(sizes, excess));
    // Excerpts and marks come out some tokens larger than their room; the last try leaves the marks alone.
    for (let tries = 0; ; tries++) {
      const large = pieces.filter(({ tokens }) => tokens > level);
      const edits = large.flatMap((piece) => piece.cut(level));
      const saved = edits.reduce((sum, edit) => sum + edit.tokensBefore - edit.tokensAfter, 0);
      if (saved >= excess || level === 0) return edits;
      const lower = level - Math.ceil((excess - saved) / Math.max(1, large.length)) - 8;
      level = tries >= 3 ? 0 : Math.max(0, lower);
    }
  },
};

function piecesOf(step: ViewStep, numbered: NumberedMessage, context: PassContext): readonly Piece[] {
  const { seq, message } = numbered;
  if (message.status === "synthetic") return [];
  if (message.role !== "assistant") {
    return toolResults(message).map((result) => resultPiece(step, numbered, result, context));
  }
  const { counter, mask } = context;
  const within: ShortenContext = { id: recallId(seq), counter, mask };
  return [
    ...reasoningPieces(numbered, context),
    ...toolCalls(message).map((call) => argumentsPiece(seq, call, within)),
    ...placedPieces(seq, message, within),
  ];
}

function resultPiece(
  step: ViewStep,
  { seq, message }: NumberedMessage,
  result: ToolResultPart,
  context: PassContext,
): Piece {
  const { counter, mask } = context;
  const tokens = countResultOnce(counter, result);
  const which = toolResults(message).length > 1 ? { callId: result.callId } : {};
  const alone = [...step.messages.slice(0, 1), { seq, message: { ...message, parts: [result] } }];
  const short = (): readonly Edit[] => {
    const text = cutMark(tokens, recallId(seq));
    const stubs = stubsOf(alone, mask).filter(({ id }) => id === recallId(seq));
    const tokensAfter = countPart(counter, { ...result, content: text });
    return edited({ ...at(seq), ...which, text, stubs, tokensBefore: tokens, tokensAfter });
  };
  const excerpted = (level: number): readonly Edit[] =>
    truncateStep({ ...step, messages: alone }, context, level).map((edit) => ({ ...edit, ...which, reason }));
  return { tokens, cut: (level) => (level < leastExcerpt ? short() : excerpted(level)) };
}

/** Reasoning leaves whole: it goes back as it was written, or not at all. */
function reasoningPieces({ seq, message }: NumberedMessage, { counter }: PassContext): readonly Piece[] {
  const own = message.parts.filter((part) => part.type === "reasoning");
  const tokens = own.reduce((sum, part) => sum + countPart(counter, part), 0);
  if (tokens <= markTokens) return [];
  const edit = { ...at(seq), kind: "drop", only: "reasoning", tokensBefore: tokens, tokensAfter: 0 } as const;
  return [{ tokens, cut: () => edited(edit) }];
}

function argumentsPiece(seq: number, call: ToolCallPart, context: ShortenContext): Piece {
  const tokensBefore = countPart(context.counter, call);
  const args: JsonValue = call.args;
  return {
    tokens: tokensBefore,
    cut: (level) => {
      const shown = shortenArguments(args, level, context);
      const { argsText: _, ...rest } = call;
      const tokensAfter = countPart(context.counter, { ...rest, args: shown });
      const subject = subjectOf(args, context.mask);
      return edited({
        ...at(seq),
        callId: call.callId,
        part: "arguments",
        text: JSON.stringify(shown),
        stubs: [{ tool: inlineName(call.name), subject, id: context.id, count: 1 }],
        tokensBefore,
        tokensAfter,
      });
    },
  };
}

/** The parts beside reasoning and calls. Blocks of a provider leave together, because one may answer another. */
function placedPieces(seq: number, { parts }: Message, context: ShortenContext): readonly Piece[] {
  const { counter } = context;
  const placed = parts.filter(isPlaced).map((part, index) => ({ part, place: index + 1 }));
  const cut = (part: Part, place: number, level: number): Edit => {
    const tokensBefore = countPart(counter, part);
    const text = part.type === "text" ? shortenText(part.text, level, context) : cutMark(tokensBefore, context.id);
    return { ...at(seq), part: "text", place, text, stubs: [], tokensBefore, tokensAfter: counter.count(text) };
  };
  const blocks = placed.filter(({ part }) => part.type === "opaque");
  const whole = placed.filter(({ part }) => part.type !== "opaque");
  return [
    ...whole.map(({ part, place }) => ({
      tokens: countPart(counter, part),
      cut: (level: number) => edited(cut(part, place, level)),
    })),
    ...(blocks.length === 0
      ? []
      : [
          {
            tokens: blocks.reduce((sum, { part }) => sum + countPart(counter, part), 0),
            cut: (level: number) => blocks.map(({ part, place }) => cut(part, place, level)),
          },
        ]),
  ];
}

function at(seq: number): Pick<Edit, "kind" | "from" | "to" | "pass" | "reason"> {
  return { kind: "stub", from: seq, to: seq, pass, reason };
}

/** An edit that saves something. */
function edited(edit: Edit): readonly Edit[] {
  return edit.tokensAfter < edit.tokensBefore ? [edit] : [];
}
