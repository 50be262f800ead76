/** A memory that many users share, asked by one of them. */
import { isWindrowError } from "../errors.ts";
import type { Memory, MemoryPassage } from "../memory/memory.ts";
import type { Scope, Store } from "../store/store.ts";

/**
 * The memory, telling only of sessions that the scope sees in the store: what others left in it stays with them. The same
 * memory where the scope sees everything.
 */
export function ownMemory(memory: Memory, store: Store, scope: Scope): Memory {
  if (scope.user === undefined && scope.tenant === undefined) return memory;
  const sees = async (id: string): Promise<boolean> => {
    try {
      await store.info(scope, id);
      return true;
    } catch (error) {
      if (isWindrowError(error, "session-not-found") || isWindrowError(error, "session-id-invalid")) return false;
      throw error;
    }
  };
  return {
    name: memory.name,
    receive: (sessionId, messages, signal) => memory.receive(sessionId, messages, signal),
    async query(query, signal) {
      const passages = await memory.query(query, signal);
      const seen = new Map<string, boolean>();
      const own: MemoryPassage[] = [];
      for (const passage of passages) {
        const { sessionId } = passage;
        if (!seen.has(sessionId)) seen.set(sessionId, await sees(sessionId));
        if (seen.get(sessionId)) own.push(passage);
      }
      return own;
    },
    close: () => memory.close(),
  };
}
