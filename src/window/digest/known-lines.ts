/** Known lines: what texts of messages were taken apart into, for messages that will be read a second time. */
import type { TextMask } from "../window.ts";
import { bySentences, condensed, linesOf, listingOf } from "./line.ts";
import type { Line, LineKind, Stretch } from "./line.ts";

/** A text of a message, with what it was taken apart into. */
interface KnownText {
  readonly text: string;
  /** The way it was taken apart. */
  readonly way: string;
  readonly stretches: readonly Stretch[] | undefined;
}

/** The texts of messages by `seq`, each in the order they were asked for. */
export type KnownTexts = Map<number, readonly KnownText[]>;

/**
 * Takes the texts of messages apart into lines. A second reading of a message gets the lines of the first, in the order
 * it asks for them; what it asks for otherwise is taken apart anew.
 */
export class KnownLines {
  /** The texts that are kept for the next reading. */
  readonly kept: KnownTexts = new Map();
  readonly #mask: TextMask;
  readonly #earlier: KnownTexts;
  #seq = 0;
  #known: readonly KnownText[] | undefined;
  #next = 0;
  #keeping: KnownText[] | undefined;

  /** @param earlier - the texts that the reading before kept; they leave it as they are asked for */
  constructor(mask: TextMask, earlier: KnownTexts = new Map()) {
    this.#mask = mask;
    this.#earlier = earlier;
  }

  /**
   * Begins a message.
   *
   * @param keeps - whether its lines are kept for the next reading
   */
  begin(seq: number, keeps: boolean): void {
    this.#seq = seq;
    this.#next = 0;
    this.#known = this.#earlier.get(seq);
    this.#earlier.delete(seq);
    this.#keeping = keeps ? [] : undefined;
    if (this.#keeping) this.kept.set(seq, this.#keeping);
  }

  /** The lines of a text. */
  of(text: string, kind: LineKind): readonly Line[] {
    const [all] = this.#taken(text, kind, () => [{ at: 1, lines: linesOf(text, this.#seq, kind, this.#mask) }]) ?? [];
    return all?.lines ?? [];
  }

  /** The lines of a text that is no file: JSON as short records, and sentences each on a line. */
  ofRecord(text: string, kind: LineKind): readonly Line[] {
    const take = (): readonly Stretch[] => {
      return [{ at: 1, lines: linesOf(bySentences(condensed(text), kind), this.#seq, kind, this.#mask) }];
    };
    const [all] = this.#taken(text, `${kind} record`, take) ?? [];
    return all?.lines ?? [];
  }

  /** The lines of a numbered listing, as {@link listingOf}. */
  listing(text: string, least = 3): readonly Stretch[] | undefined {
    return this.#taken(text, `listing ${least}`, () => listingOf(text, this.#seq, this.#mask, least));
  }

  #taken(text: string, way: string, take: () => readonly Stretch[] | undefined): readonly Stretch[] | undefined {
    const known = this.#known?.[this.#next++];
    const found = known?.way === way && known.text === text ? known : { text, way, stretches: take() };
    this.#keeping?.push(found);
    return found.stretches;
  }
}
