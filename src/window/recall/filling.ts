/** Filling: whole messages from the first on, as many as fit, and the beginning of the one that does not. */
import { quoteText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { clip } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import { charactersPerToken, fit } from "./answer.ts";
import type { Choice } from "./choose.ts";
import { headOf, renderWhole } from "./document.ts";
import type { RecallDocument } from "./document.ts";

/** Characters from which a line of a beginning is cut. */
const longestLine = 2_000;

/** The line that stands above the beginning of a message that is too long. */
const moreFollows = "[the beginning; recall with words for the rest]";

/** Takes messages from the first on. */
export class Filling {
  readonly #maxTokens: number;
  readonly #counter: TokenCounter;
  readonly #mask: TextMask;
  readonly #texts: string[] = [];
  readonly #seqs: number[] = [];
  #left: number;
  #more = false;

  constructor(maxTokens: number, counter: TokenCounter, mask: TextMask) {
    this.#mask = mask;
    this.#maxTokens = maxTokens;
    this.#counter = counter;
    this.#left = maxTokens;
  }

  /** Whether messages were left out. */
  get more(): boolean {
    return this.#more;
  }

  /** Takes the documents of the next message; false where nothing that follows can be shown. */
  take(documents: readonly RecallDocument[]): boolean {
    for (const [index, document] of documents.entries()) {
      if (this.#more) return false;
      this.#take(document, index === 0 ? "\n\n" : "\n");
    }
    return !this.#more;
  }

  /** The messages that fitted, as one text. */
  result(): Choice {
    const text = fit(this.#texts.join(""), this.#maxTokens, this.#counter);
    return { text, seqs: [...new Set(this.#seqs)], more: this.#more };
  }

  #take(document: RecallDocument, gap: string): void {
    const counter = this.#counter;
    const before = this.#texts.length === 0 ? "" : gap;
    const room = this.#left - before.length;
    const whole = renderWhole(document);
    const tokens = whole.length <= room * charactersPerToken ? counter.count(whole) : Infinity;
    if (tokens <= room) {
      this.#add(document.seq, before + whole);
      this.#left = room - tokens;
      return;
    }
    this.#more = true;
    // Every line takes a token. One that is cut is masked before.
    const lines = document.text
      .split("\n", Math.max(0, room))
      .map((line) => quoteText(clip(line, longestLine, this.#mask)));
    const title = `${headOf(document)}\n${moreFollows}\n`;
    const beginning = fit(title + lines.join("\n"), room, counter);
    if (beginning.length > title.length) this.#add(document.seq, before + beginning);
  }

  #add(seq: number, text: string): void {
    this.#texts.push(text);
    this.#seqs.push(seq);
  }
}
