/** The ceiling of a conversation: how long its model takes it, as far as refusals tell. */

/** The share of a refused body that the next one may have; of that a share again where it was refused too. */
export const lessOf = 0.75;

/** Refusals of smaller bodies that make the next one smaller still, at most: a cause that is not the length makes none tiny. */
export const mostInVain = 6;

/** Answers in which a ceiling rises by one share: at first, and where it was found again and again. */
const [firstPace, lastPace] = [8, 512];

/** A body that was refused for its status alone, and the messages of its conversation. */
export interface Vague {
  readonly bytes: number;
  readonly messages: number;
}

/** The most that one model takes of a line. */
export class Ceiling {
  /** Most tokens of a window: as many as were taken where more were refused. It rises with every answer. */
  most = Infinity;
  /** Tokens of the smaller body that was refused last. */
  #tried = Infinity;
  /** The last smaller body that was refused for its status alone, and how many were since one was taken. */
  #vague: Vague | undefined;
  #vagueTimes = 0;
  #pace = firstPace;

  /** The tokens of a body in the place of a refused one. */
  below(tokens: number): number {
    const from = Math.min(this.most, tokens);
    return Math.floor(Math.max(Math.min(from, this.#tried) * lessOf, from * lessOf ** (mostInVain + 1)));
  }

  /**
   * The bytes of a body in the place of one that was refused for its status alone.
   *
   * @returns undefined where that would be in vain: for the same messages, or for the seventh time
   */
  bytesBelow({ bytes, messages }: Vague): number | undefined {
    if (this.#vague?.messages === messages || this.#vagueTimes >= mostInVain) return undefined;
    return Math.floor(Math.min(bytes, this.#vague?.bytes ?? Infinity) * lessOf);
  }

  /** A smaller body was refused too. @param vague - where that was for its status alone */
  refused(tokens: number, vague?: Vague): void {
    this.#tried = tokens;
    if (!vague) return;
    this.#vague = vague;
    this.#vagueTimes++;
  }

  /** A body was taken. @param tokens - of one in the place of a refused one */
  taken(tokens?: number): void {
    this.#vague = undefined;
    this.#vagueTimes = 0;
    if (tokens === undefined) {
      const rise = lessOf ** (-1 / this.#pace);
      this.most *= rise;
      this.#tried *= rise;
      return;
    }
    if (this.most < Infinity) this.#pace = Math.min(this.#pace * 2, lastPace);
    this.most = Math.min(this.most, tokens);
    this.#tried = Infinity;
  }
}

/** Most models of one line that are remembered. */
const mostModels = 16;

/** The ceilings of a line and of what was forked from it, by model. */
export class Ceilings {
  readonly #models = new Map<string, Ceiling>();

  /** That of a model. */
  of(model = ""): Ceiling {
    const known = this.#models.get(model) ?? new Ceiling();
    this.#models.delete(model);
    this.#models.set(model, known);
    const [oldest] = this.#models.keys();
    if (this.#models.size > mostModels && oldest !== undefined) this.#models.delete(oldest);
    return known;
  }
}
