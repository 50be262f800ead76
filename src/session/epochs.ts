/** A session's windows: composed from its log, each epoch on disk before its window is handed out. */
import { WindrowError } from "../errors.ts";
import type { JsonObject, Message } from "../message/message.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import { recordedEpoch, windowRecords } from "./log.ts";
import type { Scope, Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { initialState } from "../window/compose-options.ts";
import { Composer } from "../window/composer.ts";
import type { ComposeOptions, ComposerOptions } from "../window/compose-options.ts";
import { epochRecord, factsOf, insertRecord } from "../window/epoch-record.ts";
import type { EpochFacts } from "../window/epoch-record.ts";
import type { Composed, Edit, EpochReason, WindowState } from "../window/window.ts";

/** What a session's windows are made with. */
export interface EpochsParts {
  readonly id: string;
  readonly store: Store;
  readonly scope: Scope;
  readonly composer: ComposerOptions;
  /** What the session holds beside its messages, for an epoch's record. */
  readonly heldData: () => JsonObject;
  /** Tokens of all messages of the log. */
  readonly historyTokens: () => number;
  readonly budget: number | undefined;
  readonly timestamp: () => string;
  readonly write: (records: readonly NewRecord[]) => Promise<readonly StoredRecord[]>;
}

/** Composes, and writes down what the next process needs to compose the same. */
export class Epochs {
  readonly #parts: EpochsParts;
  #composer: Composer;
  /** The newest epoch on disk, and how much of what was inserted in it. */
  #recorded: { readonly epoch: number; readonly inserts: number };
  #lastOptions: ComposeOptions | undefined;
  /** Whether messages came back masked that were not. */
  #masked = false;

  /** @param resumed - whether the state it begins with is on disk */
  constructor(parts: EpochsParts, resumed: boolean) {
    this.#parts = parts;
    this.#composer = new Composer(parts.composer);
    const { epoch, inserts = [] } = this.#composer.state;
    this.#recorded = { epoch: resumed ? epoch : -1, inserts: inserts.length };
  }

  /** The composer, for reading. */
  get composer(): Composer {
    return this.#composer;
  }

  /** Feeds the next message of the log. */
  push(seq: number, message: Message): void {
    this.#composer.push(seq, message);
  }

  /**
   * Feeds a message that an earlier process wrote. One that is masked stood in that process's windows as it came, so that
   * what it makes of the prefix is new: the next window opens an epoch.
   */
  restore(seq: number, message: Message): void {
    this.push(seq, message);
    const { opened, length } = this.#composer.state;
    const wasShown = this.#recorded.epoch >= 0 && (seq > opened || length === 0);
    if (message.masks !== undefined && wasShown) this.#masked = true;
  }

  /** The same composer, told that what it composes is not what was sent before. */
  #distrust(): void {
    const { state, held } = this.#composer;
    const doubted = { ...state, length: Math.max(1, state.length), prefixHash: "" };
    this.#composer = new Composer({ ...this.#parts.composer, state: doubted });
    for (const { seq, message } of held) this.#composer.push(seq, message);
    this.#masked = false;
  }

  /** The window for the next call; whether it opened an epoch. */
  async compose(
    options: ComposeOptions,
    signal?: AbortSignal,
  ): Promise<{ readonly composed: Composed; readonly opened: boolean }> {
    if (this.#masked) this.#distrust();
    const composed = await new Turns(signal).run(this.#composer.composing(options));
    this.#lastOptions = options;
    const { epoch, inserts = [] } = composed.state;
    const known = this.#recorded.epoch === epoch ? this.#recorded.inserts : 0;
    const opened = this.#recorded.epoch !== epoch;
    if (opened) await this.#record(composed.state, factsOf(composed.report));
    else if (inserts.length > known) {
      const timestamp = this.#parts.timestamp();
      await this.#parts.write(inserts.slice(known).map((insert) => insertRecord(epoch, insert, timestamp)));
    }
    this.#recorded = { epoch, inserts: inserts.length };
    return { composed, opened: opened && epoch > 0 };
  }

  /**
   * Puts edits into force with the records they rest on; on disk before it answers.
   *
   * @returns whether what they name still stood in the window
   */
  async commit(edits: readonly Edit[], reason: EpochReason, records: readonly NewRecord[]): Promise<boolean> {
    const tokensBefore = this.#composer.view().tokens;
    if (!this.#composer.commit(edits, reason)) return false;
    const tokensAfter = this.#composer.view().tokens;
    await this.#record(this.#composer.state, this.#facts(reason, tokensBefore, tokensAfter), records);
    return true;
  }

  /**
   * Takes the newest epoch back: the edits of the one it was built on are in force again. A record like any other; the log
   * is not changed, and the next window is composed from it.
   *
   * @throws WindrowError `not-found` where nothing is left to take back
   */
  async undo(): Promise<{ readonly undone: number; readonly epoch: number }> {
    const { state } = this.#composer;
    if (state.epoch === 0 || state.edits.every((edit) => edit.only !== undefined)) {
      throw new WindrowError(
        "not-found",
        `Session ${this.#parts.id} has no epoch to undo: its window is the whole log.`,
      );
    }
    const { id, store, scope } = this.#parts;
    const back = state.previous ? (await recordedEpoch(store, scope, id, state.previous)).state : initialState;
    const kept = new Set(back.edits.map(({ from, to, text }) => `${from}-${to}-${text}`));
    const gone = state.edits.filter(
      (edit) => edit.only === undefined && !kept.has(`${edit.from}-${edit.to}-${edit.text}`),
    );
    const restored: WindowState = {
      ...state,
      epoch: state.epoch + 1,
      previous: back.previous ?? 0,
      edits: [
        ...back.edits,
        ...state.edits.filter(({ pass }) => pass === "undo"),
        ...mintedSince(state, this.#composer.last, this.#parts.composer),
      ],
      opened: this.#composer.last,
      length: 0,
      inserts: [],
      reverted: [...(state.reverted ?? []), ...gone.map(({ from, to }) => ({ from, to }))],
    };
    const tokensBefore = this.#composer.view().tokens;
    this.#composer = await this.#reread(restored);
    await this.#record(restored, this.#facts("undo", tokensBefore, this.#composer.view().tokens));
    return { undone: state.epoch, epoch: restored.epoch };
  }

  /** A composer of another state over the log; what this process was given stands as it was given, defaultMask. */
  async #reread(state: WindowState): Promise<Composer> {
    const { id, store, scope } = this.#parts;
    const held = new Map(this.#composer.held.map(({ seq, message }: NumberedMessage) => [seq, message]));
    const composer = new Composer({ ...this.#parts.composer, state });
    const turns = new Turns();
    for await (const { seq, message } of windowRecords(store, scope, id, { state, historyTokens: 0 })) {
      // What is on its way to the window comes by itself.
      if (seq <= this.#composer.last) composer.push(seq, held.get(seq) ?? message);
      await turns.turn();
    }
    return composer;
  }

  #facts(reason: EpochReason, tokensBefore: number, tokensAfter: number): EpochFacts {
    const { strategy, profile, counter } = this.#parts.composer;
    return {
      reason,
      strategy: strategy.name,
      profile: profile.name,
      counter: counter.name,
      budget: this.#lastOptions?.budget ?? this.#parts.budget,
      tokensBefore,
      tokensAfter,
    };
  }

  async #record(state: WindowState, facts: EpochFacts, records: readonly NewRecord[] = []): Promise<void> {
    const data = { state, historyTokens: this.#parts.historyTokens(), held: this.#parts.heldData() };
    await this.#parts.write([...records, epochRecord(data, facts, this.#parts.timestamp())]);
    this.#recorded = { epoch: state.epoch, inserts: state.inserts?.length ?? 0 };
  }
}

/** Reasoning that was written on the window an undo takes back has no prefix any more, where the profile binds it to one. */
function mintedSince({ opened }: WindowState, last: number, { profile }: ComposerOptions): readonly Edit[] {
  if (profile.reasoning !== "prefix-bound" || last <= opened) return [];
  return [
    {
      kind: "drop",
      only: "reasoning",
      from: opened + 1,
      to: last,
      pass: "undo",
      reason: "it was written on a window that was undone",
      tokensBefore: 0,
      tokensAfter: 0,
    },
  ];
}
