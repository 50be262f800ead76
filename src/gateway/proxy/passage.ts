/** The way of an answer to its client: chunk by chunk, never faster than the client takes it. */
import type { ServerResponse } from "node:http";
import type { Head } from "./attempt.ts";
import type { AnswerCopy } from "./copy.ts";
import { inwardHeaders, sendHead } from "./headers.ts";
import type { RawHeaders } from "./headers.ts";

/** The parts that a passage works with. */
export interface PassageParts {
  readonly response: ServerResponse;
  /** Stops the upstream's bytes for a while, and lets them come again. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** The reader of a conversation's answer. */
  readonly copy?: AnswerCopy;
  /** Keeps the answer; settled when it is kept, or when that took too long. Called before the mark of its end, or its end, goes out. */
  readonly keep: () => Promise<void>;
}

/** The writer of one answer. */
export class Passage {
  readonly #parts: PassageParts;
  readonly #queue: Buffer[] = [];
  #trailers: RawHeaders | undefined;
  #isBusy = false;
  #isKept = false;
  #isCut = false;

  constructor(parts: PassageParts) {
    this.#parts = parts;
  }

  /** Writes status and headers, which go out at once. */
  begin({ status, statusText, raw }: Head, note: string): void {
    const { response } = this.#parts;
    const isWhole = raw.some((name, place) => place % 2 === 0 && /^content-length$/i.test(name));
    const isBare = response.req.method === "HEAD" || status === 204 || status === 304;
    const mayTrail = !isWhole && !isBare && response.req.httpVersion !== "1.0";
    response.writeHead(status, statusText, inwardHeaders(raw, note, mayTrail));
    // A first chunk that came in the same packet leaves in the same packet too.
    process.nextTick(() => {
      if (response.writableEnded) return;
      if (isBare) response.flushHeaders();
      else sendHead(response);
    });
  }

  /** Takes the next bytes. */
  data(chunk: Buffer): void {
    this.#queue.push(chunk);
    this.#start();
  }

  /** Takes the end: what waits goes out first. */
  end(trailers: RawHeaders): void {
    this.#trailers = trailers;
    this.#start();
  }

  /** Breaks the client's connection off, as the upstream's was, behind the bytes that came. */
  cut(): void {
    this.#isCut = true;
    this.#start();
  }

  #start(): void {
    if (!this.#isBusy) this.#work().catch(() => this.#parts.response.destroy());
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    const { pause, resume, response } = this.#parts;
    for (let chunk = this.#queue.shift(); chunk && !response.destroyed; chunk = this.#queue.shift()) {
      const wait = this.#pass(chunk);
      if (!wait) continue;
      pause();
      await wait;
    }
    if (this.#isCut) return this.#break();
    if (this.#trailers && !response.destroyed) return this.#finish(this.#trailers);
    this.#isBusy = false;
    resume();
  }

  /** Passes a chunk; answers a promise where the next one has to wait. */
  #pass(chunk: Buffer): Promise<void> | undefined {
    const { copy } = this.#parts;
    if (!copy || this.#isKept) return this.#write(chunk);
    const isEnded = copy.push(chunk);
    return isEnded === false ? this.#write(chunk) : this.#passLast(chunk, isEnded);
  }

  async #passLast(chunk: Buffer, isEnded: boolean | Promise<boolean>): Promise<void> {
    if (await isEnded) await this.#keep();
    await this.#write(chunk);
  }

  #write(chunk: Buffer): Promise<void> | undefined {
    const { response } = this.#parts;
    return response.write(chunk) ? undefined : drained(response);
  }

  async #finish(trailers: RawHeaders): Promise<void> {
    const { response, copy } = this.#parts;
    await copy?.flush();
    if (copy) await this.#keep();
    if (response.destroyed) return;
    if (trailers.length > 0 && response.chunkedEncoding) response.addTrailers(pairsOf(trailers));
    response.end();
  }

  async #break(): Promise<void> {
    await this.#keep();
    const { response } = this.#parts;
    if (response.socket) response.socket.destroySoon();
    else response.destroy();
  }

  async #keep(): Promise<void> {
    if (this.#isKept) return;
    this.#isKept = true;
    await this.#parts.keep();
  }
}

function pairsOf(raw: RawHeaders): [string, string][] {
  return raw.flatMap((name, place) => (place % 2 === 0 ? [[name, raw[place + 1] ?? ""]] : []));
}

/** Settled when a client has taken what was written, or has left. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
    if (response.destroyed) settle();
  });
}
