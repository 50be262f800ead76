/**
 * One recall on its way: takes messages one by one, oldest first, and answers with the best passages for a query, or with
 * the messages themselves. Holds no more than it may answer with.
 */
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import { defaultMask } from "../stub/cut.ts";
import { RecallMarks, recallNotice } from "../stub/recalled.ts";
import { isPath, recallId } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";
import { fit } from "./answer.ts";
import { Chooser } from "./choose.ts";
import type { Choice } from "./choose.ts";
import { Documents } from "./document.ts";
import type { RecallDocument } from "./document.ts";
import { fileWith, wholeFile } from "./file-answer.ts";
import { AskedFiles, isSame } from "./files.ts";
import type { FileNow } from "./files.ts";
import { Filling } from "./filling.ts";
import type { CountedLimits, Recalled, RecallQuery } from "./query.ts";
import { RecallSearch } from "./search.ts";
import { wordsOf } from "./words.ts";
import type { RecallWords } from "./words.ts";

/** The most tokens of an answer where nothing else is said. */
const mostTokens = 4_000;

/** The share of a window that an answer may take. */
const budgetShare = 1 / 8;

/** Messages before a range that are looked at for the calls of its first results. */
const callReach = 8;

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
  readonly #range: { readonly from: number; readonly to: number };
  /** Whether one message is asked for: it is shown whatever it is. */
  readonly #isSingle: boolean;
  readonly #hasId: boolean;
  readonly #words: RecallWords | undefined;
  readonly #search: RecallSearch | undefined;
  readonly #maxTokens: number;
  readonly #counter: TokenCounter;
  readonly #mask: TextMask;
  readonly #marks: RecallMarks;
  readonly #documents: Documents;
  /** The files that the words name; none where one message is asked for. */
  readonly #files: AskedFiles;
  readonly #filling: Filling;
  readonly #notice: string;
  /** The newest user message. */
  #asked = 0;

  constructor(query: RecallQuery, range: { readonly from: number; readonly to: number }, limits: CountedLimits) {
    const { counter, mask = defaultMask, recallTools } = limits;
    this.#range = range;
    this.first = Math.max(1, range.from - callReach);
    this.#isSingle = range.from === range.to;
    this.#hasId = query.id !== undefined;
    this.#words = wordsOf(query.query);
    this.#search = this.#words && new RecallSearch(this.#words);
    const maxTokens = answerTokens(limits);
    this.#notice = recallNotice(maxTokens, this.#words !== undefined);
    this.#maxTokens = Math.max(1, maxTokens - counter.count(this.#notice) - 1);
    this.#counter = counter;
    this.#mask = mask;
    this.#marks = new RecallMarks(recallTools);
    this.#documents = new Documents(mask);
    this.#files = new AskedFiles(this.#isSingle ? "" : (query.query ?? ""), mask);
    this.#filling = new Filling(this.#maxTokens, counter, mask);
  }

  /** Takes the next message; false where nothing that follows can be shown. */
  *take({ seq, message }: NumberedMessage): Work<boolean> {
    this.#marks.note(message);
    if (seq < this.#range.from) {
      this.#documents.note(message);
      return true;
    }
    const parts = this.#isSingle ? message.parts : message.parts.filter((part) => !this.#marks.has(part));
    const documents = this.#documents.of({ seq, message: { ...message, parts } });
    if (message.role === "user" && message.status !== "synthetic") this.#asked = seq;
    const fits = !this.#search || this.#isSingle ? this.#filling.take(documents) : true;
    if (!this.#search) return fits;
    this.#files.take({ seq, message: { ...message, parts } });
    for (const document of documents) yield* this.#search.take(document);
    return true;
  }

  /**
   * The answer: passages, or whole messages as far as they fit.
   *
   * @param title - a line that stands before it
   */
  *result(title = ""): Work<Recalled> {
    const { text, seqs, more } = yield* this.#found();
    const answer =
      text === "" ? this.#nothing(more) : [this.#notice, title, text].filter((part) => part !== "").join("\n");
    return { text: answer, tokens: this.#counter.count(answer), seqs, more };
  }

  *#found(): Work<Choice> {
    const words = this.#words;
    if (!words || !this.#search) return this.#filling.result();
    // A message that was asked for by its id is worth more than passages of it, where it fits.
    if (this.#isSingle && this.#hasId && !this.#filling.more) return this.#filling.result();
    const options = { maxTokens: this.#maxTokens, counter: this.#counter, mask: this.#mask };
    const asked = this.#files.now();
    const others = asked && wordsOf(asked.rest);
    if (asked && !others) return wholeFile(asked.file, options);
    const file = asked && others && (yield* fileWith(others, asked.file, options));
    const beside = file?.text ?? "";
    if (file && beside !== "" && file.more) return file;
    const ranked = this.#search.ranked().filter(({ hit: { document } }) => {
      // Below a file as it stands, its changes tell what stood there before.
      return !this.#isRecalls(document) && !(beside !== "" && document.isCall !== true && isOf(document, asked?.file));
    });
    yield;
    const chooser = new Chooser(words, this.#search.rarity, {
      ...options,
      maxTokens: options.maxTokens - (beside === "" ? 0 : this.#counter.count(beside) + 2),
      asked: this.#asked,
      said: this.#search.said,
    });
    const found = yield* chooser.choose(ranked);
    if (found.text === "" && beside === "" && this.#isSingle && this.#hasId) return this.#filling.result();
    const text = [beside, found.text].filter((part) => part !== "").join("\n\n");
    const seqs = [...new Set([...(file?.seqs ?? []), ...found.seqs])].sort((one, other) => one - other);
    return { text: fit(text, this.#maxTokens, this.#counter), seqs, more: found.more };
  }

  /** A call whose result showed only later that it is recall's. */
  #isRecalls({ callId }: Pick<RecallDocument, "callId">): boolean {
    if (callId === undefined || this.#isSingle) return false;
    return this.#marks.has({ type: "tool-call", callId, name: "", args: null });
  }

  /** The answer without a passage: why there is none, where it was looked for, and what to ask instead. */
  #nothing(more: boolean): string {
    const why = more ? noRoom : this.#words ? noWords : nothingShown;
    const { from, to } = this.#range;
    const where = from > to ? "The log holds no message" : `Looked through ${recallId(from, to)}`;
    return fit(`[Windrow: a record. ${why}. ${where}.]`, this.#maxTokens, this.#counter);
  }
}

/** Whether a document is about a file. */
function isOf({ label }: Pick<RecallDocument, "label">, file: FileNow | undefined): boolean {
  return file !== undefined && label.split(" ").some((word) => isPath(word) && isSame(word, file.path));
}
