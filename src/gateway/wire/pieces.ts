/** Bytes of something long, kept in a few buffers: memory stays near the size of the whole, however small they come. */
export class Pieces {
  #whole: Buffer[] = [];
  #pieces: Buffer[] = [];

  /** Adds a piece behind all others. */
  add(piece: Buffer): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < most) return;
    this.#whole.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }

  /** All pieces as one; none are left. */
  take(): Buffer {
    const whole = Buffer.concat([...this.#whole, ...this.#pieces]);
    this.#whole = [];
    this.#pieces = [];
    return whole;
  }
}

/** Pieces that stand by themselves before they become one. */
const most = 1_000;
