/** `windrow/memory`: knowledge that outlives sessions. */
export { LexicalIndex } from "./lexical.ts";
export { lexicalMemory } from "./lexical-memory.ts";
export type { Memory, MemoryPassage, MemoryQuery } from "./memory.ts";
