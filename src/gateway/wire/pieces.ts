/** Pieces of something long, kept in a few: memory stays near the size of the whole, however small they come. */
export class Pieces<Piece> {
  readonly #join: (pieces: readonly Piece[]) => Piece;
  #whole: Piece[] = [];
  #pieces: Piece[] = [];

  /** @param join - makes one piece of several */
  constructor(join: (pieces: readonly Piece[]) => Piece) {
    this.#join = join;
  }

  /** Adds a piece behind all others. */
  add(piece: Piece): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < most) return;
    this.#whole.push(this.#join(this.#pieces));
    this.#pieces = [];
  }

  /** All pieces as one; none are left. */
  take(): Piece {
    const whole = this.#join([...this.#whole, ...this.#pieces]);
    this.#whole = [];
    this.#pieces = [];
    return whole;
  }
}

/** Pieces that stand by themselves before they become one. */
const most = 1_000;

/** Pieces of a text that become one string. */
export function textPieces(): Pieces<string> {
  return new Pieces((pieces) => (pieces.length === 1 ? (pieces[0] ?? "") : pieces.join("")));
}

/** Pieces of bytes that become one buffer. */
export function bytePieces(): Pieces<Buffer> {
  return new Pieces((pieces) => (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)));
}
