/** The blocks of a window that are no history: system, tools, the ephemeral tail. Counted again only where they changed. */
import type { Message, ToolDefinition } from "../message/message.ts";
import { countTools } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { hashMessages, hashName, hashText } from "./hash.ts";
import { tailMessage } from "./pinned.ts";
import { tokensOf } from "./view.ts";
import type { DynamicBlock } from "./window.ts";

/** What the blocks are made of. */
export interface FixedInput {
  /** Absent: the history's own leading system messages are it. */
  readonly system?: string;
  readonly own: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
  readonly tail: readonly DynamicBlock[];
}

/** The blocks, their tokens and hashes. */
export interface Fixed {
  readonly systemMessages: readonly Message[];
  readonly dynamicMessages: readonly Message[];
  readonly system: number;
  readonly tools: number;
  readonly dynamic: number;
  readonly systemHash: string;
  readonly toolsHash: string;
}

/** Remembers the blocks of the last call. */
export class FixedBlocks {
  readonly #counter: TokenCounter;
  #system: { readonly text: string; readonly message: Message } | undefined;
  #tools = { json: "[]", tokens: 0, hash: hashName(hashText("[]")) };

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** The blocks of a call. */
  of({ system, own, tools = [], tail }: FixedInput): Fixed {
    const systemMessages = system === undefined ? own : [this.#systemMessage(system)];
    const dynamic = tailMessage(tail);
    const dynamicMessages = dynamic ? [dynamic] : [];
    // A host may change the array in place: only its text tells.
    const json = JSON.stringify(tools);
    if (json !== this.#tools.json) {
      this.#tools = { json, tokens: countTools(this.#counter, tools), hash: hashName(hashText(json)) };
    }
    return {
      systemMessages,
      dynamicMessages,
      system: this.#count(systemMessages),
      tools: this.#tools.tokens,
      dynamic: this.#count(dynamicMessages),
      systemHash: hashName(hashMessages(systemMessages)),
      toolsHash: this.#tools.hash,
    };
  }

  #systemMessage(text: string): Message {
    if (this.#system?.text !== text) {
      this.#system = { text, message: { id: "windrow:system", role: "system", parts: [{ type: "text", text }] } };
    }
    return this.#system.message;
  }

  #count(messages: readonly Message[]): number {
    return messages.reduce((total, message) => total + tokensOf(this.#counter, message), 0);
  }
}
