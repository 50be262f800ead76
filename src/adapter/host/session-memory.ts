/** A memory that a host asks for what some of a manager's sessions said. */
import { WindrowError } from "../../errors.ts";
import { askMemory } from "../../memory/ask.ts";
import { memoryTokens } from "../../memory/memory.ts";
import type { Memory, MemoryPassage } from "../../memory/memory.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { counterOf } from "../../tokens/counters.ts";
import { aboveZero, anyOf, kinds, withActions } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";

/** Which memory is asked, and how much it may answer with. */
export interface SessionMemoryOptions {
  /** The memory that is asked. Default: the manager's. */
  readonly memory?: Memory;
  /** Most tokens of one answer. Default 2,000. */
  readonly maxTokens?: number;
  /** The counter of these tokens: an object or a name. Default `estimate`. */
  readonly counter?: string | TokenCounter;
}

/** The kinds of these options. */
export const sessionMemoryKinds = {
  memory: withActions("receive", "query"),
  maxTokens: aboveZero,
  counter: anyOf(kinds.text, kinds.counter),
} as const satisfies Record<keyof SessionMemoryOptions, Kind>;

/** A memory, and the question to it about some sessions. */
export interface SessionMemory {
  readonly memory: Memory;
  /** Passages of these sessions; also a memory that takes no notice of `where` tells nothing of others. */
  readonly ask: (text: string, ids: readonly string[]) => Promise<readonly MemoryPassage[]>;
}

/**
 * The memory of a manager, or the one of the options.
 *
 * @param owner - the function that was called, for errors
 * @throws WindrowError `bad-option` where neither has one, `unknown-counter`
 */
export function sessionMemory(owner: string, manager: SessionManager, options: SessionMemoryOptions): SessionMemory {
  const { memory = manager.memory, maxTokens = memoryTokens } = options;
  if (!memory) {
    const message = `${owner} needs a memory: SessionManager.open({ …, memory: "store" }), or its option \`memory\`.`;
    throw new WindrowError("bad-option", message, { option: "memory" });
  }
  const counter = counterOf(options.counter);
  return {
    memory,
    async ask(text, ids) {
      if (ids.length === 0) return [];
      const passages = await askMemory(memory, { text, maxTokens, counter, where: { sessionId: ids } });
      return passages.filter(({ sessionId }) => ids.includes(sessionId));
    },
  };
}
