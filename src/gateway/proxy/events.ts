/** Events of the gateway, one for each request: for a log, for metrics. They name no header's value and no query. */
import type { Head } from "./attempt.ts";

/**
 * The end of a request: the upstream's answer passed to its last byte (`answered`), the client left (`aborted`), the
 * upstream failed (`failed`), or the gateway answered by itself (`refused`, `own`).
 */
export type Outcome = "answered" | "aborted" | "failed" | "refused" | "own";

/** A request that is over. */
export interface GatewayEvent {
  readonly type: "request";
  readonly method: string;
  /** Without prefixes and query. */
  readonly path: string;
  readonly outcome: Outcome;
  /** The status that the client got; 0 where it left before. */
  readonly status: number;
  /** The name of the upstream. */
  readonly upstream?: string;
  /** The value of `x-windrow`. */
  readonly note?: string;
  /** The bytes of both bodies on the wire, towards the upstream and from it. */
  readonly bytesOut: number;
  readonly bytesIn: number;
  /** Milliseconds from the request to the answer's head, and to its end. */
  readonly firstByteMs?: number;
  readonly totalMs: number;
  /** The cause of a failure, in words. */
  readonly cause?: string;
}

/** The facts of a request, gathered while it passes. */
export class Course {
  readonly #clock: () => number;
  readonly #began: number;
  readonly method: string;
  path = "";
  upstream: string | undefined;
  note: string | undefined;
  cause: string | undefined;
  outcome: Outcome = "aborted";
  status = 0;
  bytesOut = 0;
  bytesIn = 0;
  firstByteMs: number | undefined;
  requestId: string | undefined;

  /** @param clock - milliseconds that only grow */
  constructor(method: string, clock: () => number) {
    this.method = method;
    this.#clock = clock;
    this.#began = clock();
  }

  /** Notes an answer's head. */
  head({ status, headers }: Head): void {
    this.firstByteMs = this.totalMs();
    this.status = status;
    const id = headers["request-id"] ?? headers["x-request-id"];
    if (typeof id === "string") this.requestId = id;
  }

  /** Milliseconds since the request came. */
  totalMs(): number {
    return this.#clock() - this.#began;
  }

  /** The event, once the request is over. */
  event(): GatewayEvent {
    const { method, path, outcome, status, upstream, note, bytesOut, bytesIn, firstByteMs, cause } = this;
    return {
      ...{ type: "request", method, path, outcome, status, bytesOut, bytesIn, totalMs: this.totalMs() },
      ...(upstream !== undefined && { upstream }),
      ...(note !== undefined && { note }),
      ...(firstByteMs !== undefined && { firstByteMs }),
      ...(cause !== undefined && { cause }),
    };
  }
}
