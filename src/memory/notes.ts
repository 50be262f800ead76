/** A memory that tells notes of its own first, such as facts or files, and asks another one for what they leave room for. */
import { counterOf } from "../tokens/counters.ts";
import { askMemory } from "./ask.ts";
import { fillByRank, LexicalIndex } from "./lexical.ts";
import { memoryTokens } from "./memory.ts";
import type { Memory, MemoryPassage } from "./memory.ts";

/** A memory over the notes that `notesOn` finds for a text, best first. */
export function notesMemory(
  name: string,
  beside: Memory | undefined,
  notesOn: (text: string) => Promise<readonly Omit<MemoryPassage, "tokens">[]>,
): Memory {
  return {
    name: beside ? `${name}+${beside.name}` : name,

    async receive(sessionId, messages, signal) {
      await beside?.receive(sessionId, messages, signal);
    },

    async query(query, signal) {
      const { text, maxTokens = memoryTokens } = query;
      const notes = fillByRank(await notesOn(text), maxTokens, counterOf(query.counter));
      const left = maxTokens - notes.reduce((sum, { tokens }) => sum + tokens + 1, 0);
      const more = beside && left > 0 ? await askMemory(beside, { ...query, maxTokens: left }, signal) : [];
      return [...notes.map((note) => ({ ...note, signals: ["words"] as const })), ...more];
    },

    async close() {
      await beside?.close();
    },
  };
}

/** Things that share a word with a query, best first; those of one group are neighbours, and lend each other of their score. */
export function rankedBy<T>(
  query: string,
  things: readonly T[],
  read: (thing: T) => { readonly group: string; readonly text: string },
): readonly T[] {
  const index = new LexicalIndex();
  for (const [at, thing] of things.entries()) {
    const { group, text } = read(thing);
    index.add(group, at + 1, { id: `m${at + 1}`, role: "user", parts: [{ type: "text", text }] });
  }
  return index.search(query).map(({ seq }) => things[seq - 1]!);
}
