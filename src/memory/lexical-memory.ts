/** A memory that searches by words. It lives in RAM, needs no package and asks no model. */
import { knownSecrets, textMask } from "../mask/text.ts";
import type { Message } from "../message/message.ts";
import type { NumberedMessage } from "../message/step.ts";
import { counterOf } from "../tokens/counters.ts";
import { fillByRank, LexicalIndex, shownMessage } from "./lexical.ts";
import type { Memory, MemoryPassage, MemoryQuery } from "./memory.ts";
import { memoryTokens } from "./memory.ts";

/** The most candidates that are ranked for one query. */
const mostCandidates = 400;

/** A memory over the messages it received, searched by a {@link LexicalIndex}. */
export function lexicalMemory(): Memory {
  const index = new LexicalIndex();
  const mask = textMask(knownSecrets);
  const sessions = new Map<string, Map<number, Message>>();
  return {
    name: "lexical",

    async receive(sessionId, messages: Iterable<NumberedMessage>) {
      const known = sessions.get(sessionId) ?? new Map<number, Message>();
      sessions.set(sessionId, known);
      for (const { seq, message } of messages) {
        if (known.has(seq)) continue;
        known.set(seq, message);
        index.add(sessionId, seq, message);
      }
    },

    async query({
      text,
      maxTokens = memoryTokens,
      counter,
      asking,
      where,
    }: MemoryQuery): Promise<readonly MemoryPassage[]> {
      const only = where?.sessionId === undefined ? {} : { sessionId: where.sessionId };
      const found = index.search(text, { limit: mostCandidates, ...only }).flatMap(({ sessionId, seq }) => {
        if (sessionId === asking) return [];
        const message = sessions.get(sessionId)?.get(seq);
        return message ? [{ sessionId, seq, text: shownMessage(sessionId, seq, message, mask) }] : [];
      });
      const order = new Map([...sessions.keys()].map((id, position) => [id, position]));
      const placeOf = ({ sessionId }: { readonly sessionId: string }): number => order.get(sessionId) ?? 0;
      return fillByRank(found, maxTokens, counterOf(counter)).toSorted(
        (left, right) => placeOf(left) - placeOf(right) || left.seq - right.seq,
      );
    },

    async close() {},
  };
}
