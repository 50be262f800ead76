/** The events of a growing session, read from a stream that is opened again where it broke. */
import type { LiveEvent } from "../../src/viewer/viewer.ts";

const shortestWait = 1_000;
const longestWait = 15_000;

/** Calls `onEvent` for every event until the signal fires. A lost connection is opened again, later and later. */
export async function followEvents(
  open: (signal: AbortSignal) => Promise<Response>,
  onEvent: (event: LiveEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let wait = shortestWait;
  while (!signal.aborted) {
    try {
      const response = await open(signal);
      for await (const text of dataOf(response)) {
        wait = shortestWait;
        const event = eventOf(text);
        if (event) onEvent(event);
      }
    } catch {
      // A connection that broke is opened again below; one that was left ends the loop.
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
