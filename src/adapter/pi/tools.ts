/** Tools under pi: a large result cut to an excerpt, and the tool that brings anything back. */
import type { JsonObject } from "../../message/message.ts";
import { quoteHint } from "../../message/quote.ts";
import type { Session } from "../../session/session.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { excerpt } from "../../window/digest/excerpt.ts";
import { journalOf } from "../host/journal.ts";
import { recallTool } from "../host/recall-tool.ts";
import type { RecallDeclaration, RecallTool } from "../host/recall-tool.ts";
import { piHost } from "./host.ts";
import type { TextMask } from "../../window/window.ts";

/** A block of a tool's content in pi: text, or an image that is handed on as it is. */
export type PiContent = { readonly type: string; readonly text?: string };

/** A content whose text is cut to an excerpt. */
export type Cut<Content> = (Content | { type: "text"; text: string })[];

/**
 * The content with its text cut to about `cap` tokens under a label that says where the whole is; undefined where it is
 * no larger than that. Images stay.
 *
 * @param where - how the whole is brought back, for the model to read
 * @param mask - replaces the secrets of the text before it is cut
 */
export function cutContent<Content extends PiContent>(
  content: readonly Content[],
  cap: number,
  counter: TokenCounter,
  where: string,
  mask: TextMask,
): Cut<Content> | undefined {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");
  // No counter gives a token to every byte of so short a text.
  if (text.length <= cap) return undefined;
  const tokens = counter.count(text);
  if (tokens <= cap) return undefined;
  const lines = text.split("\n").length.toLocaleString("en-US");
  const label = `[Windrow: an excerpt, ${quoteHint}; the whole (${lines} lines, ${tokens.toLocaleString("en-US")} tokens) ${where}]`;
  const room = Math.max(1, cap - counter.count(label));
  const block = { type: "text" as const, text: `${label}\n${excerpt(text, { maxTokens: room, counter, mask })}` };
  return [block, ...content.filter(({ type }) => type !== "text")];
}

/** A tool in the shape pi's `Agent` takes. */
export interface PiRecallTool {
  name: string;
  label: string;
  description: string;
  /** JSON Schema. */
  parameters: JsonObject;
  execute(
    callId: string,
    given: unknown,
  ): Promise<{ content: { type: "text"; text: string }[]; details: { seqs: readonly number[]; more: boolean } }>;
}

/**
 * A tool for the model: brings back what left the window, by the id a stub names or by words. It reads the log, or pi's own
 * messages where the window was made of those.
 *
 * @example
 * agent.state.tools = [...agent.state.tools, createRecallTool(session)];
 */
export function createRecallTool(session: Session): PiRecallTool {
  const { numbered } = journalOf(session, piHost);
  const tool = recallTool((query) => numbered.recall(query));
  return { ...piDeclaration(tool), execute: (_callId, given) => piAnswer(tool, given) };
}

/** The declaration of a recall tool as pi takes it. */
export function piDeclaration({ name, description, inputSchema }: RecallDeclaration): Omit<PiRecallTool, "execute"> {
  return { name, label: "Recall", description, parameters: inputSchema };
}

/**
 * The answer of a recall tool as pi takes it.
 *
 * @throws Error with the text for the model, where the request was wrong: pi makes a failed result of nothing else
 */
export async function piAnswer(tool: RecallTool, given: unknown): ReturnType<PiRecallTool["execute"]> {
  const { text, isError, seqs, more } = await tool.answer(given);
  if (isError) throw new Error(text);
  return { content: [{ type: "text", text }], details: { seqs, more } };
}
