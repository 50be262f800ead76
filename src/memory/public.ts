/** `windrow/memory`: knowledge that outlives sessions. */
export { LexicalIndex } from "./lexical.ts";
export { lexicalMemory } from "./lexical-memory.ts";
export type { Memory, MemoryPassage, MemoryQuery } from "./memory.ts";
export type { MemoryEntry, MemoryLogOptions, NewMemoryEntry } from "./log/memory-log.ts";
export { MemoryLog } from "./log/memory-log.ts";
export { dueOffloads } from "./offload/due.ts";
export type { DueOffload, DueOptions } from "./offload/due.ts";
export { offloadDue } from "./offload/offload.ts";
export type { OffloadOptions, OffloadOutcome, OffloadReport } from "./offload/offload.ts";
export { factMemory } from "./facts/fact-memory.ts";
export type { FactMemoryOptions } from "./facts/fact-memory.ts";
export { Facts } from "./facts/facts.ts";
export type { CurrentFact, Fact, FactSource, NewFact } from "./facts/facts.ts";
export { MemoryFiles } from "./files/memory-files.ts";
export type { FileChange, FileVersion, ListedFile, MemoryFilesOptions } from "./files/memory-files.ts";
export { forgetSessions } from "./forget.ts";
