/** An error's answer that is held back while another body may be tried. */
import type { Head } from "./attempt.ts";

/** How long an error's answer is held. */
export interface HoldLimits {
  /** Bytes of an error's body that is read before it passes. */
  readonly errorBytes: number;
  /** Milliseconds that an error's body may take before what came of it passes. */
  readonly errorMs: number;
}

/** Statuses by which providers refuse a body. */
const ofBodies: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** An error's answer as far as it came. */
export class HeldError {
  readonly head: Head;
  readonly chunks: Buffer[] = [];
  readonly #limits: HoldLimits;
  readonly #pass: (held: HeldError) => void;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;

  /** @param pass - passes the error where it is too long or too slow to be read */
  constructor(head: Head, limits: HoldLimits, pass: (held: HeldError) => void) {
    this.head = head;
    this.#limits = limits;
    this.#pass = pass;
    this.#timer = setTimeout(() => pass(this), limits.errorMs);
  }

  /** Whether another body may help against an answer. */
  static holds({ status }: Head): boolean {
    return ofBodies.has(status);
  }

  /** Whether the answer to another body refuses that as the first one was: a 500 may have any cause but where the first was one. */
  static isRefusedAgain(head: Head, first: Head): boolean {
    return HeldError.holds(head) && (head.status !== 500 || first.status === 500);
  }

  /**
   * Whether the first error stands for the answer to another body: the client knows how to go on from that, not from one about a
   * body that it never sent. One that says to come back later stands for itself.
   */
  static isFirstTold(head: Head, first: Head): boolean {
    const isClients = head.status >= 400 && head.status < 500 && head.status !== 429;
    return isClients || HeldError.isRefusedAgain(head, first);
  }

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.errorBytes) this.#pass(this);
  }

  /** Ends the wait. */
  settle(): void {
    clearTimeout(this.#timer);
  }
}
