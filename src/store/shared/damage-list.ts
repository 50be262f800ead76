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

  /** Whether a span that begins there was met. */
  has(id: string, span: Pick<Recovered, "file" | "offset">): boolean {
    return this.#sessions.get(id)?.has(keyOf(span)) === true;
  }

  /**
   * The spans of a session, in the order they were met.
   *
   * @param more - spans that take the place of those that begin where they do
   */
  of(id: string, more: readonly Recovered[] = []): readonly Recovered[] {
    const spans = new Map(this.#sessions.get(id));
    for (const span of more) spans.set(keyOf(span), span);
    return [...spans.values()];
  }

  /** How many spans of a session were met. */
  count(id: string): number {
    return this.#sessions.get(id)?.size ?? 0;
  }
}

function keyOf({ file, offset }: Pick<Recovered, "file" | "offset">): string {
  return `${file}:${offset}`;
}
