/** Writes the lines of a session's epochs: their texts as copies from the line before and from the log, where that is shorter. */
import { asObject } from "../message/json.ts";
import type { EditRecord, NewRecord, StoredRecord } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import { copiableText, lineInCopies } from "../window/epoch/lines.ts";
import type { EpochBase, LineInCopies } from "../window/epoch/lines.ts";
import { Turns } from "../turns.ts";
import type { Edit } from "../window/window.ts";
import type { SessionContext } from "./context.ts";
import { EpochReader } from "../window/epoch/reader.ts";

/** Writes the lines of one session's epochs. */
export class EpochWriter {
  readonly #context: SessionContext;
  #base: EpochBase | undefined;
  /** Messages that stand in the log otherwise than in memory: nothing is copied from them. */
  readonly #unlike = new Set<number>();
  /** Messages of an earlier process that were not compared with the log yet. */
  readonly #uncompared = new Set<number>();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Goes on from the line of an earlier process; undefined where nothing can be copied from it. */
  resumed(base: EpochBase | undefined): void {
    this.#base = base;
  }

  /** Notes a message that is in memory as an earlier process wrote it. */
  restored(seq: number): void {
    this.#uncompared.add(seq);
  }

  /** Notes a message that the log has masked. */
  masked(seq: number): void {
    this.#unlike.add(seq);
  }

  /**
   * Writes records and, behind them, the line of an epoch.
   *
   * @param complete - the line with everything written out
   * @param messages - those that are known, oldest first
   */
  async write(
    records: readonly NewRecord[],
    complete: EditRecord,
    edits: readonly Edit[],
    messages: readonly NumberedMessage[],
  ): Promise<void> {
    const copied = await this.#copied(complete, edits, messages);
    const line = copied?.record ?? complete;
    const stored = await this.#context.write([...records, line]);
    const written = epochIn(stored);
    this.#base = undefined;
    const held = asObject(complete.data["held"]);
    if (written && !written.masks) this.#base = { seq: written.seq, lines: copied?.lines ?? [], edits, held };
    // The mask of the store knows more than that of the session: the texts are written out after all.
    else if (copied) await this.#context.write([complete]);
  }

  async #copied(
    complete: EditRecord,
    edits: readonly Edit[],
    messages: readonly NumberedMessage[],
  ): Promise<LineInCopies | undefined> {
    const { mask } = this.#context.composer;
    // A resume over a network has its epoch with one look: what is copied would be further ones.
    if (this.#context.store.capabilities.inOrder === true) return undefined;
    const turns = new Turns();
    for (;;) {
      const alike = messages.filter(({ seq }) => !this.#unlike.has(seq));
      const copied = await turns.run(lineInCopies(complete, edits, { base: this.#base, messages: alike, mask }));
      const doubted = copied?.messages.filter((seq) => this.#uncompared.has(seq)) ?? [];
      if (doubted.length === 0) return copied;
      if (!(await this.#compare(doubted, alike))) return copied;
    }
  }

  /** Compares messages with the log; whether one is otherwise there. */
  async #compare(seqs: readonly number[], messages: readonly NumberedMessage[]): Promise<boolean> {
    const { store, scope, id } = this.#context;
    const texts = await new EpochReader(store, scope, id).messages(seqs);
    const known = new Map(messages.map(({ seq, message }) => [seq, message]));
    let isOther = false;
    for (const seq of seqs) {
      const message = known.get(seq);
      this.#uncompared.delete(seq);
      if (message && texts.get(seq) === copiableText(message)) continue;
      this.#unlike.add(seq);
      isOther = true;
    }
    return isOther;
  }
}

function epochIn(stored: readonly StoredRecord[]): (StoredRecord & { readonly kind: "edit" }) | undefined {
  for (const record of stored.toReversed()) if (record.kind === "edit" && record.type === "epoch") return record;
  return undefined;
}
