/** A button that copies the link to this place. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { linkHere } from "../../source/pick-source.ts";

/** The words of the button for a moment after it was pressed. */
const told = signal<string | undefined>(undefined);

/** How long they stand, in milliseconds. */
const toldMs = 2_000;

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(linkHere());
    told.value = "copied";
  } catch {
    told.value = "not allowed";
  }
  setTimeout(() => {
    told.value = undefined;
  }, toldMs);
}

/** Copies the link to this place, with the token that opens it on this machine. */
export function CopyLink(): JSX.Element {
  return (
    <button
      type="button"
      class="small end"
      title="copies the link to this place, with the token that opens it on this machine"
      aria-live="polite"
      onClick={() => void copy()}
    >
      {told.value ?? "copy link"}
    </button>
  );
}
