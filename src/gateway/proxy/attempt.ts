/** One call of an upstream, without a retry and without following redirects. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { RawHeaders } from "./headers.ts";
import type { Upstream } from "./upstreams.ts";

/** A call as it is sent. */
export interface OutwardCall {
  readonly method: string;
  /** The path with its query; the upstream's folder comes before it. */
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

/** An answer's status and headers. */
export interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly raw: RawHeaders;
  /** The same by name, in lower case. */
  readonly headers: IncomingHttpHeaders;
}

/** Whoever an answer is for. After `end` or `fail` nothing more comes. */
export interface Receiver {
  head(head: Head): void;
  data(chunk: Buffer): void;
  end(trailers: RawHeaders): void;
  fail(error: Error): void;
}

/** A call that is under way. */
export class Attempt {
  readonly #receiver: Receiver;
  #controller: Dispatcher.DispatchController | undefined;
  #isAborted = false;

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Sends a call. Its answer comes later, also where it cannot be sent. */
  static send({ pool, folder }: Upstream, call: OutwardCall, receiver: Receiver): Attempt {
    const attempt = new Attempt(receiver);
    const { method, path, headers, body } = call;
    const options = { method, path: `${folder}${path}`, headers, body, headersTimeout: 0, bodyTimeout: 0 };
    // A connection that the upstream closed meanwhile is seen as closed only when the event loop has asked the system.
    setImmediate(() => {
      if (!attempt.#isAborted) pool.dispatch(options, attempt.#handler());
    });
    return attempt;
  }

  /** Ends the call and its connection; nothing more is received. One that has no connection yet never gets a byte out. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort(new Error("The client left."));
  }

  /** Lets no more bytes come until {@link resume}. */
  pause(): void {
    this.#controller?.pause();
  }

  /** Lets bytes come again. */
  resume(): void {
    this.#controller?.resume();
  }

  #handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        this.#controller = controller;
        if (this.#isAborted) this.abort();
      },
      onResponseStart: (controller, status, headers, statusText = "") => {
        // An answer before the answer, such as early hints, is for this connection alone.
        if (status < 200) return;
        const raw = textsOf(controller.rawHeaders);
        this.#receiver.head({ status, statusText: reasonOf(statusText), raw, headers });
      },
      onResponseData: (_controller, chunk) => this.#receiver.data(chunk),
      onResponseEnd: (controller) => this.#receiver.end(textsOf(controller.rawTrailers)),
      onResponseError: (_controller, error) => {
        if (!this.#isAborted) this.#receiver.fail(error);
      },
    };
  }
}

/** A reason phrase in its own bytes, as Node writes them. Bytes that are no UTF-8 are lost by then. */
function reasonOf(text: string): string {
  const bytes = Buffer.from(text).toString("latin1");
  return bytes.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, "?");
}

/** Names and values as they were on the wire: bytes above 127 are kept as Node writes them. */
function textsOf(raw: Dispatcher.DispatchController["rawHeaders"]): RawHeaders {
  if (!Array.isArray(raw)) return [];
  return raw.map((text) => (typeof text === "string" ? text : text.toString("latin1")));
}
