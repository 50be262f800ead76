/** Finds JSON values in bytes that come in chunks: a body is one, and a stream of lines has one in each. */
import { Pieces } from "./pieces.ts";

/** The objects and lists of a text, each as soon as it has ended. */
export class JsonValues {
  readonly #pieces = new Pieces();
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** The values that are whole with these bytes. */
  push(chunk: Buffer): readonly Buffer[] {
    const found: Buffer[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === 0x5c) this.#isEscaped = true;
        else if (byte === 0x22) this.#isInString = false;
      } else if (byte === 0x7b || byte === 0x5b) {
        if (this.#depth++ === 0) start = at;
      } else if (this.#depth === 0) continue;
      else if (byte === 0x22) this.#isInString = true;
      else if ((byte === 0x7d || byte === 0x5d) && --this.#depth === 0) {
        this.#pieces.add(chunk.subarray(start, at + 1));
        found.push(this.#pieces.take());
      }
    }
    if (this.#depth > 0) this.#pieces.add(chunk.subarray(start));
    return found;
  }

  /** Lets go of a value that has begun. */
  forget(): void {
    this.#pieces.take();
  }
}
