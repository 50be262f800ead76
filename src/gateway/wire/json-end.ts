/** Finds the end of one JSON value in bytes that come in chunks. */
export class JsonEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isEnded = false;

  /** @returns whether the object or list that began first has ended; true once only */
  push(chunk: Buffer): boolean {
    if (this.#isEnded) return false;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === 0x5c) this.#isEscaped = true;
        else if (byte === 0x22) this.#isInString = false;
      } else if (byte === 0x22) this.#isInString = true;
      else if (byte === 0x7b || byte === 0x5b) this.#depth++;
      else if ((byte === 0x7d || byte === 0x5d) && --this.#depth === 0) {
        this.#isEnded = true;
        return true;
      }
    }
    return false;
  }
}
