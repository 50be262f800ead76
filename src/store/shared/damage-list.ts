/** The damaged spans that a store met so far, by session. */
import type { Recovered } from "../store.ts";

/** Each span once, however often it was met. */
export class DamageList {
  readonly #sessions = new Map<string, Map<string, Recovered>>();

  /** Adds a span of a session. */
  add(id: string, span: Recovered): void {
    const spans = this.#sessions.get(id) ?? new Map<string, Recovered>();
    spans.set(keyOf(span), span);
    this.#sessions.set(id, spans);
  }

  /** The spans of a session, in the order they were met. */
  of(id: string): readonly Recovered[] {
    return [...(this.#sessions.get(id)?.values() ?? [])];
  }
}

function keyOf({ file, offset }: Pick<Recovered, "file" | "offset">): string {
  return `${file}:${offset}`;
}
