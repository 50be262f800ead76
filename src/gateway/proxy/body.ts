/** Bodies of requests: read whole where a conversation is in them, passed as a stream otherwise. */
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";

/** Limits of a body's arrival: one that is slower than both is given up. */
export interface Pace {
  /** Milliseconds without a byte. Default 30,000. */
  readonly silenceMs: number;
  /** Bytes per millisecond that keep the end of the wait moving. Default 8. */
  readonly leastRate: number;
}

/** A body as it was read: whole, or for `rest` still to come, with its first bytes put back; or why it is none. */
export type ReadBody = Buffer | "rest" | "slow" | "gone";

/**
 * Reads a body whole.
 *
 * @param most - bytes; a longer body is put back, for a stream to pass it
 */
export function wholeBody(request: IncomingMessage, most: number, pace: Pace): Promise<ReadBody> {
  if (Number(request.headers["content-length"] ?? 0) > most) return Promise.resolve("rest");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let deadline = performance.now() + pace.silenceMs;
    let timer = setTimeout(onTime, pace.silenceMs);
    function onTime(): void {
      const left = deadline - performance.now();
      if (left > 0) timer = setTimeout(onTime, left);
      else settle("slow");
    }
    function onData(chunk: Buffer): void {
      chunks.push(chunk);
      bytes += chunk.length;
      deadline = Math.min(performance.now() + pace.silenceMs, deadline + chunk.length / pace.leastRate);
      if (bytes <= most) return;
      settle("rest");
      request.pause();
      request.unshift(Buffer.concat(chunks));
    }
    const onEnd = (): void => settle(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    const onGone = (): void => settle("gone");
    function settle(read: ReadBody): void {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      resolve(read);
    }
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    if (request.destroyed) onGone();
  });
}

/** A body that passes unread, as fast as the upstream takes it. */
export interface PassingBody {
  readonly stream: PassThrough;
  /** Whether it was given up because the client sent nothing for too long. */
  readonly isSlow: () => boolean;
}

/** The rest of a body as a stream. It breaks where the client leaves, or sends nothing for too long. */
export function passingBody(request: IncomingMessage, pace: Pace): PassingBody {
  const stream = new PassThrough();
  let isSlow = false;
  const timer = setTimeout(() => {
    // While the upstream takes nothing, the client is not the one who is slow.
    if (stream.writableNeedDrain) return void timer.refresh();
    isSlow = true;
    stream.destroy(new Error("The body came too slowly."));
  }, pace.silenceMs);
  const broken = (): void => {
    if (!request.readableEnded) stream.destroy(new Error("The client left."));
  };
  const onData = (): void => void timer.refresh();
  const quiet = (): void => {
    request.off("data", onData);
    clearTimeout(timer);
  };
  request.on("data", onData).once("end", quiet);
  request.on("error", broken).once("close", broken);
  stream.on("error", () => undefined);
  stream.once("close", () => {
    quiet();
    request.unpipe(stream);
  });
  request.pipe(stream);
  return { stream, isSlow: () => isSlow };
}

/** The silences that the rest of a body may last which nobody wants. */
const silencesOfRest = 10;

/**
 * Reads what is left of a body behind its answer. A client that writes its whole body first then reads the answer, and can
 * ask again on its connection, which ends where the rest comes too slowly or does not end.
 */
export function discardRest(request: IncomingMessage, { silenceMs }: Pick<Pace, "silenceMs">): void {
  request.unpipe();
  if (!request.complete) {
    const { socket } = request;
    const [silence, whole] = [silenceMs, silenceMs * silencesOfRest].map((milliseconds) =>
      setTimeout(() => socket.destroy(), milliseconds).unref(),
    );
    const settle = (): void => {
      clearTimeout(silence);
      clearTimeout(whole);
    };
    request.on("data", () => silence?.refresh());
    request.once("end", settle).once("close", settle);
  }
  request.resume();
}

/** Whether a request says that it has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
