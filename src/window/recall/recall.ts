/** Recall: brings back from the log what an edit took out of the window, offline. Messages come one by one, oldest first. */
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import { defaultMask } from "../stub/cut.ts";
import { RecallMarks, recallNotice } from "../stub/recalled.ts";
import { isPath, recallId } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";
import { Filling, fit } from "./answer.ts";
import type { Choice } from "./answer.ts";
import { Chooser } from "./choose.ts";
import { Documents } from "./document.ts";
import type { RecallDocument } from "./document.ts";
import { AskedFiles, fileWith, isSame, wholeFile } from "./files.ts";
import type { FileNow } from "./files.ts";
import type { CountedLimits, Recalled, RecallLimits, RecallQuery } from "./query.ts";
import { RecallSearch } from "./search.ts";
import { wordsOf } from "./terms.ts";
import type { RecallWords } from "./terms.ts";
import { WindrowError } from "../../errors.ts";
import { foreignHint } from "../../message/foreign.ts";
import { isObject } from "../../message/json.ts";
import type { Message } from "../../message/message.ts";
import { shown } from "../../shown.ts";
import { counterOf } from "../../tokens/counters.ts";
import { atOnce, Turns } from "../../turns.ts";
import { checkGiven } from "../options.ts";
import { limitKinds, recallRange } from "./query.ts";

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

/**
 * Recall from a whole history: message n of the array is `m<n>`. At once, in time that grows with the text.
 *
 * @throws WindrowError `not-found` when the id or the range names no message of the history, `bad-option` for no id,
 * `bad-message` for what is no message, `unknown-counter`
 */
export function recallFrom(history: readonly Message[], query: RecallQuery, limits: RecallLimits = {}): Recalled {
  return atOnce(recalled(history, query, limits));
}

/**
 * As {@link recallFrom}, with turns for the event loop.
 *
 * @throws WindrowError `not-found`, `bad-option`, `unknown-counter`, `aborted`
 */
export function recallInTurns(
  history: readonly Message[],
  query: RecallQuery,
  limits: RecallLimits = {},
  signal?: AbortSignal,
): Promise<Recalled> {
  return new Turns(signal).run(recalled(history, query, limits));
}

function* recalled(history: readonly Message[], query: RecallQuery, limits: RecallLimits): Work<Recalled> {
  if (!Array.isArray(history)) {
    throw new WindrowError("bad-option", `recallFrom takes a list of messages, not ${shown(history)}.`);
  }
  const wrong = history.findIndex((message: unknown) => !(isObject(message) && Array.isArray(message["parts"])));
  if (wrong !== -1) {
    const message = `Message ${wrong} is no object with \`role\` and a list of \`parts\`.${foreignHint(history[wrong])}`;
    throw new WindrowError("bad-message", message, { index: wrong });
  }
  checkGiven("recallFrom", limits, limitKinds);
  const range = recallRange(query, history.length);
  const recalling = new Recalling(query, range, { ...limits, counter: counterOf(limits.counter) });
  for (let seq = recalling.first; seq <= range.to; seq++) {
    if (!(yield* recalling.take({ seq, message: history[seq - 1] as Message }))) break;
    yield;
  }
  return yield* recalling.result();
}
