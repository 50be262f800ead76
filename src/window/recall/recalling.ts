/**
 * One recall on its way: takes messages one by one, oldest first, and answers with the best passages for a query, or with
 * the messages themselves. Holds no more than it may answer with.
 */
import type { Message } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import { defaultMask } from "../stub/cut.ts";
import { RecallMarks, recallNotice } from "../stub/recalled.ts";
import { isPath } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";
import { fit } from "./answer.ts";
import { Chooser } from "./choose.ts";
import type { Choice } from "./choose.ts";
import { Documents } from "./document.ts";
import type { RecallDocument } from "./document.ts";
import { fileWith, wholeFile } from "./file-answer.ts";
import { FileLog, followFile } from "./files.ts";
import { Filling } from "./filling.ts";
import { Holdings } from "./holdings.ts";
import type { HitDocument, RankedHit } from "./hits.ts";
import type { CountedLimits, Recalled, RecallQuery } from "./query.ts";
import { Replaced } from "./replaced.ts";
import { RecallSearch } from "./search.ts";
import { wordsOf } from "./words.ts";
import type { RecallWords } from "./words.ts";

/** The most tokens of an answer where nothing else is said. */
const mostTokens = 4_000;

/** The share of a window that an answer may take. */
const budgetShare = 1 / 8;

/** Messages before a range that are looked at for the calls of its first results. */
const callReach = 8;

/** Tokens of an answer that found nothing. */
const nothingTokens = 150;

/** The reasons of an answer without a passage, each with what to ask instead. */
const noWords = "Nothing has these words; try one rare word, a name, a path, or an id";
const noRoom = "There is no room for what was found; ask for a smaller range, or allow more tokens";
const nothingShown = "There is nothing to show; try words, a path, or another id";

/** The most tokens of an answer: `maxTokens`, else an eighth of the budget, and at most 4,000. */
export function answerTokens({ maxTokens, budget = Infinity }: Pick<CountedLimits, "maxTokens" | "budget">): number {
  return maxTokens ?? Math.max(1, Math.min(mostTokens, Math.floor(budget * budgetShare)));
}

/** Takes messages, and answers from them. */
export class Recalling {
  /** The first message to take: some stand before the range, for the calls whose results stand in it. */
  readonly first: number;
  readonly #from: number;
  /** Whether one message is asked for: it is shown whatever it is. */
  readonly #isSingle: boolean;
  readonly #hasId: boolean;
  readonly #query: string;
  readonly #words: RecallWords | undefined;
  readonly #search: RecallSearch | undefined;
  readonly #maxTokens: number;
  readonly #counter: TokenCounter;
  readonly #mask: TextMask;
  readonly #marks: RecallMarks;
  readonly #documents: Documents;
  readonly #files = new FileLog();
  readonly #holdings = new Holdings();
  readonly #filling: Filling;
  readonly #notice: string;
  /** The answer's file, with the query's other words. */
  #path: { readonly path: string; readonly words: RecallWords | undefined } | undefined;
  #ranked: readonly RankedHit[] = [];
  /** The newest user message. */
  #asked = 0;
  #replaced: Replaced | undefined;

  constructor(query: RecallQuery, range: { readonly from: number; readonly to: number }, limits: CountedLimits) {
    const { counter, mask = defaultMask, recallTools } = limits;
    this.#from = range.from;
    this.first = Math.max(1, range.from - callReach);
    this.#isSingle = range.from === range.to;
    this.#hasId = query.id !== undefined;
    this.#query = query.query ?? "";
    this.#words = wordsOf(query.query);
    this.#search = this.#words && new RecallSearch(this.#words);
    const maxTokens = answerTokens(limits);
    this.#notice = recallNotice(maxTokens, this.#words !== undefined);
    this.#maxTokens = Math.max(1, maxTokens - counter.count(this.#notice) - 1);
    this.#counter = counter;
    this.#mask = mask;
    this.#marks = new RecallMarks(recallTools);
    this.#documents = new Documents(mask);
    this.#filling = new Filling(this.#maxTokens, counter, mask);
  }

  /** Takes the next message; false where nothing that follows can be shown. */
  *take({ seq, message }: NumberedMessage): Work<boolean> {
    this.#marks.note(message);
    if (seq < this.#from) {
      this.#documents.note(message);
      return true;
    }
    const parts = this.#isSingle ? message.parts : message.parts.filter((part) => !this.#marks.has(part));
    const documents = this.#documents.of({ seq, message: { ...message, parts } });
    this.#holdings.note(documents);
    if (message.role === "user" && message.status !== "synthetic") this.#asked = seq;
    const fits = !this.#search || this.#isSingle ? this.#filling.take(documents) : true;
    if (!this.#search) return fits;
    this.#files.note({ seq, message: { ...message, parts } });
    for (const document of documents) yield* this.#search.take(document);
    return true;
  }

  /** Messages that the answer needs once more, after all were taken: those that say how a file stands. */
  *wanted(): Work<readonly number[]> {
    if (!this.#search) return [];
    this.#ranked = this.#search.ranked().filter(({ hit }) => !this.#isRecalls(hit.document));
    yield;
    this.#path = this.#pathAsked();
    this.#replaced = new Replaced(this.#files, this.#ranked);
    const events = this.#path ? this.#files.events(this.#path.path) : [];
    const seqs = new Set([...events.flatMap(({ call, result }) => [call, result]), ...this.#replaced.wanted]);
    return [...seqs].sort((left, right) => left - right);
  }

  /**
   * The answer: passages, or whole messages as far as they fit.
   *
   * @param again - the messages that were wanted
   * @param title - a line that stands before it
   */
  *result(again: ReadonlyMap<number, Message>, title = ""): Work<Recalled> {
    const { text, seqs, more } = yield* this.#found(again);
    const answer =
      text === "" ? this.#nothing(more) : [this.#notice, title, text].filter((part) => part !== "").join("\n");
    return { text: answer, tokens: this.#counter.count(answer), seqs, more };
  }

  *#found(again: ReadonlyMap<number, Message>): Work<Choice> {
    const words = this.#words;
    if (!words || !this.#search) return this.#filling.result();
    // A message that was asked for by its id is worth more than passages of it, where it fits.
    if (this.#isSingle && this.#hasId && !this.#filling.more) return this.#filling.result();
    const options = { maxTokens: this.#maxTokens, counter: this.#counter, mask: this.#mask };
    const file = yield* this.#file(again, options);
    if (file && (!this.#path?.words || file.more)) return file;
    const left = options.maxTokens - (file ? this.#counter.count(file.text) + 2 : 0);
    const replaced = this.#replaced?.read(again, this.#mask);
    const ranked = replaced ? replaced.rank(this.#ranked) : this.#ranked;
    // Beside a file as it stands, its changes tell of what stood there before.
    const others = file
      ? ranked.filter(({ hit: { document } }) => document.isCall || !this.#isOf(document, this.#path?.path ?? ""))
      : ranked;
    const remark = (document: HitDocument): string => replaced?.remark(document) ?? "";
    const chooser = new Chooser(words, this.#search.rarity, {
      ...options,
      maxTokens: left,
      asked: this.#asked,
      said: this.#search.said,
      remark,
      ...(file && { beside: file.text }),
    });
    const found = yield* chooser.choose(others);
    if (found.text === "" && !file && this.#isSingle && this.#hasId) return this.#filling.result();
    const text = [file?.text ?? "", found.text].filter((part) => part !== "").join("\n\n");
    const seqs = [...new Set([...(file?.seqs ?? []), ...found.seqs])].sort((one, other) => one - other);
    return { text: fit(text, this.#maxTokens, this.#counter), seqs, more: found.more };
  }

  *#file(
    again: ReadonlyMap<number, Message>,
    options: { readonly maxTokens: number; readonly counter: TokenCounter; readonly mask: TextMask },
  ): Work<Choice | undefined> {
    if (!this.#path) return undefined;
    const { path, words } = this.#path;
    const file = followFile(path, this.#files.events(path), again, this.#mask);
    if (!file) return undefined;
    const whole = wholeFile(file, options);
    if (!words) return whole;
    const found = yield* fileWith(words, file, options);
    return found.text === "" ? undefined : found;
  }

  /** The file that the query names, and its other words. */
  #pathAsked(): { readonly path: string; readonly words: RecallWords | undefined } | undefined {
    if (this.#isSingle) return undefined;
    for (const word of this.#query.split(/\s+/)) {
      const plain = word.replaceAll(/^["'`(]+|["'`),;:?]+$/g, "");
      const path = isPath(plain) ? this.#files.known(plain) : undefined;
      if (path !== undefined) return { path, words: wordsOf(this.#query.replace(word, " ")) };
    }
    return undefined;
  }

  #isOf({ label }: Pick<RecallDocument, "label">, path: string): boolean {
    return label.split(" ").some((word) => isPath(word) && this.#files.known(word) === path);
  }

  /** A call whose result showed only later that it is recall's. */
  #isRecalls({ callId }: Pick<RecallDocument, "callId">): boolean {
    if (callId === undefined || this.#isSingle) return false;
    return this.#marks.has({ type: "tool-call", callId, name: "", args: null });
  }

  /** The answer without a passage: why there is none, what the log holds, and what to ask instead. */
  #nothing(more: boolean): string {
    const why = more ? noRoom : this.#words ? noWords : nothingShown;
    const room = Math.min(nothingTokens, this.#maxTokens);
    const held = [3, 1, 0].map((subjects) => ` ${this.#holdings.describe(subjects)}.`);
    const texts = [...held, ""].map((holdings) => `[Windrow: a record. ${why}.${holdings}]`);
    return texts.find((text) => this.#counter.count(text) <= room) ?? fit(texts[3] ?? "", room, this.#counter);
  }
}
