/** The cost of a session's windows with a prompt cache, in input tokens and in dollars. */
import type { Message, Usage } from "../message/message.ts";
import { countOnce } from "../tokens/counter.ts";
import { sharedPrefix } from "../message/shared-prefix.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { ModelPrices } from "../tokens/models.ts";
import { priceOf } from "../tokens/models.ts";
import type { OtherCall } from "../transcript/transcript.ts";

/** The multiples of the input's price, whatever the provider: Anthropic's, from its page on prompt caching. */
const multiples: ModelPrices = { input: 1, output: 0, cacheRead: 0.1, cacheWrite: 1.25 };

/** The prices of the model of a call, in dollars a million tokens; undefined where they are not known. */
export type PricesOf = (call: Pick<Message, "model">) => ModelPrices | undefined;

/** The cost of all requests of a session. */
export interface Cost {
  /** The input, in million input-token equivalents. */
  readonly equivalents: number;
  /** The input and the output that the session reports, in dollars; null where there are calls and none has a price. */
  readonly dollars: number | null;
}

/** Adds up the cost of calls. A call without prices is in the equivalents alone. */
export class CostSum {
  #equivalents = 0;
  #dollars = 0;
  readonly #calls = { priced: 0, unpriced: 0 };

  /** Adds what a call used. */
  add(usage: Usage, prices: ModelPrices | undefined): void {
    this.#equivalents += priceOf(usage, multiples);
    this.#calls[prices ? "priced" : "unpriced"]++;
    if (prices) this.#dollars += priceOf(usage, prices);
  }

  /** The cost so far. */
  result(): Cost {
    const { priced, unpriced } = this.#calls;
    const dollars = priced === 0 && unpriced > 0 ? null : round(this.#dollars, 6);
    return { equivalents: round(this.#equivalents, 6), dollars };
  }
}

/** The conditions that the requests of a session were sent under. */
export interface CostConditions {
  /** Tokens of each request beside its messages, which stand before them. Default 0. */
  readonly overhead?: number;
  /** Tokens of those that the first request finds in the cache. Default 0. */
  readonly warm?: number;
  /** Whether requests are cached. Default true. */
  readonly cached?: boolean;
  /** The share of what is written to the cache that it keeps for an hour, 0 to 1. Default 0. */
  readonly hourShare?: number;
  /** Default: none are known. */
  readonly pricesOf?: PricesOf;
  /** Calls of the session that no request answers for; they cost what they did. Default: none. */
  readonly others?: readonly OtherCall[];
}

/** Counts tokens of messages, each message object once. */
export class MessageTokens {
  readonly #counter: TokenCounter;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** Tokens of one message. */
  of(message: Message): number {
    return countOnce(this.#counter, message);
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
  readonly #conditions: Required<CostConditions>;
  readonly #contents: MessageContents;
  /** A tree of prefixes: `parent:message` maps to the node of that message. */
  readonly #nodes = new Map<string, number>();
  #newest = 0;
  /** The request before: its messages, and behind each its node and the tokens up to there. */
  #last: readonly Message[] = [];
  readonly #lastNodes: number[] = [];
  readonly #lastTokens: number[] = [];
  readonly #sum = new CostSum();
  #input = 0;
  #read = 0;

  /** @param contents - those of the session, where several tallies count it */
  constructor(tokens: MessageTokens, conditions: CostConditions = {}, contents = new MessageContents()) {
    const usual = { overhead: 0, warm: 0, cached: true, hourShare: 0, pricesOf: () => undefined, others: [] };
    this.#tokens = tokens;
    this.#contents = contents;
    this.#conditions = { ...usual, ...conditions };
    for (const other of this.#conditions.others) this.#sum.add(other.usage, this.#conditions.pricesOf(other));
  }

  /**
   * Counts one request.
   *
   * @param cold - whether the provider has nothing left in its cache. Default false.
   * @param answer - the message that answered it, for the price of its model and of its output
   */
  add(window: readonly Message[], cold = false, { usage, ...answer }: Partial<Message> = {}): void {
    const { overhead, cached, hourShare, pricesOf } = this.#conditions;
    const { output = 0 } = usage ?? {};
    const input = overhead + this.#tokens.sum(window);
    const cacheRead = cached ? this.#readOf(window, cold) : 0;
    const cacheWrite = cached ? input - cacheRead : 0;
    this.#input += input;
    this.#read += cacheRead;
    this.#sum.add({ input, output, cacheRead, cacheWrite, cacheWriteHour: hourShare * cacheWrite }, pricesOf(answer));
  }

  /** Tokens of a request that are read from the cache; the request is in it afterwards. */
  #readOf(window: readonly Message[], cold: boolean): number {
    if (cold) {
      this.#nodes.clear();
      this.#last = [];
    }
    const { overhead, warm } = this.#conditions;
    // The first request reads what an earlier session left in the cache.
    const left = this.#newest === 0 ? Math.min(warm, overhead) : 0;
    let cached = this.#isKnown("overhead");
    let read = cached ? overhead : left;
    // Windows mostly grow: what stands as it stood in the request before is in the cache, and is not looked up.
    const same = cached ? sharedPrefix(this.#last, window) : 0;
    let node = this.#lastNodes[same - 1] ?? 0;
    let tokens = this.#lastTokens[same - 1] ?? 0;
    read += tokens;
    for (let at = same; at < window.length; at += 1) {
      const message = window[at] as Message;
      const key = `${node}:${this.#contents.of(message)}`;
      const own = this.#tokens.of(message);
      cached = this.#isKnown(key) && cached;
      if (cached) read += own;
      node = this.#nodes.get(key) ?? 0;
      this.#lastNodes[at] = node;
      this.#lastTokens[at] = tokens += own;
    }
    this.#last = window;
    return read;
  }

  /** Whether a piece of a request was in one before. It is remembered. */
  #isKnown(key: string): boolean {
    const isKnown = this.#nodes.has(key);
    if (!isKnown) this.#nodes.set(key, ++this.#newest);
    return isKnown;
  }

  /** The share of all input tokens read from the cache, 0 to 1. */
  get cachedShare(): number {
    return this.#input === 0 ? 0 : round(this.#read / this.#input, 4);
  }

  /** The cost so far. */
  result(): Cost {
    return this.#sum.result();
  }
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
