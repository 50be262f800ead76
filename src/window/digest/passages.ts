/** Passages: the stretches that a digest chooses from and shows. */
import type { Stretch } from "./line.ts";

/** A stretch that a digest shows. */
export interface Passage extends Stretch {
  /** Whether it is a file's text as it stands now, or as far as is known. */
  readonly file: boolean;
  /** The path of a file; what the call was about. */
  readonly subject: string;
  /** For a record: who said it, or the tool and what its call was about. */
  readonly label: string;
}
