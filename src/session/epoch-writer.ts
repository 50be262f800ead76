/** Writes the lines of a session's epochs: their texts as copies from the line before and from the log. */
import type { EditRecord, NewRecord } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import { Turns } from "../turns.ts";
import { baseOf, lineInCopies } from "../window/epoch/lines.ts";
import type { EpochBase } from "../window/epoch/lines.ts";
import type { SessionContext } from "./context.ts";

/** Writes the lines of one session's epochs. */
export class EpochWriter {
  readonly #context: SessionContext;
  #base: EpochBase | undefined;
  /** Messages that the log has masked: they are in memory as they were given, and nothing is copied from them. */
  readonly #masked = new Set<number>();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Goes on from the line of an earlier process; undefined where there is none. */
  resumed(base: EpochBase | undefined): void {
    this.#base = base;
  }

  /** Notes a message that the log has masked. */
  masked(seq: number): void {
    this.#masked.add(seq);
  }

  /**
   * Writes records and, behind them, the line of an epoch.
   *
   * @param complete - the line with everything written out
   * @param known - the messages that are known, oldest first
   */
  async write(records: readonly NewRecord[], complete: EditRecord, known: readonly NumberedMessage[]): Promise<void> {
    const { store, composer } = this.#context;
    const messages = known.filter(({ seq }) => !this.#masked.has(seq));
    // A resume over a network has its epoch with one look: what is copied would be further ones.
    const line = store.capabilities.inOrder
      ? complete
      : await new Turns().run(lineInCopies(complete, { base: this.#base, messages }, composer.mask));
    const written = (await this.#context.write([...records, line])).at(-1);
    this.#base = written && !written.masks ? baseOf(written.seq, line.data, complete.data) : undefined;
  }
}
