/** The events of a growing session, read from a stream that is opened again where it broke. */
import type { LiveEvent } from "../../src/viewer/viewer.ts";
import { SourceFault } from "./fault.ts";

const shortestWait = 1_000;
const longestWait = 15_000;

/** The listeners of a stream of events. */
export interface FollowListeners {
  readonly onEvent: (event: LiveEvent) => void;
  /** Called with the words of a trouble, and with undefined when it is over. */
  readonly onTrouble: (words: string | undefined) => void;
}

/** Calls the listeners until the signal fires. A lost connection is opened again, later and later. */
export async function followEvents(
  open: (signal: AbortSignal) => Promise<Response>,
  { onEvent, onTrouble }: FollowListeners,
  signal: AbortSignal,
): Promise<void> {
  let wait = shortestWait;
  let since: string | undefined;
  while (!signal.aborted) {
    try {
      const response = await open(signal);
      for await (const text of dataOf(response)) {
        const trouble = troubleOf(text);
        if (trouble !== undefined) {
          onTrouble(trouble);
          continue;
        }
        wait = shortestWait;
        since = undefined;
        onTrouble(undefined);
        const event = eventOf(text);
        if (event) onEvent(event);
      }
    } catch (error) {
      // A connection that broke is opened again below; one that was left ends the loop.
      if (signal.aborted) return;
      since ??= new Date().toTimeString().slice(0, 8);
      onTrouble(
        error instanceof SourceFault
          ? error.message
          : `No connection to the server since ${since}; the page tries again.`,
      );
    }
    if (signal.aborted) return;
    await pause(wait, signal);
    wait = Math.min(longestWait, 2 * wait);
  }
}

/** The data lines of a stream of events. */
async function* dataOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield line.slice(6);
  }
}

/** The message of an error that the server tells in its stream. */
function troubleOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } };
    return error?.message;
  } catch {
    return undefined;
  }
}

function eventOf(text: string): LiveEvent | undefined {
  try {
    const event = JSON.parse(text) as Partial<LiveEvent>;
    return typeof event.messages === "number" && typeof event.calls === "number" ? (event as LiveEvent) : undefined;
  } catch {
    return undefined;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
