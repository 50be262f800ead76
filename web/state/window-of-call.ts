/** The window of the chosen call: asked for when the call changes, and once more for the origins of its digests. */
import { effect } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ViewerSource, ViewerWindow } from "../../src/viewer/viewer.ts";
import { isLabelled } from "../model/origins.ts";
import type { Loader } from "./loaded.ts";

/** Another strategy and budget that the window is composed by. */
export interface Instead {
  readonly strategy: string;
  readonly budget: number | undefined;
}

/** The signals that a window depends on, and where it goes. */
export interface CallParts {
  readonly source: ViewerSource;
  readonly id: string;
  readonly row: number | undefined;
  readonly call: ReadonlySignal<number>;
  readonly instead: ReadonlySignal<Instead | undefined>;
  readonly window: Loader<ViewerWindow>;
  /** Changes when what could not be had is asked for again. */
  readonly retries: ReadonlySignal<number>;
}

/** Origins are looked for in the log: they are asked for when the moving has ended. */
const settledAfterMs = 250;

/** Keeps the window in step with the call until the answer is called. */
export function followCall({ source, id, row, call, instead, window, retries }: CallParts): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    clearTimeout(timer);
    const wanted = call.value;
    const other = instead.value;
    void retries.value;
    if (wanted < 1) return;
    const options = {
      ...(row !== undefined && { row }),
      ...(other && { strategy: other.strategy }),
      ...(other?.budget !== undefined && { budget: other.budget }),
    };
    void window.ask(() => source.window(id, wanted, options));
    timer = setTimeout(() => void complete(), settledAfterMs);

    async function complete(): Promise<void> {
      const { value, isLoading } = window.state.peek();
      const isHere = (): boolean => call.peek() === wanted && instead.peek() === other;
      if (!isHere() || source.kind === "file") return;
      if (isLoading) {
        timer = setTimeout(() => void complete(), settledAfterMs);
        return;
      }
      if (!value?.entries.some((entry) => isLabelled(entry) && entry.origins === undefined)) return;
      try {
        const whole = await source.window(id, wanted, { ...options, origins: true });
        if (isHere() && window.state.peek().value === value) window.state.value = { value: whole, isLoading: false };
      } catch {
        // Without origins the lines stand as they are.
      }
    }
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
