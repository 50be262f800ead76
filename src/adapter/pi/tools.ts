/** Tools under pi: large results that stay out of the agent's messages, and the tool that brings anything back. */
import { WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import { quoteHint } from "../../message/quote.ts";
import type { Session } from "../../session/session.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { excerpt } from "../../window/digest/excerpt.ts";
import { journalOf } from "../host/journal.ts";
import { asSession } from "../host/given-session.ts";
import { recallTool } from "../host/recall-tool.ts";
import type { RecallDeclaration, RecallTool } from "../host/recall-tool.ts";
import { piHost } from "./host.ts";
import type { TextMask } from "../../window/window.ts";
import { fromPi } from "./message.ts";

/** A block of a tool's content in pi: text, or an image that is handed on as it is. */
export type PiContent = { readonly type: string; readonly text?: string };

/** The data that pi's `afterToolCall` receives. */
export interface PiToolOutcome<Content extends PiContent> {
  readonly toolCall: { readonly id: string; readonly name: string };
  readonly result: { readonly content: readonly Content[] };
}

/** A content whose text is cut to an excerpt, and how large it was. */
export interface Cut<Content> {
  readonly content: (Content | { type: "text"; text: string })[];
  /** Tokens of the whole text. */
  readonly tokens: number;
}

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
  return { content: [block, ...content.filter(({ type }) => type !== "text")], tokens };
}

/**
 * An `afterToolCall` for pi's `Agent`: a result larger than the manager's `ingestCap` goes whole into the session's log,
 * and the agent's own messages get an excerpt of it. Windows show an excerpt with the id for recall. While the log cannot
 * be written every result stays as it is. Never throws or rejects.
 *
 * @throws WindrowError `bad-option` where the session's manager was opened without an `ingestCap`
 * @example
 * const manager = await SessionManager.open({ profile: "pi", ingestCap: 4_000 });
 * agent.afterToolCall = createAfterToolCall(session);
 */
export function createAfterToolCall(
  session: Session,
): <Content extends PiContent>(outcome: PiToolOutcome<Content>) => Promise<{ content: Content[] } | undefined> {
  const { ingestCap, counter, mask } = asSession(session, "createAfterToolCall").settings;
  if (ingestCap === undefined || ingestCap === Infinity) {
    throw new WindrowError("bad-option", "Open the manager with an `ingestCap`: the most tokens one result may have.");
  }
  const log = journalOf(session, piHost);
  return async <Content extends PiContent>({ toolCall, result }: PiToolOutcome<Content>) => {
    try {
      if (log.teller.failing) return undefined;
      const where = `is in the session's log; recall with words of it brings them back`;
      const cut = cutContent(result.content, ingestCap, counter, where, mask);
      const whole = cut && fromPi(toolResult(toolCall, result.content));
      if (!cut || !whole) return undefined;
      log.keepWhole(toolCall.id, whole.parts);
      return { content: cut.content as Content[] };
    } catch (error) {
      log.teller.failed(error);
      return undefined;
    }
  };
}

function toolResult(
  { id, name }: PiToolOutcome<PiContent>["toolCall"],
  content: readonly PiContent[],
): { role: string } {
  return { role: "toolResult", toolCallId: id, toolName: name, content } as { role: string };
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
