/** The window's history: the log's steps with the edits in force and the inserts, updated message by message. */
import type { Message } from "../message/message.ts";
import { StepReader } from "../message/repair.ts";
import type { Repair } from "../message/repair.ts";
import type { NumberedMessage, Step } from "../message/step.ts";
import { atOnce } from "../turns.ts";
import type { Work } from "../turns.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { ingestEdits } from "./passes/truncate-tool-results.ts";
import { inForm } from "../message/wire-form.ts";
import { noAnswer, wantsAnswer } from "./provider/encode.ts";
import { formOf } from "./provider/profile.ts";
import type { Profile } from "./provider/profile.ts";
import { insertStep, noteStep, viewStep } from "./view.ts";
import { EditIndex } from "./edits.ts";
import { countOnce, sumTokens } from "../tokens/counter.ts";
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

/** The steps of a window and their sums. */
export interface Shape {
  /** Tokens of all steps in the window. */
  readonly tokens: number;
  /** Tokens of the labelled messages among them. */
  readonly notes: number;
  readonly messages: number;
  /** Number of user messages. */
  readonly turns: number;
  /** Tokens of the answers that stand between results and the user's words, which no step holds. */
  readonly answers: number;
}

/** Messages that are fed before the event loop gets a turn. */
const messagesPerTurn = 1_024;

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
  /** The messages that are in the window, whole or in part. */
  readonly #raw: NumberedMessage[] = [];
  readonly #reader: StepReader;
  #taken = 0;
  /** The leading system messages of the history. */
  readonly #system: NumberedMessage[] = [];
  readonly #closed: StepList;
  #notes: readonly Edit[];
  #inserts: readonly Insert[];

  constructor({ profile, counter, edits, inserts, ingestCap, mask }: HistoryOptions) {
    this.#mask = mask;
    this.#ingestCap = ingestCap;
    this.#profile = profile;
    this.#closed = new StepList(profile, counter);
    this.#reader = new StepReader({ joinSystem: profile.systemInPlace === true });
    this.#counter = counter;
    this.index = new EditIndex(edits);
    this.#notes = this.index.notes;
    this.#inserts = inserts;
  }

  /** Feeds the next message; `seq` rises. A message that left the window whole is not stored. */
  push(seq: number, message: Message): void {
    if (this.index.covers(seq)) return;
    const numbered = { seq, message };
    this.#raw.push(numbered);
    this.#reader.take(numbered);
  }

  /** Feeds messages of another history of this log, in steps; also those that it gains meanwhile. */
  *pushing(messages: readonly NumberedMessage[]): Work<void> {
    for (const [index, { seq, message }] of messages.entries()) {
      this.push(seq, message);
      if (index % messagesPerTurn === 0) yield;
    }
  }

  /** Inserts a text behind all messages so far. */
  insert(insert: Insert): void {
    this.#inserts = [...this.#inserts, insert];
  }

  /** The messages it stored, as the log has them. */
  get raw(): readonly NumberedMessage[] {
    return this.#raw;
  }

  /** The leading system messages. */
  get system(): readonly NumberedMessage[] {
    return this.#system;
  }

  /** As {@link StepReader.hostIdOf}. */
  hostIdOf(callId: string): string {
    return this.#reader.hostIdOf(callId);
  }

  /** The repairs that were made so far. */
  get repairs(): readonly Repair[] {
    return this.#reader.repairs;
  }

  /** The window's steps as they stand, with the step that is still open. */
  steps(): readonly ViewStep[] {
    return [...this.#closed.steps, ...this.#tail()];
  }

  /** The numbers of the window's steps, and its messages behind `lead`. */
  shown(lead: readonly Message[]): Shape & { readonly history: readonly Message[] } {
    this.take();
    const tail = this.#closed.next();
    for (const step of this.#tail()) tail.push(step);
    const { tokens, notes, turns, answers } = tail;
    const history = [...lead, ...this.#closed.messages, ...tail.messages];
    return { tokens: tokens + answers, notes, turns, answers, messages: history.length, history };
  }

  /** The role of the first message that is no system message, or undefined where there is none. */
  firstRole(): Message["role"] | undefined {
    this.take();
    const isSpoken = ({ role }: Message): boolean => role !== "system";
    const closed = this.#closed.messages.find(isSpoken);
    return (
      closed ??
      this.#tail()
        .flatMap(({ messages }) => messages.map(({ message }) => message))
        .find(isSpoken)
    )?.role;
  }

  /** Applies the edits to the steps that were closed since the last call. */
  take(): void {
    atOnce(this.taking());
  }

  /** As {@link History.take}, in steps. */
  *taking(): Work<void> {
    for (let step = this.#reader.closed[this.#taken]; step; step = this.#reader.closed[this.#taken]) {
      this.#taken++;
      this.#takeStep(step);
      if (this.#taken % stepsPerTurn === 0) yield;
    }
  }

  #takeStep(step: Step): void {
    const isPrompt = step.kind === "system" && this.#profile.systemInPlace !== true;
    if (isPrompt && this.#closed.steps.length === 0 && this.#precedesNotes(step)) {
      const form = formOf(this.#profile);
      this.#system.push(...step.messages.map(({ seq, message }) => ({ seq, message: inForm(form, message) })));
      return;
    }
    const { shown, edits } = this.#show(step);
    if (!shown) return;
    this.#ingested.push(...edits);
    for (const before of this.#before(shown)) this.#closed.push(before);
    this.#closed.push(shown);
  }

  /** The edits that cut results as they came in, since the last call. */
  ingested(): readonly Edit[] {
    const edits = this.#ingested;
    this.#ingested = [];
    return edits;
  }

  /** A step as it stands in the window. A result above the cap is cut before it was ever sent whole. */
  #show(step: Step): { readonly shown: ViewStep | undefined; readonly edits: readonly Edit[] } {
    const logged = viewStep(step, this.index, this.#profile, this.#counter);
    if (!logged) return { shown: undefined, edits: [] };
    const edits = ingestEdits(logged, this.#ingestCap, { counter: this.#counter, mask: this.#mask });
    if (edits.length === 0) return { shown: logged, edits };
    const index = new EditIndex(edits);
    const messages = logged.messages.map(({ seq, message }) => ({ seq, message: index.apply(seq, message) }));
    return { shown: { ...logged, messages, tokens: sumTokens(this.#counter, messages) }, edits };
  }

  /** The notes and inserts that stand before a step; they are removed from those that wait. */
  #before(step: ViewStep): readonly ViewStep[] {
    const first = step.messages[0]?.seq ?? step.from;
    const noNote = (this.#notes[0]?.from ?? Infinity) >= step.from;
    const noInsert = (this.#inserts[0]?.after ?? Infinity) >= first;
    if (noNote && noInsert) return [];
    const notes = this.#notes.filter((edit) => edit.from < step.from);
    const inserts = this.#inserts.filter((insert) => insert.after < first);
    this.#notes = this.#notes.slice(notes.length);
    this.#inserts = this.#inserts.slice(inserts.length);
    return this.#extra(notes, inserts);
  }

  #tail(): readonly ViewStep[] {
    const notes = this.#notes;
    const inserts = this.#inserts;
    const tail: ViewStep[] = [];
    for (const step of this.#reader.tail()) {
      const { shown } = this.#show(step);
      if (shown) tail.push(...this.#before(shown), shown);
    }
    tail.push(...this.#extra(this.#notes, this.#inserts));
    this.#notes = notes;
    this.#inserts = inserts;
    return tail;
  }

  #extra(notes: readonly Edit[], inserts: readonly Insert[]): readonly ViewStep[] {
    return [
      ...notes.map((edit) => noteStep(edit, this.#profile, this.#counter)),
      ...inserts.map((insert) => insertStep(insert, this.#counter)),
    ];
  }

  #precedesNotes({ messages }: Step): boolean {
    return (
      this.#notes.length === this.index.notes.length && (this.#notes[0]?.from ?? Infinity) > (messages[0]?.seq ?? 0)
    );
  }
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
