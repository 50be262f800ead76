/** The passage of an answer that may need several requests: one head, one body for the client, whatever lies between. */
import { STATUS_CODES } from "node:http";
import type { ServerResponse } from "node:http";
import type { Transform } from "node:stream";
import type { AnswerLoop, LoopStep } from "../gateway.ts";
import type { Head } from "./attempt.ts";
import { decoded, decoderFor } from "./encoding.ts";
import { HeldError } from "./held-error.ts";
import { inwardHeaders, sendHead } from "./headers.ts";
import type { RawHeaders } from "./headers.ts";

/** The parts that a looped passage works with. */
export interface LoopedParts {
  readonly response: ServerResponse;
  readonly loop: AnswerLoop;
  readonly note: string;
  readonly isStream: boolean;
  /** Most bytes of an error that is read. */
  readonly errorBytes: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sends a further request with the client's headers; its answer comes here. */
  readonly dispatch: (next: NonNullable<LoopStep["next"]>) => void;
}

/** A refusal of a later round, while it comes. */
interface Refusal {
  readonly head: Head;
  readonly chunks: Buffer[];
  bytes: number;
}

/** An error as it is told to a client. */
interface ToldError {
  readonly head: Head;
  readonly body: Buffer;
}

/** Writes one answer of several rounds. */
export class Looped {
  readonly #parts: LoopedParts;
  #head: Head | undefined;
  #decoder: Transform | undefined;
  #began = 0;
  #firstByteMs: number | undefined;
  #rounds = 0;
  #refusal: Refusal | undefined;
  /** The first refusal of a round, once another body is tried. */
  #first: ToldError | undefined;
  #isEnded = false;
  /** Whether a round is over and it is not known yet what follows. */
  #isBetween = false;
  /** Whether the client has yet to take what was written. */
  #isFull = false;
  #headers: Readonly<Record<string, string>> | undefined;
  #quiet: () => void = () => undefined;

  constructor(parts: LoopedParts) {
    this.#parts = parts;
  }

  /** Whether an answer with this head is one for a loop. */
  static takes(loop: AnswerLoop, { status, headers }: Head): boolean {
    return decoderFor(codingOf(headers)) !== undefined && loop.begin(status, headers);
  }

  /** Begins with the first round's head, which {@link Looped.takes} took. @param began - when its request was sent */
  begin(head: Head, began: number): void {
    const { response, note, isStream } = this.#parts;
    this.#open(head);
    this.#began = began;
    if (!isStream) return;
    response.writeHead(head.status, head.statusText, inwardHeaders(bare(head.raw), note, false));
    sendHead(response);
    this.#listen();
  }

  /** Takes the head of a later round. */
  head(head: Head): void {
    if (Looped.takes(this.#parts.loop, head)) this.#open(head);
    else this.#refusal = { head, chunks: [], bytes: 0 };
  }

  data(chunk: Buffer): void {
    if (this.#isEnded) return;
    this.#firstByteMs ??= this.#parts.now() - this.#began;
    if (this.#refusal) {
      this.#refusal.bytes += chunk.length;
      if (this.#refusal.bytes <= this.#parts.errorBytes) this.#refusal.chunks.push(chunk);
    } else if (this.#decoder) this.#decoder.write(chunk);
    else this.#write(this.#parts.loop.push(chunk));
  }

  /** Takes the end of a round. */
  end(): void {
    this.#settle(this.#refusal ? this.#refused(this.#refusal) : this.#ended(false));
  }

  /** Takes a round that broke off, or could not be sent. */
  fail(cause: string): void {
    const { loop, isStream } = this.#parts;
    if (this.#head) return this.#settle(this.#ended(true));
    // No answer came, so the round is over without one.
    const tell = async (): Promise<void> => {
      await loop.end(this.#round(0, false, true));
      const fault = loop.fault(502, `The model could not be asked again: ${cause}.`);
      if (isStream) this.#finish(fault);
      else this.#finishFault(502, fault);
    };
    this.#settle(tell());
  }

  /** Keeps what came before the client left. */
  abort(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#quiet();
    this.#decoder?.destroy();
    // Between two rounds the first one is kept already.
    if (this.#isBetween) return;
    void this.#parts.loop.end(this.#round(this.#head?.status ?? 0, true, false));
  }

  #open(head: Head): void {
    this.#head = head;
    this.#firstByteMs = undefined;
    const decoder = decoderFor(codingOf(head.headers));
    this.#decoder = decoder === "none" ? undefined : decoder;
    this.#decoder?.on("data", (chunk: Buffer) => this.#write(this.#parts.loop.push(chunk)));
    this.#decoder?.on("error", () => undefined);
  }

  async #ended(isBroken: boolean): Promise<void> {
    const { loop, response, isStream } = this.#parts;
    await flushed(this.#decoder);
    if (this.#isEnded) return;
    this.#isBetween = true;
    const head = this.#head;
    const { bytes, next, faultStatus } = await loop.end(this.#round(head?.status ?? 0, false, isBroken));
    this.#isBetween = false;
    if (next) {
      this.#rounds++;
      this.#head = undefined;
      this.#first = undefined;
      if (response.destroyed) return void (await loop.end(this.#round(0, true, false)));
      this.#write(bytes);
      return this.#dispatch(next);
    }
    if (response.destroyed) return;
    if (isBroken && this.#rounds === 0) return this.#cut(bytes);
    if (isStream) this.#finish(bytes);
    else if (faultStatus !== undefined) this.#finishFault(faultStatus, bytes);
    else this.#finishWhole(head?.status ?? 502, head?.statusText ?? "", bare(head?.raw ?? []), bytes);
  }

  /** A later round was refused: another body may help; if not, the client is told. */
  async #refused({ head, chunks }: Refusal): Promise<void> {
    const { loop, response, isStream } = this.#parts;
    const body = (await decoded(Buffer.concat(chunks), codingOf(head.headers))) ?? Buffer.alloc(0);
    const first = this.#first;
    const other = first ? undefined : await loop.again(head.status, body.toString());
    if (response.destroyed) return;
    this.#refusal = undefined;
    if (other) {
      this.#first = { head, body };
      return this.#dispatch({ body: other, ...(this.#headers && { headers: this.#headers }) });
    }
    const isRefusedAgain = first !== undefined && HeldError.isRefusedAgain(head, first.head);
    await loop.end({ ...this.#round(head.status, false, true), isRefusedAgain });
    const told = first && HeldError.isFirstTold(head, first.head) ? first : { head, body };
    const { status, statusText, raw } = told.head;
    if (isStream) this.#finish(loop.fault(status, `The model refused to go on behind a recall (${status}).`));
    else this.#finishWhole(status, statusText, bare(raw), told.body);
  }

  #dispatch(next: NonNullable<LoopStep["next"]>): void {
    this.#head = undefined;
    this.#decoder = undefined;
    this.#headers = next.headers;
    this.#began = this.#parts.now();
    this.#parts.dispatch(next);
  }

  #round(status: number, isAborted: boolean, isBroken: boolean): Parameters<AnswerLoop["end"]>[0] {
    const totalMs = this.#parts.now() - this.#began;
    const id = this.#head?.headers["request-id"] ?? this.#head?.headers["x-request-id"];
    return {
      ...{ status, isAborted, isBroken, firstByteMs: this.#firstByteMs ?? totalMs, totalMs },
      ...(typeof id === "string" && { requestId: id }),
    };
  }

  #write(bytes: Buffer): void {
    const { response, pause, resume } = this.#parts;
    if (bytes.length === 0 || response.destroyed || this.#isEnded) return;
    this.#listen();
    if (response.write(bytes) || this.#isFull) return;
    this.#isFull = true;
    pause();
    response.once("drain", () => {
      this.#isFull = false;
      resume();
    });
  }

  /** A client that hears nothing for too long gives up: it is told that the answer goes on. */
  #listen(): void {
    const { loop } = this.#parts;
    this.#quiet();
    if (loop.ping.length > 0) this.#quiet = loop.after(loop.silenceMs, () => this.#write(loop.ping));
  }

  #finish(bytes: Buffer): void {
    this.#close();
    this.#parts.response.end(bytes);
  }

  #finishWhole(status: number, statusText: string, raw: RawHeaders, bytes: Buffer): void {
    const { response, note } = this.#parts;
    this.#close();
    const headers = [...inwardHeaders(raw, note, false), "content-length", String(bytes.length)];
    response.writeHead(status, statusText, headers);
    response.end(bytes);
  }

  #finishFault(status: number, bytes: Buffer): void {
    this.#finishWhole(status, STATUS_CODES[status] ?? "", ["content-type", "application/json"], bytes);
  }

  #cut(bytes: Buffer): void {
    const { response } = this.#parts;
    this.#close();
    if (bytes.length > 0 && response.headersSent) response.write(bytes);
    if (response.socket) response.socket.destroySoon();
    else response.destroy();
  }

  #close(): void {
    this.#isEnded = true;
    this.#quiet();
  }

  #settle(work: Promise<void>): void {
    work.catch(() => this.#parts.response.destroy());
  }
}

/** Headers of an answer whose body is written anew. */
function bare(raw: RawHeaders): string[] {
  return raw.filter((_, place) => !/^content-(?:length|encoding)$/i.test(raw[place - (place % 2)] ?? ""));
}

function codingOf(headers: Head["headers"]): string | undefined {
  const coding = headers["content-encoding"];
  return typeof coding === "string" ? coding : undefined;
}

/** Settled when a decoder has given all that it holds, or broke. */
async function flushed(decoder: Transform | undefined): Promise<void> {
  if (!decoder) return;
  const closed = new Promise<void>((resolve) => decoder.once("close", resolve));
  decoder.end();
  if (!decoder.destroyed) await closed;
}
