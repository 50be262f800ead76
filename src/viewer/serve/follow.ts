/** A session's growth as a stream of events (`text/event-stream`), until who listens leaves. */
import type { LiveEvent, ViewerSource } from "../viewer.ts";

/** Milliseconds between two signs of life: a connection that is gone is found out by them. */
const aliveEveryMs = 15_000;

/**
 * The events of a session as bytes. A listener that is slow gets the newest event and none in between: each says how much
 * there is.
 *
 * @param signal - fires where the listener left
 * @param fault - the text that tells of an error
 */
export function followStream(
  source: ViewerSource,
  id: string,
  signal: AbortSignal,
  fault: (error: unknown) => string,
): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  const encoder = new TextEncoder();
  const bytesOf = (event: LiveEvent): Uint8Array => encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
  let waiting: LiveEvent | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOpen = true;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    clearInterval(timer);
    signal.removeEventListener("abort", leave);
    if (!isOpen) return;
    isOpen = false;
    if (waiting !== undefined) controller.enqueue(bytesOf(waiting));
    controller.close();
  };
  const flush = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (!isOpen || waiting === undefined || (controller.desiredSize ?? 0) <= 0) return;
    const event = waiting;
    waiting = undefined;
    controller.enqueue(bytesOf(event));
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (signal.aborted) leave();
        signal.addEventListener("abort", leave, { once: true });
        left.signal.addEventListener("abort", () => end(controller), { once: true });
        controller.enqueue(encoder.encode(": follows\n\n"));
        timer = setInterval(() => {
          if (isOpen && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(":\n\n"));
        }, aliveEveryMs);
        timer.unref();
        const onEvent = (event: LiveEvent): void => {
          waiting = event;
          flush(controller);
        };
        void source
          .follow(id, onEvent, left.signal)
          .catch((error: unknown) => {
            if (isOpen) controller.enqueue(encoder.encode(`event: error\ndata: ${fault(error)}\n\n`));
          })
          .finally(() => end(controller));
      },
      pull: flush,
      cancel() {
        isOpen = false;
        clearInterval(timer);
        leave();
      },
    },
    { highWaterMark: 8 },
  );
}
