/** Search by words over messages in RAM, and passages that fit into a number of tokens. */
import type { Message } from "../message/message.ts";
import { messageText } from "../message/message.ts";
import { quoteRest } from "../message/quote.ts";
import { isSessionId } from "../store/shared/rules.ts";
import { indexedMessage } from "../search/catch-up.ts";
import { SearchIndex } from "../search/search.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { clip } from "../window/stub/cut.ts";
import type { TextMask } from "../window/window.ts";
import { recallId } from "../window/stub/stub.ts";
import { termsOf } from "../window/recall/terms.ts";

/** A message that was found. `score` compares within one search only. */
export interface LexicalHit {
  readonly sessionId: string;
  readonly seq: number;
  readonly score: number;
}

/** An index of messages in memory, ranked as {@link SearchIndex} ranks them. Messages of one session are added in their order. */
export class LexicalIndex {
  readonly #index = new SearchIndex();
  #sessions = 0;

  /** Adds a message. A message without a word counts too, for its neighbours. */
  add(sessionId: string, seq: number, message: Message): void {
    if (!this.#index.entry(sessionId)) this.#index.describe(sessionId, { created: this.#sessions++ });
    this.#index.add(sessionId, indexedMessage(seq, message));
  }

  /** The messages that match a query, best first, newest first among equals. Empty when no word of it is known. */
  search(query: string, limit = 50): readonly LexicalHit[] {
    const found = this.#index.rankNow(new Set(termsOf(query)), { entries: [...this.#index.entries()], limit });
    return found.map(({ entry, seq, score }) => ({ sessionId: entry.id, seq, score }));
  }
}

/** Characters of an id that name a session: `windrow` and people find it by them. */
const shortLength = 8;

/** The beginning of a session's id, for labels: the whole of one costs more tokens than a line of talk. */
export function shortId(sessionId: string): string {
  return isSessionId(sessionId) ? sessionId.slice(0, shortLength) : sessionId;
}

/** Characters of a passage at most. */
export const longestPassage = 4_000;

/** A message as a passage: a label, then its text with marks, cut in the middle when it is too long. */
export function shownMessage(sessionId: string, seq: number, message: Message, mask: TextMask): string {
  const label = [sessionId, recallId(seq), message.role].filter((word) => word !== "").join(" ");
  return `[${label}] ${quoteRest(clip(messageText(message), longestPassage, mask))}`;
}

/** Room in tokens that is too small for any message. */
export const leastTokens = 4;

/** As many of the ranked passages as fit, best first. One that is larger than the room that is left is skipped. */
export function fillByRank<T extends { readonly text: string }>(
  ranked: readonly T[],
  maxTokens: number,
  counter: TokenCounter,
): readonly (T & { readonly tokens: number })[] {
  const taken: (T & { readonly tokens: number })[] = [];
  let left = maxTokens;
  for (const one of ranked) {
    if (left < leastTokens) break;
    const tokens = counter.count(one.text);
    if (tokens >= left) continue;
    left -= tokens + 1;
    taken.push({ ...one, tokens });
  }
  return taken;
}
