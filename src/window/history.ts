/** The window's history: the log's steps with the edits in force and the inserts, updated message by message. */
import type { Message } from "../message/message.ts";
import { StepReader } from "../message/repair.ts";
import type { Repair } from "../message/repair.ts";
import type { NumberedMessage, Step } from "../message/step.ts";
import { atOnce } from "../turns.ts";
import type { Work } from "../turns.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { ingestEdits } from "./passes/truncate-tool-results.ts";
import { hashName } from "../message/hash.ts";
import { hashMessages } from "./hash.ts";
import type { Profile } from "./provider/profile.ts";
import { insertStep, noteStep, viewStep } from "./view.ts";
import { EditIndex } from "./edits.ts";
import { sumTokens } from "../tokens/counter.ts";
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
  readonly #reader = new StepReader();
  #taken = 0;
  /** The leading system messages of the history. */
  readonly #system: NumberedMessage[] = [];
  readonly #closed = new StepList();
  #notes: readonly Edit[];
  #inserts: readonly Insert[];
  #hashes: { lead: number; readonly values: number[] } = { lead: 0, values: [] };

  constructor({ profile, counter, edits, inserts, ingestCap, mask }: HistoryOptions) {
    this.#mask = mask;
    this.#ingestCap = ingestCap;
    this.#profile = profile;
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
    const tail = new StepList(this.#closed);
    for (const step of this.#tail()) tail.push(step);
    const { tokens, notes, turns } = tail;
    const history = [...lead, ...this.#closed.messages, ...tail.messages];
    return { tokens, notes, turns, messages: history.length, history };
  }

  /** The role of the first message, or undefined where there is none. */
  firstRole(): Message["role"] | undefined {
    this.take();
    return (this.#closed.messages[0] ?? this.#tail()[0]?.messages[0]?.message)?.role;
  }

  /** The name of the hash of the first `length` messages of a history that begins with `lead`. */
  prefixHash(lead: readonly Message[], history: readonly Message[], length: number): string {
    const seed = hashMessages(lead);
    if (this.#hashes.lead !== seed) this.#hashes = { lead: seed, values: [] };
    const { values } = this.#hashes;
    const closed = this.#closed.messages;
    for (let index = values.length; index < closed.length; index++) {
      values.push(hashMessages(closed, values[index - 1] ?? seed, index, index + 1));
    }
    const known = Math.min(length - lead.length, values.length);
    if (known <= 0) return hashName(hashMessages(history, 0, 0, length));
    return hashName(hashMessages(history, values[known - 1], lead.length + known, length));
  }

  /** Applies the edits to the steps that were closed since the last call. */
  take(): void {
    atOnce(this.taking());
  }

  /** As {@link History.take}, in steps. */
  *taking(): Work<void> {
    for (let step = this.#reader.shift(); step; step = this.#reader.shift()) {
      this.#takeStep(step);
      if (++this.#taken % stepsPerTurn === 0) yield;
    }
  }

  #takeStep(step: Step): void {
    if (step.kind === "system" && this.#closed.steps.length === 0 && this.#precedesNotes(step)) {
      this.#system.push(...step.messages);
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
    const shown = viewStep(step, this.index, this.#profile, this.#counter);
    const edits = shown ? ingestEdits(shown, this.#ingestCap, { counter: this.#counter, mask: this.#mask }) : [];
    if (!shown || edits.length === 0) return { shown, edits };
    const index = new EditIndex(edits);
    const messages = shown.messages.map(({ seq, message }) => ({ seq, message: index.apply(seq, message) }));
    return { shown: { ...shown, messages, tokens: sumTokens(this.#counter, messages) }, edits };
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
      if (!shown) continue;
      tail.push(...this.#before(shown), shown);
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

/** Steps with their messages and sums; `base` has the sums of the steps before. */
class StepList {
  readonly steps: ViewStep[] = [];
  readonly messages: Message[] = [];
  tokens: number;
  notes: number;
  turns: number;

  constructor(base?: StepList) {
    this.tokens = base?.tokens ?? 0;
    this.notes = base?.notes ?? 0;
    this.turns = base?.turns ?? 0;
  }

  push(step: ViewStep): void {
    this.steps.push(step);
    for (const { message } of step.messages) this.messages.push(message);
    this.tokens += step.tokens;
    if (step.kind === "note" || step.kind === "insert") this.notes += step.tokens;
    if (step.kind === "user") this.turns++;
  }
}
