/** The epochs of a session: windows are composed from its log, and an epoch is on disk before its window is returned. */
import { WindrowError } from "../errors.ts";
import type { Message } from "../message/message.ts";
import type { NewRecord, StoredRecordOf } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import { leftRecords, recordedEpoch, windowRecords } from "./log.ts";
import { Turns } from "../turns.ts";
import { initialState, readsLog } from "../window/compose-options.ts";
import { Composer } from "../window/composer.ts";
import type { ComposeOptions, ComposerOptions } from "../window/compose-options.ts";
import { undone } from "../window/edits.ts";
import { epochRecord, insertRecord, windowRecord } from "../window/epoch/record.ts";
import type { EpochData } from "../window/epoch/record.ts";
import type { SessionContext } from "./context.ts";
import { MaskedMessages } from "../mask/masked-messages.ts";
import { baseOf, lineInCopies } from "../window/epoch/lines.ts";
import type { EpochBase } from "../window/epoch/lines.ts";
import { SentLog } from "./sent.ts";
import { isTextAlone, textAlone } from "../window/text-alone.ts";
import type { Composed, Edit, EpochReason, WindowState } from "../window/window.ts";

/** Gives a message as the process was given it that wrote it. */
type ShownAs = (record: StoredRecordOf<"message">) => Message;

/** The number of the epoch that was taken back, and of the one in its place. */
export interface Undone {
  readonly undone: number;
  readonly epoch: number;
}

/** Composes windows, and records what another process needs to compose the same ones. */
export class Epochs {
  readonly #context: SessionContext;
  readonly #historyTokens: () => number;
  readonly #sent: SentLog;
  readonly #maskedMessages = new MaskedMessages();
  /** Messages that the log has masked: they are in memory as they were given, and nothing is copied from them. */
  readonly #maskedSeqs = new Set<number>();
  /** The line of the newest epoch, where texts can be copied from it. */
  #base: EpochBase | undefined;
  /** The composer; others only read it. */
  composer: Composer;
  /** The state that the log has; undefined before the first window. */
  #recorded: WindowState | undefined;
  /** The budget of the last window. */
  #budget: number | undefined;
  /** Tokens of the last window beside its history. */
  #fixed = 0;
  /** Whether the log has masked a message that an earlier window showed unmasked. */
  #masked = false;
  /** Gives the messages that left the window of an earlier process, until an epoch asks for them. */
  #unfed: ComposerOptions["unfed"];

  /** @param historyTokens - gives the tokens of all messages in the log */
  constructor(context: SessionContext, historyTokens: () => number) {
    this.#context = context;
    this.#historyTokens = historyTokens;
    this.#sent = new SentLog(context);
    this.composer = new Composer(context.composer);
    this.#recorded = context.composer.state;
    this.#budget = context.budget;
  }

  /**
   * Takes over the blocks that the epoch of an earlier process names. The messages that left its window are read when the
   * next epoch opens.
   *
   * @param base - its line, where texts can be copied from it
   * @param shown - a message as that process was given it
   */
  resumed(epoch: EpochData, base: EpochBase | undefined, shown: ShownAs): void {
    this.#sent.known(epoch);
    this.#base = base;
    if (!readsLog(this.#context.composer.strategy)) return;
    this.#unfed = () => this.#left(epoch.state, shown);
    this.composer = this.#composerOf(this.composer.state);
  }

  #composerOf(state: WindowState): Composer {
    return new Composer({ ...this.#context.composer, state, ...(this.#unfed && { unfed: this.#unfed }) });
  }

  /** The messages that left the window, without their images: an undo reads those from the store. */
  async #left(state: WindowState, shown: ShownAs): Promise<readonly NumberedMessage[]> {
    const left: NumberedMessage[] = [];
    const turns = new Turns();
    for await (const record of leftRecords(this.#context, state)) {
      const { seq, message } = record;
      const given = shown(record);
      this.#noteMask(seq, given, message);
      left.push({ seq, message: textAlone(given) });
      await turns.turn();
    }
    this.#unfed = undefined;
    return left;
  }

  /**
   * Feeds the next message of the log to the composer.
   *
   * @param logged - as the log has it
   */
  push(seq: number, message: Message, logged: Message): void {
    this.#noteMask(seq, message, logged);
    this.composer.push(seq, message);
  }

  /** Notes a message that the log has masked. */
  #noteMask(seq: number, message: Message, logged: Message): void {
    if (logged.masks === undefined) return;
    this.#maskedSeqs.add(seq);
    this.#maskedMessages.keep(seq, message, logged);
  }

  /**
   * Feeds a message that an earlier process wrote. That process showed a masked message unmasked, so the prefix it sent is
   * gone where nobody has the original: the next window then opens an epoch.
   *
   * @param shown - the original, or the message itself
   */
  restore({ seq, message }: StoredRecordOf<"message">, shown: Message): Message {
    this.push(seq, shown, message);
    const { opened, length } = this.composer.state;
    if (shown.masks !== undefined && this.#recorded && (seq > opened || length === 0)) this.#masked = true;
    return shown;
  }

  /** Replaces the composer by one whose prefix counts as changed. */
  #distrust(): void {
    const { state, messages } = this.composer;
    const doubted = { ...state, length: Math.max(1, state.length), prefixHash: "" };
    this.composer = this.#composerOf(doubted);
    for (const { seq, message } of messages) this.composer.push(seq, message);
    this.#masked = false;
  }

  /** Composes the window for the next call; `opened` says whether it opened an epoch. */
  async compose(
    options: ComposeOptions,
    signal?: AbortSignal,
  ): Promise<{ readonly composed: Composed; readonly opened: boolean }> {
    if (this.#masked) this.#distrust();
    const composed = await new Turns(signal).run(this.composer.composing(options));
    this.#budget = options.budget;
    const { notes, history } = composed.report.blocks;
    this.#fixed = composed.tokens - notes - history;
    const { state } = composed;
    const { epoch, inserts = [], systemHash, toolsHash } = state;
    const before = this.#recorded;
    const opened = before?.epoch !== epoch;
    if (opened || before.systemHash !== systemHash || before.toolsHash !== toolsHash) {
      await this.#sent.keep(options, state);
      const { reason = "first", tokensBefore = composed.tokens } = composed.report.opened ?? {};
      await this.#record(state, reason, tokensBefore, composed.tokens);
    } else {
      const timestamp = this.#timestamp();
      const fresh = inserts.slice(before.inserts?.length ?? 0);
      const records = fresh.map((insert) => insertRecord(epoch, insert, timestamp));
      // An undo and a summary open an epoch before its first window.
      if (before.length === 0 && state.length > 0) records.push(windowRecord(state, timestamp));
      if (records.length > 0) await this.#context.write(records);
      this.#recorded = state;
    }
    return { composed, opened: opened && epoch > 0 };
  }

  /**
   * Opens an epoch with edits and writes it behind the records they rest on.
   *
   * @returns false, with nothing written, where the messages they name no longer stand in the window
   */
  async commit(edits: readonly Edit[], reason: EpochReason, records: readonly NewRecord[]): Promise<boolean> {
    await new Turns().run(this.composer.completing());
    const tokensBefore = this.tokens;
    if (!this.composer.commit(edits, reason)) return false;
    const summaries = records.filter(({ kind }) => kind === "summary").length;
    await this.#record(this.composer.state, reason, tokensBefore, this.tokens, { records, summaries });
    return true;
  }

  /** Tokens of the window as it stands, with the blocks of the last one beside its history. */
  get tokens(): number {
    return this.#fixed + this.composer.view().tokens;
  }

  /** The numbers of the newest epoch, for the session's state. */
  get numbers(): { readonly epochCount: number; readonly currentContextTokens: number } {
    return { epochCount: this.composer.state.epoch, currentContextTokens: this.tokens };
  }

  /**
   * Takes the newest epoch back: the edits of the epoch it was built on are in force again. The log gains one record.
   *
   * @param mayLeaveAgain - whether the next epoch may take the same out again
   * @throws WindrowError `not-found` where nothing is left to take back
   */
  async undo(mayLeaveAgain: boolean): Promise<Undone> {
    await new Turns().run(this.composer.completing());
    const { state } = this.composer;
    if (state.epoch === 0 || state.edits.every((edit) => edit.only !== undefined)) {
      throw new WindrowError(
        "not-found",
        `Session ${this.#context.id} has no epoch to undo: its window is the whole log.`,
      );
    }
    const back = state.previous ? await recordedEpoch(this.#context, state.previous) : undefined;
    if (back) this.#sent.known(back);
    const whole = undone(state, back?.state ?? initialState, this.composer.last, this.#context.composer.profile);
    const restored = mayLeaveAgain ? { ...whole, reverted: state.reverted ?? [] } : whole;
    const tokensBefore = this.tokens;
    this.composer = await this.#reread(restored);
    await this.#record(restored, "undo", tokensBefore, this.tokens);
    return { undone: state.epoch, epoch: restored.epoch };
  }

  /** A composer of another state over the log. Messages of this process are fed as the host gave them, unmasked. */
  async #reread(state: WindowState): Promise<Composer> {
    const given = new Map(this.composer.messages.map(({ seq, message }: NumberedMessage) => [seq, message]));
    for (const [seq, message] of given) if (isTextAlone(message)) given.delete(seq);
    const { strategy } = this.#context.composer;
    const composer = new Composer({ ...this.#context.composer, state });
    const turns = new Turns();
    const horizon = readsLog(strategy) ? (state.horizon ?? 1) : Infinity;
    for await (const record of windowRecords(this.#context, state, horizon)) {
      const { seq } = record;
      // Messages appended since are pushed by their own append; skip them here.
      if (seq <= this.composer.last) composer.push(seq, given.get(seq) ?? this.#maskedMessages.of(record));
      await turns.turn();
    }
    return composer;
  }

  #timestamp(): string {
    return this.#context.now().toISOString();
  }

  /** Writes records and, behind them, the line of an epoch: its texts as copies from the line before and from the log. */
  async #record(
    state: WindowState,
    reason: EpochReason,
    tokensBefore: number,
    tokensAfter: number,
    { records, summaries }: { readonly records: readonly NewRecord[]; readonly summaries?: number } = { records: [] },
  ): Promise<void> {
    const { store, conversation, meter, write } = this.#context;
    const { strategy, profile, counter, ingestCap, mask } = this.#context.composer;
    const names = { strategy: strategy.name, profile: profile.name, counter: counter.name, model: profile.model };
    const facts = { reason, ...names, ingestCap, budget: this.#budget, tokensBefore, tokensAfter, summaries };
    const { last: through, messages } = this.composer;
    const held = { ...conversation.toJSON(), calibration: meter.toJSON() };
    const places = this.#sent.placesOf(state);
    const data = { state, ...places, historyTokens: this.#historyTokens(), conversation: held, through };
    const complete = epochRecord(data, facts, this.#timestamp());
    const known = messages.filter(({ seq }) => !this.#maskedSeqs.has(seq));
    // A resume over a network has its epoch with one look: what is copied would be further ones.
    const line = store.capabilities.inOrder
      ? complete
      : await new Turns().run(lineInCopies(complete, { base: this.#base, messages: known }, mask));
    const written = (await write([...records, line])).at(-1);
    this.#base = written && !written.masks ? baseOf(written.seq, line.data, complete.data) : undefined;
    this.#recorded = state;
  }
}
