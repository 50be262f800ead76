/** Answers on their way: the last one stays until the next is there. */
import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { isOvertaken } from "../source/fault.ts";

/** An answer, an error, and whether another is on its way. */
export interface Loaded<Value> {
  readonly value?: Value;
  readonly error?: unknown;
  readonly isLoading: boolean;
}

/** A signal of answers, of which the one to the newest question wins. */
export interface Loader<Value> {
  readonly state: Signal<Loaded<Value>>;
  /** Asks; an answer that was overtaken is dropped. */
  ask(question: () => Promise<Value>): Promise<void>;
}

const againAfterMs = 150;

/** A loader without an answer yet. */
export function loader<Value>(): Loader<Value> {
  const state = signal<Loaded<Value>>({ isLoading: false });
  let newest = 0;
  return {
    state,
    async ask(question) {
      const own = ++newest;
      state.value = { ...state.peek(), isLoading: true };
      for (;;) {
        try {
          const value = await question();
          if (own === newest) state.value = { value, isLoading: false };
          return;
        } catch (error) {
          if (own !== newest) return;
          // The newest question of a view is asked again where questions of others took its place.
          if (isOvertaken(error)) await new Promise((resolve) => setTimeout(resolve, againAfterMs));
          else state.value = { error, isLoading: false };
          if (own !== newest || !isOvertaken(error)) return;
        }
      }
    },
  };
}
