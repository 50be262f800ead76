/** A source whose answers say what was asked. */
import type { LiveEvent, ViewerSource } from "windrow/viewer";

/** What a source was asked, one entry a question. */
export type Asked = readonly unknown[];

/** A source that keeps the questions; an answer of its own can be given for each. */
export function fakeSource(answers: Partial<ViewerSource> = {}): { source: ViewerSource; asked: Asked[] } {
  const asked: Asked[] = [];
  const says =
    (name: string) =>
    (...given: readonly unknown[]): Promise<never> => {
      asked.push([name, ...given]);
      return Promise.resolve({ answer: name } as never);
    };
  const source: ViewerSource = {
    kind: "server",
    sessions: says("sessions"),
    session: says("session"),
    outline: says("outline"),
    messages: says("messages"),
    text: says("text"),
    blob: (id, seq, place) => {
      asked.push(["blob", id, seq, place]);
      return Promise.resolve({ mediaType: "image/png", data: new Uint8Array([1]) });
    },
    calls: says("calls"),
    epochs: says("epochs"),
    window: says("window"),
    requests: says("requests"),
    recalls: says("recalls"),
    search: says("search"),
    replay: says("replay"),
    follow: (_id: string, _onEvent: (event: LiveEvent) => void, signal: AbortSignal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    ...answers,
  };
  return { source, asked };
}
