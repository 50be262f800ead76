/** The window's history: the log's steps with the edits in force and the inserts, updated message by message. */
import type { Message } from "../message/message.ts";
import { StepReader } from "../message/repair.ts";
import type { NumberedMessage, Step } from "../message/step.ts";
import { atOnce } from "../turns.ts";
import type { Work } from "../turns.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { ingestEdits } from "./passes/results.ts";
import { inForm } from "../message/wire-form.ts";
import { noAnswer, wantsAnswer } from "./provider/encode.ts";
import { formOf } from "./provider/profile.ts";
import type { Profile } from "./provider/profile.ts";
import { editedStep, insertStep, noteStep, viewStep } from "./view.ts";
import { EditIndex } from "./edits.ts";
import { countOnce } from "../tokens/counter.ts";
import type { Edit, Insert, TextMask, ViewStep } from "./window.ts";

/** Options of a history. */
export interface HistoryOptions {
  readonly profile: Profile;
  readonly counter: TokenCounter;
  readonly edits: readonly Edit[];
  readonly inserts: readonly Insert[];
  /** Most tokens one result may have when it is first shown. */
  readonly ingestCap: number;
  readonly mask: TextMask;
}

/** The messages of a window's history and their sums. */
export interface Shape {
  readonly messages: readonly Message[];
  /** Tokens of all messages. */
  readonly tokens: number;
  /** Tokens of the labelled messages among them. */
  readonly notes: number;
  /** Number of user messages. */
  readonly turns: number;
  /** Tokens of the answers that stand between results and the user's words, which no step holds. */
  readonly answers: number;
}

/** Steps that are applied before the event loop gets a turn. */
const stepsPerTurn = 32;

/** The history of one window. A closed step, which no later message can change, is applied once. */
export class History {
  readonly index: EditIndex;
  readonly #profile: Profile;
  readonly #counter: TokenCounter;
  readonly #ingestCap: number;
  readonly #mask: TextMask;
  #ingested: Edit[] = [];
  /** The messages that are in the window, whole or in part, as the log has them. */
  readonly raw: NumberedMessage[] = [];
  readonly reader: StepReader;
  #taken = 0;
  /** The leading system messages of the history. */
  readonly system: NumberedMessage[] = [];
  readonly #closed: StepList;
  readonly #inserts: Insert[];
  /** Behind the closed steps. */
  readonly #place: Place = { notes: 0, inserts: 0 };

  constructor({ profile, counter, edits, inserts, ingestCap, mask }: HistoryOptions) {
    this.#mask = mask;
    this.#ingestCap = ingestCap;
    this.#profile = profile;
    this.#closed = new StepList(profile, counter);
    this.reader = new StepReader({ joinSystem: profile.systemInPlace === true });
    this.#counter = counter;
    this.index = new EditIndex(edits);
    this.#inserts = [...inserts];
  }

  /** Feeds the next message; `seq` rises. A message that left the window whole is not stored. */
  push(seq: number, message: Message): void {
    if (this.index.covers(seq)) return;
    const numbered = { seq, message };
    this.raw.push(numbered);
    this.reader.take(numbered);
  }

  /** Inserts a text behind all messages so far. */
  insert(insert: Insert): void {
    this.#inserts.push(insert);
  }

  /** The window's steps as they stand, with the step that is still open. */
  steps(): readonly ViewStep[] {
    return [...this.#closed.steps, ...this.#tail()];
  }

  /** The window's messages and their numbers. */
  shown(): Shape {
    this.take();
    const tail = this.#closed.next();
    for (const step of this.#tail()) tail.push(step);
    const { tokens, notes, turns, answers } = tail;
    return { tokens: tokens + answers, notes, turns, answers, messages: [...this.#closed.messages, ...tail.messages] };
  }

  /** Applies the edits to the steps that were closed since the last call. */
  take(): void {
    atOnce(this.taking());
  }

  /** As {@link History.take}, in steps. */
  *taking(): Work<void> {
    for (let step = this.reader.closed[this.#taken]; step; step = this.reader.closed[this.#taken]) {
      this.#taken++;
      this.#takeStep(step);
      if (this.#taken % stepsPerTurn === 0) yield;
    }
  }

  #takeStep(step: Step): void {
    const isPrompt = step.kind === "system" && this.#profile.systemInPlace !== true;
    if (isPrompt && this.#closed.steps.length === 0 && this.#precedesNotes(step)) {
      const form = formOf(this.#profile);
      this.system.push(...step.messages.map(({ seq, message }) => ({ seq, message: inForm(form, message) })));
      return;
    }
    const shown = this.#show(step, this.#ingested);
    if (shown) for (const one of [...this.#before(this.#place, shown), shown]) this.#closed.push(one);
  }

  /** The edits that cut results as they came in, since the last call. */
  ingested(): readonly Edit[] {
    const edits = this.#ingested;
    this.#ingested = [];
    return edits;
  }

  /** A step as it stands in the window. A result above the cap is cut before it was ever sent whole; adds those edits. */
  #show(step: Step, ingested: Edit[] = []): ViewStep | undefined {
    const logged = viewStep(step, this.index, this.#profile, this.#counter);
    const edits = logged ? ingestEdits(logged, this.#ingestCap, { counter: this.#counter, mask: this.#mask }) : [];
    if (!logged || edits.length === 0) return logged;
    ingested.push(...edits);
    return editedStep(logged, new EditIndex(edits), this.#counter);
  }

  #tail(): readonly ViewStep[] {
    const place = { ...this.#place };
    const tail: ViewStep[] = [];
    for (const step of this.reader.tail()) {
      const shown = this.#show(step);
      if (shown) tail.push(...this.#before(place, shown), shown);
    }
    return [...tail, ...this.#before(place)];
  }

  /** The notes and inserts from a place on that stand before a step, or all of them; the place moves behind them. */
  #before(place: Place, step?: ViewStep): readonly ViewStep[] {
    const { notes } = this.index;
    const from = step?.from ?? Infinity;
    const first = step?.messages[0]?.seq ?? from;
    const found: ViewStep[] = [];
    for (let note = notes[place.notes]; note && note.from < from; note = notes[++place.notes]) {
      found.push(noteStep(note, this.#profile, this.#counter));
    }
    const inserts = this.#inserts;
    for (let one = inserts[place.inserts]; one && one.after < first; one = inserts[++place.inserts]) {
      found.push(insertStep(one, this.#counter));
    }
    return found;
  }

  #precedesNotes({ messages }: Step): boolean {
    return this.#place.notes === 0 && (this.index.notes[0]?.from ?? Infinity) > (messages[0]?.seq ?? 0);
  }
}

/** How many notes and inserts stand before the next step. */
interface Place {
  notes: number;
  inserts: number;
}

/** Steps with their messages as the provider takes them, and their sums. */
class StepList {
  readonly steps: ViewStep[] = [];
  readonly messages: Message[] = [];
  tokens = 0;
  notes = 0;
  turns = 0;
  answers = 0;
  #last: Message | undefined;

  readonly #profile: Profile;
  readonly #counter: TokenCounter;

  constructor(profile: Profile, counter: TokenCounter) {
    this.#profile = profile;
    this.#counter = counter;
  }

  /** An empty list with the sums of this one, whose steps come behind it. */
  next(): StepList {
    const { tokens, notes, turns, answers } = this;
    const list = Object.assign(new StepList(this.#profile, this.#counter), { tokens, notes, turns, answers });
    list.#last = this.#last;
    return list;
  }

  push(step: ViewStep): void {
    this.steps.push(step);
    for (const { message } of step.messages) {
      if (wantsAnswer(this.#profile, this.#last, message)) {
        this.messages.push(noAnswer);
        this.answers += countOnce(this.#counter, noAnswer);
      }
      this.messages.push(inForm(formOf(this.#profile), message));
      this.#last = message;
    }
    this.tokens += step.tokens;
    if (step.kind === "note" || step.kind === "insert") this.notes += step.tokens;
    if (step.kind === "user") this.turns++;
  }
}
