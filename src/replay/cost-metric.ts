/** The cost of a session's windows with a prompt cache, in input tokens and in dollars. */
import type { Message } from "../message/message.ts";
import { countOnce } from "../tokens/counter.ts";
import { sharedPrefix } from "../message/shared-prefix.ts";
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

/** The cost of the input of all requests of a session. */
export interface Cost {
  /** Million input-token equivalents. */
  readonly equivalents: number;
  /** Dollars by the model's prices; null when they are unknown. */
  readonly dollars: number | null;
}

/** Input tokens by their cache state. */
export interface InputTokens {
  /** Read from the cache. */
  readonly read: number;
  /** Written to the cache. */
  readonly written: number;
  /** Neither. */
  readonly plain: number;
}

/** The cost of input tokens; in dollars where prices are given. */
export function tokensAsCost(tokens: InputTokens, prices?: InputPrices): Cost {
  return {
    equivalents: round(millions(tokens, costMultiples), 6),
    dollars: prices ? round(millions(tokens, prices), 6) : null,
  };
}

function millions({ read, written, plain }: InputTokens, prices: InputPrices): number {
  return (read * prices.cacheRead + written * prices.cacheWrite + plain * prices.input) / 1e6;
}

/** The conditions that the requests of a session were sent under. */
export interface CostConditions {
  /** Tokens of each request beside its messages, which stand before them. Default 0. */
  readonly overhead?: number;
  /** Tokens of those that the first request finds in the cache. Default 0. */
  readonly warm?: number;
  /** Whether requests are cached. Default true. */
  readonly cached?: boolean;
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
      tokens = countOnce(this.#counter, message);
      this.#known.set(message, tokens);
    }
    return tokens;
  }

  /** Tokens of messages together. */
  sum(messages: readonly Message[]): number {
    return messages.reduce((total, message) => total + this.of(message), 0);
  }
}

/** Numbers messages by their content. Providers compare what is sent, so equal messages have equal numbers. */
export class MessageContents {
  readonly #contents = new Map<string, number>();
  readonly #known = new WeakMap<Message, number>();

  /** The number of a message's content. */
  of(message: Message): number {
    let id = this.#known.get(message);
    if (id === undefined) {
      const content = JSON.stringify([message.role, message.parts]);
      id = this.#contents.get(content) ?? this.#contents.size;
      this.#contents.set(content, id);
      this.#known.set(message, id);
    }
    return id;
  }
}

/**
 * Adds up the cost of requests. The longest prefix that an earlier request had is read from the cache, the rest is
 * written to it.
 */
export class CostTally {
  readonly #tokens: MessageTokens;
  readonly #overhead: number;
  #warm: number;
  readonly #cached: boolean;
  readonly #contents: MessageContents;
  /** A tree of prefixes: `parent:message` maps to the node of that message. */
  readonly #nodes = new Map<string, number>();
  #newest = 0;
  /** The request before: its messages, and behind each its node and the tokens up to there. */
  #last: readonly Message[] = [];
  readonly #lastNodes: number[] = [];
  readonly #lastTokens: number[] = [];
  #read = 0;
  #written = 0;
  #plain = 0;

  /** @param contents - those of the session, where several tallies count it */
  constructor(
    tokens: MessageTokens,
    { overhead = 0, warm = 0, cached = true }: CostConditions = {},
    contents = new MessageContents(),
  ) {
    this.#tokens = tokens;
    this.#contents = contents;
    this.#overhead = overhead;
    this.#warm = Math.min(warm, overhead);
    this.#cached = cached;
  }

  /**
   * Counts one request.
   *
   * @param cold - whether the provider has nothing left in its cache. Default false.
   */
  add(window: readonly Message[], cold = false): void {
    if (!this.#cached) {
      this.#plain += this.#overhead + this.#tokens.sum(window);
      return;
    }
    if (cold) {
      this.#nodes.clear();
      this.#last = [];
    }
    let cached = this.#step("overhead", this.#overhead, true);
    // The first request reads what an earlier session left in the cache.
    this.#read += this.#warm;
    this.#written -= this.#warm;
    this.#warm = 0;
    // Windows mostly grow: what stands as it stood in the request before is in the cache, and is not looked up.
    const same = cached ? sharedPrefix(this.#last, window) : 0;
    let node = this.#lastNodes[same - 1] ?? 0;
    let tokens = this.#lastTokens[same - 1] ?? 0;
    this.#read += tokens;
    for (let at = same; at < window.length; at += 1) {
      const message = window[at] as Message;
      const key = `${node}:${this.#contents.of(message)}`;
      const own = this.#tokens.of(message);
      cached = this.#step(key, own, cached);
      node = this.#nodes.get(key) ?? 0;
      this.#lastNodes[at] = node;
      this.#lastTokens[at] = tokens += own;
    }
    this.#last = window;
  }

  /** Counts a piece of a request as read or written, and remembers it. Returns whether it was read. */
  #step(key: string, tokens: number, cached: boolean): boolean {
    const read = cached && this.#nodes.has(key);
    if (read) this.#read += tokens;
    else this.#written += tokens;
    if (!this.#nodes.has(key)) this.#nodes.set(key, ++this.#newest);
    return read;
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
    return tokensAsCost({ read: this.#read, written: this.#written, plain: this.#plain }, prices);
  }
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
