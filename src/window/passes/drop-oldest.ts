/** drop-oldest: whole steps leave from the head; one labelled message says how much left and how to get it back. */
import type { Pass } from "../window.ts";
import { dropping } from "./dropping.ts";
import type { Dropping } from "./dropping.ts";

/** Options of {@link dropOldest}. */
export interface DropOldestOptions extends Partial<Pick<Dropping, "keepNotes" | "reason">> {
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
}

/** Drops the oldest unprotected steps until the rest meets the target. */
export function dropOldest({
  note = true,
  keepNotes = false,
  reason = "the oldest steps left to make room",
}: DropOldestOptions = {}): Pass {
  return dropping({ name: "drop-oldest", reason, note, keepNotes, order: ({ steps }) => steps });
}
