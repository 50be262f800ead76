/** A copy of an answer for its reader, decoded where it is compressed. Whatever goes wrong here, the answer passes. */
import type { Transform } from "node:stream";
import type { Answer } from "../../shape/shape.ts";
import type { AnswerReader } from "../gateway.ts";
import { decoderFor, mostDecoded } from "./encoding.ts";

/** An answer of which nothing could be read. */
const unread: Answer = { isComplete: false };

/** Reads an answer while it passes. */
export class AnswerCopy {
  readonly #reader: AnswerReader;
  readonly #decoder: Transform | undefined;
  #isBroken = false;
  #isEnded = false;
  #decoded = 0;
  #answer: Answer | undefined;
  /** Settled once the decoder has nothing more, or broke. */
  #closed: Promise<void> = Promise.resolve();

  /** @param coding - the value of `content-encoding`; an answer in one that cannot be read passes unread */
  constructor(reader: AnswerReader, coding: string | undefined) {
    this.#reader = reader;
    const decoder = decoderFor(coding);
    if (decoder === undefined) this.#isBroken = true;
    if (decoder === undefined || decoder === "none") return;
    this.#decoder = decoder;
    decoder.on("data", (chunk: Buffer) => this.#read(chunk));
    decoder.on("error", () => this.#break());
    this.#closed = new Promise((resolve) => decoder.once("close", resolve));
  }

  /** Takes the next bytes as they came; answers, in time where they are compressed, whether the mark of its end came. */
  push(chunk: Buffer): boolean | Promise<boolean> {
    if (this.#isBroken || this.#isEnded) return this.#isEnded;
    if (this.#decoder) return this.#decode(this.#decoder, chunk);
    this.#read(chunk);
    return this.#isEnded;
  }

  /** Takes what a decoder still holds, once no more bytes come. */
  async flush(): Promise<void> {
    if (!this.#decoder || this.#isBroken) return;
    this.#decoder.end();
    await this.#closed;
  }

  /** The answer as far as it was read, always the same. */
  end(): Answer {
    this.#answer ??= this.#end();
    this.#isBroken = true;
    this.#decoder?.destroy();
    return this.#answer;
  }

  async #decode(decoder: Transform, chunk: Buffer): Promise<boolean> {
    const written = new Promise<void>((resolve) => decoder.write(chunk, () => resolve()));
    await Promise.race([written, this.#closed]);
    return this.#isEnded;
  }

  #read(chunk: Buffer): void {
    if (this.#isBroken) return;
    this.#decoded += chunk.length;
    if (this.#decoded > mostDecoded) return this.#break();
    try {
      if (this.#reader.push(chunk)) this.#isEnded = true;
    } catch {
      this.#break();
    }
  }

  #break(): void {
    this.#isBroken = true;
    this.#decoder?.destroy();
  }

  #end(): Answer {
    try {
      return this.#reader.end();
    } catch {
      return unread;
    }
  }
}
