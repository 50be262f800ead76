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
import { epochRecord, factsOf, insertRecord } from "../window/epoch/record.ts";
import type { EpochData, EpochFacts } from "../window/epoch/record.ts";
import type { SessionContext } from "./context.ts";
import { EpochWriter } from "./epoch-writer.ts";
import type { EpochBase } from "../window/epoch/lines.ts";
import { SentLog } from "./sent.ts";
import { isTextAlone } from "../window/text-alone.ts";
import type { Composed, Edit, EpochReason, WindowState } from "../window/window.ts";

/** Gives a message as the process was given it that wrote it. */
type ShownAs = (record: StoredRecordOf<"message">) => Message;

/** An epoch's data beside the window's state. */
type DataBeside = () => Omit<EpochData, "state" | "systemSeq" | "toolsSeq">;

/** The number of the epoch that was taken back, and of the one in its place. */
export interface Undone {
  readonly undone: number;
  readonly epoch: number;
}

/** Composes windows, and records what another process needs to compose the same ones. */
export class Epochs {
  readonly #context: SessionContext;
  readonly #beside: DataBeside;
  readonly #sent: SentLog;
  readonly #writer: EpochWriter;
  #composer: Composer;
  /** The newest epoch on disk, the blocks it names, and how many of its inserts. */
  #recorded: { readonly epoch: number; readonly sent: string; readonly inserts: number };
  #lastOptions: ComposeOptions | undefined;
  /** Tokens of the last window beside its history. */
  #fixed = 0;
  /** Whether the log has masked a message that an earlier window showed unmasked. */
  #masked = false;
  /** Gives the messages that left the window of an earlier process, until an epoch asks for them. */
  #unfed: ComposerOptions["unfed"];

  /**
   * @param recorded - whether the composer's state is on disk
   * @param beside - the data that an epoch's record has beside the window's state
   */
  constructor(context: SessionContext, recorded: boolean, beside: DataBeside) {
    this.#context = context;
    this.#beside = beside;
    this.#sent = new SentLog(context);
    this.#writer = new EpochWriter(context);
    this.#composer = new Composer(context.composer);
    const { epoch, inserts = [] } = this.#composer.state;
    const sent = sentHashes(this.#composer.state);
    this.#recorded = { epoch: recorded ? epoch : -1, sent, inserts: inserts.length };
  }

  /**
   * Takes over the blocks that the epoch of an earlier process names. The messages that left its window are read when the
   * next epoch opens.
   *
   * @param base - its line, where texts can be copied from it
   * @param shown - a message as that process was given it
   */
  resumed(epoch: EpochData, base: EpochBase | undefined, shown: ShownAs): void {
    this.#sent.resumed(epoch);
    this.#writer.resumed(base);
    if (!readsLog(this.#context.composer.strategy)) return;
    this.#unfed = () => this.#left(epoch.state, shown);
    this.#composer = this.#composerOf(this.#composer.state);
  }

  #composerOf(state: WindowState): Composer {
    return new Composer({ ...this.#context.composer, state, ...(this.#unfed && { unfed: this.#unfed }) });
  }

  async #left(state: WindowState, shown: ShownAs): Promise<readonly NumberedMessage[]> {
    const { store, scope, id } = this.#context;
    const left: NumberedMessage[] = [];
    const turns = new Turns();
    for await (const record of leftRecords(store, scope, id, state)) {
      if (record.message.masks) this.#writer.masked(record.seq);
      this.#writer.restored(record.seq);
      left.push({ seq: record.seq, message: shown(record) });
      await turns.turn();
    }
    this.#unfed = undefined;
    return left;
  }

  /** The composer; callers only read it. */
  get composer(): Composer {
    return this.#composer;
  }

  /**
   * Feeds the next message of the log to the composer.
   *
   * @param isMasked - whether the log has it masked
   */
  push(seq: number, message: Message, isMasked = false): void {
    if (isMasked) this.#writer.masked(seq);
    this.#composer.push(seq, message);
  }

  /**
   * Feeds a message that an earlier process wrote. That process showed a masked message unmasked, so the prefix it sent is
   * gone where nobody has the original: the next window then opens an epoch.
   *
   * @param shown - the original, or the message itself
   */
  restore({ seq, message }: StoredRecordOf<"message">, shown: Message): Message {
    this.push(seq, shown, message.masks !== undefined);
    this.#writer.restored(seq);
    const { opened, length } = this.#composer.state;
    const wasShown = this.#recorded.epoch >= 0 && (seq > opened || length === 0);
    if (shown.masks !== undefined && wasShown) this.#masked = true;
    return shown;
  }

  /** Replaces the composer by one whose prefix counts as changed. */
  #distrust(): void {
    const { state, messages } = this.#composer;
    const doubted = { ...state, length: Math.max(1, state.length), prefixHash: "" };
    this.#composer = this.#composerOf(doubted);
    for (const { seq, message } of messages) this.#composer.push(seq, message);
    this.#masked = false;
  }

  /** Composes the window for the next call; `opened` says whether it opened an epoch. */
  async compose(
    options: ComposeOptions,
    signal?: AbortSignal,
  ): Promise<{ readonly composed: Composed; readonly opened: boolean }> {
    if (this.#masked) this.#distrust();
    const composed = await new Turns(signal).run(this.#composer.composing(options));
    this.#lastOptions = options;
    const { notes, history } = composed.report.blocks;
    this.#fixed = composed.tokens - notes - history;
    const { epoch, inserts = [] } = composed.state;
    const known = this.#recorded.epoch === epoch ? this.#recorded.inserts : 0;
    const opened = this.#recorded.epoch !== epoch;
    const isOther = this.#recorded.sent !== sentHashes(composed.state);
    if (opened || isOther) {
      await this.#sent.keep(options, composed.state);
      await this.#record(composed.state, factsOf(composed.report));
    } else if (inserts.length > known) {
      const timestamp = this.#timestamp();
      await this.#context.write(inserts.slice(known).map((insert) => insertRecord(epoch, insert, timestamp)));
    }
    this.#recorded = { ...this.#recorded, inserts: inserts.length };
    return { composed, opened: opened && epoch > 0 };
  }

  /**
   * Opens an epoch with edits and writes it behind the records they rest on.
   *
   * @returns false, with nothing written, where the messages they name no longer stand in the window
   */
  async commit(edits: readonly Edit[], reason: EpochReason, records: readonly NewRecord[]): Promise<boolean> {
    await new Turns().run(this.#composer.completing());
    const tokensBefore = this.tokens;
    if (!this.#composer.commit(edits, reason)) return false;
    const summaries = records.filter(({ kind }) => kind === "summary").length;
    const facts = { ...this.#facts(reason, tokensBefore), summaries };
    await this.#record(this.#composer.state, facts, records);
    return true;
  }

  /** Tokens of the window as it stands, with the blocks of the last one beside its history. */
  get tokens(): number {
    return this.#fixed + this.#composer.view().tokens;
  }

  /** The numbers of the newest epoch, for the session's state. */
  get numbers(): { readonly epochCount: number; readonly currentContextTokens: number } {
    return { epochCount: this.#composer.state.epoch, currentContextTokens: this.tokens };
  }

  /**
   * Takes the newest epoch back: the edits of the epoch it was built on are in force again. The log gains one record.
   *
   * @param mayLeaveAgain - whether the next epoch may take the same out again
   * @throws WindrowError `not-found` where nothing is left to take back
   */
  async undo(mayLeaveAgain: boolean): Promise<Undone> {
    await new Turns().run(this.#composer.completing());
    const { state } = this.#composer;
    if (state.epoch === 0 || state.edits.every((edit) => edit.only !== undefined)) {
      throw new WindrowError(
        "not-found",
        `Session ${this.#context.id} has no epoch to undo: its window is the whole log.`,
      );
    }
    const { id, store, scope } = this.#context;
    const back = state.previous ? await recordedEpoch(store, scope, id, state.previous) : undefined;
    if (back) this.#sent.known(back);
    const whole = undone(state, back?.state ?? initialState, this.#composer.last, this.#context.composer.profile);
    const restored = mayLeaveAgain ? { ...whole, reverted: state.reverted ?? [] } : whole;
    const tokensBefore = this.tokens;
    this.#composer = await this.#reread(restored);
    await this.#record(restored, this.#facts("undo", tokensBefore));
    return { undone: state.epoch, epoch: restored.epoch };
  }

  /** A composer of another state over the log. Messages of this process are fed as the host gave them, unmasked. */
  async #reread(state: WindowState): Promise<Composer> {
    const { id, store, scope } = this.#context;
    const given = new Map(this.#composer.messages.map(({ seq, message }: NumberedMessage) => [seq, message]));
    for (const [seq, message] of given) if (isTextAlone(message)) given.delete(seq);
    const { strategy } = this.#context.composer;
    const composer = new Composer({ ...this.#context.composer, state });
    const turns = new Turns();
    for await (const { seq, message } of windowRecords(store, scope, id, { state, historyTokens: 0 }, strategy)) {
      // Messages appended since are pushed by their own append; skip them here.
      if (seq <= this.#composer.last) composer.push(seq, given.get(seq) ?? message);
      await turns.turn();
    }
    return composer;
  }

  #timestamp(): string {
    return this.#context.now().toISOString();
  }

  #facts(reason: EpochReason, tokensBefore: number): EpochFacts {
    const { strategy, profile, counter } = this.#context.composer;
    return {
      reason,
      strategy: strategy.name,
      profile: profile.name,
      counter: counter.name,
      budget: this.#lastOptions?.budget ?? this.#context.budget,
      tokensBefore,
      tokensAfter: this.tokens,
    };
  }

  async #record(state: WindowState, facts: EpochFacts, records: readonly NewRecord[] = []): Promise<void> {
    const data = { state, ...this.#sent.placesOf(state), ...this.#beside() };
    const { profile, ingestCap } = this.#context.composer;
    const line = epochRecord(data, { ...facts, model: profile.model, ingestCap }, this.#timestamp());
    await this.#writer.write(records, line, state.edits, this.#composer.messages);
    this.#recorded = { epoch: state.epoch, sent: sentHashes(state), inserts: state.inserts?.length ?? 0 };
  }
}

function sentHashes({ systemHash, toolsHash }: WindowState): string {
  return `${systemHash} ${toolsHash}`;
}
