/** Exact quotes: whether the text that an edit replaces, last seen far back, is whole in the window. */
import { toolCalls } from "../../../src/message/message.ts";
import type { JsonValue, Message, Part } from "../../../src/message/message.ts";
import type { MessageTokens } from "../../../src/replay/cost-metric.ts";
import { textEdits } from "./edit-shape.ts";
import { linesOf, readablePart } from "../../../src/replay/lines.ts";
import { patchedFiles } from "./patch-shape.ts";

/** The old text of an edit, as a quote to find. */
export interface Quote {
  /** Its compared lines, from the first to the last that is not blank. */
  readonly text: string;
  /** Tokens of full history between the last message with the text and the call. */
  readonly distance: number;
}

/** Finds texts in messages: all lines, in order and adjacent, blank ones too, in one part. */
export class QuoteReader {
  readonly #byPart = new WeakMap<Part, string>();

  /** Whether a message holds a quote's text. */
  has(message: Message, text: string): boolean {
    return message.parts.some((part) => this.#linesOf(part).includes(`\n${text}\n`));
  }

  #linesOf(part: Part): string {
    let lines = this.#byPart.get(part);
    if (lines === undefined) this.#byPart.set(part, (lines = `\n${linesOf(readablePart(part)).join("\n")}\n`));
    return lines;
  }
}

/** The shortest old side of a hunk that counts, in UTF-16 code units: a shorter one stands in many messages. */
const shortestHunk = 24;

/** The old texts of edits in a call's arguments. */
export function editQuotes(args: JsonValue): readonly string[] {
  return textEdits(args).map(({ old }) => old);
}

/** The old sides of a patch's hunks in a call's arguments: context and removed lines. */
export function patchQuotes(args: JsonValue): readonly string[] {
  return patchedFiles(args)
    .filter(({ kind }) => kind === "update")
    .flatMap(({ hunks }) => hunks.map(({ old }) => old.join("\n")))
    .filter((text) => text.trim().length >= shortestHunk);
}

/**
 * The quotes of calls by the assistant message's index. Only texts that an earlier message has whole count.
 *
 * @param quotesOf - the texts that a call's arguments quote
 */
export function findQuotes(
  messages: readonly Message[],
  tokens: MessageTokens,
  reader: QuoteReader,
  quotesOf: (args: JsonValue) => readonly string[] = editQuotes,
): ReadonlyMap<number, readonly Quote[]> {
  const quotes = new Map<number, readonly Quote[]>();
  messages.forEach((message, index) => {
    if (message.role !== "assistant") return;
    const found = toolCalls(message)
      .flatMap(({ args }) => quotesOf(args))
      .flatMap((old) => {
        const text = linesOf(old).join("\n").trim();
        const last = messages.slice(0, index).findLastIndex((earlier) => reader.has(earlier, text));
        return last < 0 ? [] : [{ text, distance: tokens.sum(messages.slice(last + 1, index)) }];
      });
    if (found.length > 0) quotes.set(index, found);
  });
  return quotes;
}

/** Exact quotes that were far back when a call needed them. */
export interface QuoteRecall {
  /** The quotes that were whole in one message of the window. */
  readonly found: number;
  readonly total: number;
}

/** Adds up exact quotes, call by call. */
export class QuoteTally {
  readonly #reader: QuoteReader;
  readonly #farDistance: number;
  #found = 0;
  #total = 0;

  /** @param farDistance - in tokens */
  constructor(reader: QuoteReader, farDistance: number) {
    this.#reader = reader;
    this.#farDistance = farDistance;
  }

  /** Counts one call and the messages composed for it. */
  add(quotes: readonly Quote[], window: readonly Message[]): void {
    for (const { text, distance } of quotes) {
      if (distance <= this.#farDistance) continue;
      this.#total++;
      if (window.some((message) => this.#reader.has(message, text))) this.#found++;
    }
  }

  /** The result so far. */
  result(): QuoteRecall {
    return { found: this.#found, total: this.#total };
  }
}
