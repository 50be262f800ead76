/** Readers that are not perfect: agents that forget to recall, ask in their own words, or overlook parts of a window. */
import type { TokenCounter } from "../../src/tokens/counter.ts";
import type { SeenMessage } from "./jobs/view.ts";

/** The faults of a reader; one without any reads everything. */
export interface ReaderFaults {
  /** The chance, for each turn, that the agent does not think of recall. */
  readonly forgets?: number;
  /** Whether it overlooks messages between the edges of a long window. */
  readonly overlooks?: boolean;
  /** Whether it asks recall in its own words. */
  readonly ownWords?: boolean;
}

/** Tokens at the beginning and at the end of a window that are never overlooked. */
const edgeTokens = 2_000;

/** The window at which the chance would be 1, and the most that it ever is. */
const sureTokens = 64_000;
const mostOverlooked = 0.5;

/** The chance that a stretch between the edges of a window of so many tokens is overlooked. */
export function chanceOverlooked(windowTokens: number): number {
  return Math.min(mostOverlooked, windowTokens / sureTokens);
}

/** Synonyms for the plain words of a question; names, ids and paths have none. */
const synonyms: Readonly<Record<string, string>> = {
  address: "street",
  amount: "sum",
  answer: "reply",
  bin: "shelf",
  build: "release",
  byline: "author",
  cap: "ceiling",
  ceiling: "maximum",
  clause: "section",
  code: "reference",
  column: "field",
  count: "number",
  customer: "client",
  day: "date",
  delivery: "shipment",
  dock: "gate",
  duty: "shift",
  embargo: "hold",
  extension: "telephone",
  fee: "charge",
  figure: "number",
  film: "wrapping",
  freezer: "cooler",
  grade: "class",
  host: "machine",
  hotel: "lodging",
  interval: "period",
  limit: "maximum",
  line: "row",
  meal: "food",
  name: "title",
  notice: "warning",
  order: "purchase",
  owner: "person",
  phrase: "words",
  pieces: "units",
  place: "location",
  port: "socket",
  price: "cost",
  rate: "price",
  refund: "repayment",
  region: "area",
  replicas: "copies",
  retries: "attempts",
  room: "hall",
  rule: "policy",
  seat: "place",
  setting: "option",
  size: "extent",
  spelling: "form",
  status: "state",
  strongest: "best",
  teacher: "instructor",
  team: "group",
  tier: "level",
  time: "hour",
  timeout: "wait",
  titre: "concentration",
  total: "sum",
  town: "city",
  value: "content",
  version: "release",
};

type RecallArgs = Readonly<Record<string, string | number>>;

/** A question with its plain words replaced by synonyms. */
export function inOwnWords(query: string): string {
  return query.replaceAll(/(?<![\w./-])[a-z]+(?![\w./-])/g, (word) => synonyms[word] ?? word);
}

/** The reader of one job; the same seed makes the same faults. */
export class Reader {
  readonly #faults: ReaderFaults;
  readonly #seed: number;
  readonly #counter: TokenCounter;

  constructor(faults: ReaderFaults, seed: number, counter: TokenCounter) {
    this.#faults = faults;
    this.#seed = seed;
    this.#counter = counter;
  }

  /** Whether the agent thinks of recall in a turn. */
  thinksOfRecall(turn: number): boolean {
    return this.#chance(`recall ${turn}`) >= (this.#faults.forgets ?? 0);
  }

  /** The arguments of a recall as the agent puts them. */
  asks(args: RecallArgs): RecallArgs {
    const { query } = args;
    return this.#faults.ownWords && typeof query === "string" ? { ...args, query: inOwnWords(query) } : args;
  }

  /**
   * The messages that are noticed in a turn. A step is overlooked whole, a digest or an answer of recall by its
   * excerpts, whose heads stay.
   */
  notices(messages: readonly SeenMessage[], windowTokens: number, turn: number): readonly SeenMessage[] {
    if (!this.#faults.overlooks) return messages;
    const chance = chanceOverlooked(windowTokens);
    const counts = messages.map((message) => this.#counter.count(textOf(message)));
    const end = counts.reduce((sum, count) => sum + count, 0) - edgeTokens;
    const isOverlooked = (text: string, from: number, to: number): boolean =>
      from >= edgeTokens && to <= end && this.#chance(`${turn} ${text}`) < chance;
    let from = 0;
    return stepsOf(messages).flatMap((step) => {
      const first = step[0] as SeenMessage;
      const text = step.map(textOf).join("\n");
      const start = from;
      from += this.#counter.count(text);
      if (first.role === "system") return step;
      if (!recordHead.test(text)) return isOverlooked(text, start, from) ? [] : step;
      let at = start;
      const skim = (record: string): string =>
        record
          .split(excerptStart)
          .map((excerpt) => {
            const before = at;
            at += this.#counter.count(excerpt);
            if (!isOverlooked(excerpt, before, at)) return excerpt;
            const [head = ""] = excerpt.split("\n");
            return `${head}\n…\n`;
          })
          .join("");
      return step.map((message) => ({
        ...message,
        text: skim(message.text),
        results: message.results.map((result) => ({ ...result, text: skim(result.text) })),
      }));
    });
  }

  /** A number from 0 to 1 that depends on the seed and a text alone. */
  #chance(text: string): number {
    let hash = 0x811c9dc5 ^ Math.imul(this.#seed, 0x9e3779b1);
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
    return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
  }
}

/** The head of an excerpt, and the place before one. */
const recordHead = /^\[m\d/m;
const excerptStart = /^(?=\[m\d|--- )/m;

function textOf({ text, calls, results }: SeenMessage): string {
  return [text, ...calls.map(({ args }) => JSON.stringify(args)), ...results.map((result) => result.text)].join("\n");
}

/** Messages with the results of their calls behind them. */
function stepsOf(messages: readonly SeenMessage[]): readonly SeenMessage[][] {
  const steps: SeenMessage[][] = [];
  for (const message of messages) {
    if (message.role === "tool" && steps.length > 0) steps.at(-1)?.push(message);
    else steps.push([message]);
  }
  return steps;
}
