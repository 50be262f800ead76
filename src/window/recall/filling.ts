/** Filling: whole messages from the first on, as many as fit, and the beginning of the one that does not. */
import { quoteText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { clip } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import { fit } from "./answer.ts";
import type { Choice } from "./choose.ts";
import { headOf, renderWhole } from "./document.ts";
import type { RecallDocument } from "./document.ts";

/** Most characters a token is thought to stand for: more text than that cannot fit and is not worth counting. */
const charactersPerToken = 12;

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
    const head = headOf(document);
    const before = this.#texts.length === 0 ? "" : gap;
    const isSmall = head.length + 1 + document.text.length <= this.#left * charactersPerToken;
    const whole = isSmall ? renderWhole(document) : "";
    const tokens = isSmall ? counter.count(whole) + (before === "" ? 0 : 2) : Infinity;
    if (tokens <= this.#left) {
      this.#add(document.seq, before + whole);
      this.#left -= tokens;
      return;
    }
    const room = this.#left - counter.count(head) - 16;
    const lines: string[] = [];
    let used = 0;
    for (const line of linesOf(document.text)) {
      const shown = clip(line, longestLine, this.#mask);
      used += counter.count(quoteText(shown)) + 1;
      if (used > room) break;
      lines.push(shown);
    }
    if (lines.length > 0)
      this.#add(document.seq, `${before}${head}\n${moreFollows}\n${lines.map(quoteText).join("\n")}`);
    this.#more = true;
  }

  #add(seq: number, text: string): void {
    this.#texts.push(text);
    this.#seqs.push(seq);
  }
}

/** Lines of a text, each cut off when it is asked for. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    yield text.slice(start, end);
    start = end + 1;
  }
}
