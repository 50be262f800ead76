/** An engine in memory that is handed sessions, and searches them by words. */
import type { Message } from "windrow";
import { LexicalIndex } from "windrow/memory";
import type { Memory } from "windrow/memory";
import { fillByRank, shownMessage } from "./inside/memory.ts";
import { defaultMask } from "./inside/window.ts";

export function lexicalMemory(): Memory {
  const index = new LexicalIndex();
  const sessions = new Map<string, Map<number, Message>>();
  return {
    name: "lexical",

    async receive(sessionId, messages) {
      const known = sessions.get(sessionId) ?? new Map<number, Message>();
      sessions.set(sessionId, known);
      for (const { seq, message } of messages) {
        if (known.has(seq)) continue;
        known.set(seq, message);
        index.add(sessionId, seq, message);
      }
    },

    async query({ text, maxTokens = 2_000, counter, asking, where }) {
      const only = where?.sessionId === undefined ? undefined : [where.sessionId].flat();
      const found = index.search(text, 400).flatMap(({ sessionId, seq }) => {
        const message = sessions.get(sessionId)?.get(seq);
        if (sessionId === asking || only?.includes(sessionId) === false || !message) return [];
        return [{ sessionId, seq, text: shownMessage(sessionId, seq, message, defaultMask) }];
      });
      const order = [...sessions.keys()];
      return fillByRank(found, maxTokens, counter).toSorted(
        (left, right) => order.indexOf(left.sessionId) - order.indexOf(right.sessionId) || left.seq - right.seq,
      );
    },

    async close() {},
  };
}
