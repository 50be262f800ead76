/** The cost of a session's windows with a prompt cache, in input tokens and in dollars. */
import type { Message } from "../message/message.ts";
import { countMessage } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";

/** Prices of input by its cache state: multiples of the plain input price, or dollars a million tokens. */
export interface InputPrices {
  /** Uncached input. */
  readonly input: number;
  /** Input read from the cache. */
  readonly cacheRead: number;
  /** Input written to the cache. */
  readonly cacheWrite: number;
}

/** The multiples for comparisons, whatever the provider: Anthropic's, from its page on prompt caching. */
export const costMultiples: InputPrices = { input: 1, cacheRead: 0.1, cacheWrite: 1.25 };

/** The cost of all requests of a session, without output and tool schemas. The cache is assumed warm. */
export interface Cost {
  /** Million input-token equivalents. */
  readonly equivalents: number;
  /** Dollars by the model's prices; null when they are unknown. */
  readonly dollars: number | null;
}

/** Counts tokens of messages, each message object once. */
export class MessageTokens {
  readonly #counter: TokenCounter;
  readonly #known = new WeakMap<Message, number>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** Tokens of one message. */
  of(message: Message): number {
    let tokens = this.#known.get(message);
    if (tokens === undefined) {
      tokens = countMessage(this.#counter, message);
      this.#known.set(message, tokens);
    }
    return tokens;
  }

  /** Tokens of messages together. */
  sum(messages: readonly Message[]): number {
    return messages.reduce((total, message) => total + this.of(message), 0);
  }
}

/**
 * Adds up the cost of requests. The longest prefix that an earlier request had is read from the cache, the rest is
 * written to it, and an ephemeral tail is plain input.
 */
export class CostTally {
  readonly #tokens: MessageTokens;
  readonly #multiples: InputPrices;
  readonly #contents = new Map<string, number>();
  readonly #idsByMessage = new WeakMap<Message, number>();
  /** A tree of prefixes: `parent:message` maps to the node of that message. */
  readonly #nodes = new Map<string, number>();
  #read = 0;
  #written = 0;
  #plain = 0;

  constructor(tokens: MessageTokens, multiples: InputPrices = costMultiples) {
    this.#tokens = tokens;
    this.#multiples = multiples;
  }

  /**
   * Counts one request.
   *
   * @param tailLength - how many messages at the end are an ephemeral tail
   */
  add(window: readonly Message[], tailLength = 0): void {
    const prefix = window.slice(0, window.length - tailLength);
    let node = 0;
    let cached = true;
    for (const message of prefix) {
      const key = `${node}:${this.#contentOf(message)}`;
      const known = this.#nodes.get(key);
      cached &&= known !== undefined;
      const tokens = this.#tokens.of(message);
      if (cached) this.#read += tokens;
      else this.#written += tokens;
      node = known ?? this.#nodes.size + 1;
      if (known === undefined) this.#nodes.set(key, node);
    }
    this.#plain += this.#tokens.sum(window.slice(prefix.length));
  }

  /** The number of a message's content. Providers compare what is sent, so equal messages have equal numbers. */
  #contentOf(message: Message): number {
    let id = this.#idsByMessage.get(message);
    if (id === undefined) {
      const content = JSON.stringify([message.role, message.parts]);
      id = this.#contents.get(content) ?? this.#contents.size;
      this.#contents.set(content, id);
      this.#idsByMessage.set(message, id);
    }
    return id;
  }

  /** The share of all input tokens read from the cache, 0 to 1. */
  get cachedShare(): number {
    const total = this.#read + this.#written + this.#plain;
    return total === 0 ? 0 : round(this.#read / total, 4);
  }

  /**
   * The cost so far.
   *
   * @param prices - the model's, in dollars a million tokens
   */
  result(prices?: InputPrices): Cost {
    return {
      equivalents: round(this.#millions(this.#multiples), 6),
      dollars: prices ? round(this.#millions(prices), 6) : null,
    };
  }

  #millions(prices: InputPrices): number {
    return (this.#read * prices.cacheRead + this.#written * prices.cacheWrite + this.#plain * prices.input) / 1e6;
  }
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
