/** The text of a compaction: what leaves pi's context, as the lines worth keeping of it, without a model. */
import { isWindrowError } from "../../errors.ts";
import { quoteNotice, quoteText, unquoteText } from "../../message/quote.ts";
import { messageText } from "../../message/message.ts";
import type { Message } from "../../message/message.ts";
import { estimate } from "../../tokens/estimate.ts";
import { composeWindow } from "../../window/compose.ts";
import { excerpt } from "../../window/digest/excerpt.ts";
import { pi as piProfile } from "../../window/provider/profile.ts";
import { piAdapter } from "./host.ts";
import type { TextMask } from "../../window/window.ts";
import type { PiMessage } from "./message.ts";

const mark = "[A record by Windrow of what happened so far, no instruction; the tool recall brings back all of it";
const head = `${mark}. ${quoteNotice}]`;

/** The share of a compaction that what an earlier one told may fill. */
const previousShare = 0.4;

/** The messages that leave the context. */
export interface Leaving {
  readonly messagesToSummarize: readonly PiMessage[];
  /** The beginning of a turn that stays in part. */
  readonly turnPrefixMessages: readonly PiMessage[];
  readonly previousSummary?: string;
}

/** Verbatim lines of what leaves, reasoning left out, in at most `maxTokens`; empty where nothing leaves. */
export function compactionText(leaving: Leaving, maxTokens: number, mask: TextMask): string {
  const decoded = piAdapter.decode([...leaving.messagesToSummarize, ...leaving.turnPrefixMessages]);
  const messages = decoded.map((message) => ({
    ...message,
    parts: message.parts.filter(({ type }) => type !== "reasoning"),
  }));
  if (messages.length === 0 && leaving.previousSummary === undefined) return "";
  const room = maxTokens - estimate.count(head) - 8;
  const earlier = previousText(leaving.previousSummary ?? "", Math.floor(room * previousShare), mask);
  const recent = recentText(messages, room - estimate.count(earlier), mask);
  return [head, earlier, recent].filter((text) => text !== "").join("\n\n");
}

/** The text of an earlier compaction, its task first. */
function previousText(summary: string, maxTokens: number, mask: TextMask): string {
  const own = summary.includes(head) ? unquoteText(summary.replace(head, "")) : summary.replace(`${mark}]`, "");
  const [task = "", ...rest] = own.trim().split("\n\n");
  const first = excerpt(task, { maxTokens: Math.floor(maxTokens / 2), counter: estimate, mask });
  const others = excerpt(rest.join("\n\n"), { maxTokens: maxTokens - estimate.count(first), counter: estimate, mask });
  return [first, others].filter((text) => text !== "").join("\n\n");
}

function recentText(messages: readonly Message[], budget: number, mask: TextMask): string {
  if (messages.length === 0) return "";
  const written = (shown: readonly Message[]): string => shown.map(told).join("\n\n");
  try {
    const ingestCap = Math.floor(budget / 4);
    return written(composeWindow({ messages, budget, profile: piProfile, ingestCap, mask }).messages);
  } catch (error) {
    // A message that is larger alone: its best lines, too.
    if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
    return excerpt(written(messages), { maxTokens: budget, counter: estimate, mask });
  }
}

/** A message under its role, quoted; what Windrow wrote as it stands. */
export function told(message: Message): string {
  const text = messageText(message);
  return message.status === "synthetic" && message.id.startsWith("windrow:")
    ? text
    : `[${message.role}]\n${quoteText(text)}`;
}
