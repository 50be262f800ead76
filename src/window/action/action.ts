/** Actions: what a tool call reads out of a file or puts into it. */
import type { JsonObject } from "../../message/message.ts";

/** The effect of a call on a file, or the possible effect on files. Line numbers count from 1. */
export type FileAction =
  /** The result shows the file from line `from` on; all of it where `whole` is set. */
  | { readonly kind: "read"; readonly path: string; readonly from?: number; readonly whole: boolean }
  /** The result shows lines of the file, each with its number or none. */
  | { readonly kind: "search"; readonly path: string }
  /** The file is now this text. */
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  /** Old texts gave way to new ones. */
  | { readonly kind: "edit"; readonly path: string; readonly changes: readonly Change[] }
  /** A text stands behind line `after`; in the place of the lines up to `to` where that is set. */
  | {
      readonly kind: "insert";
      readonly path: string;
      readonly after: number;
      readonly to?: number;
      readonly text: string;
    }
  /** A command that may have changed files: those it names, or, where it names none that is known, all. */
  | { readonly kind: "touch"; readonly command: string; readonly wide: boolean };

/** One replacement of an edit. */
export interface Change {
  readonly before: string;
  readonly after: string;
}

/**
 * Says what a tool's call does to a file, for a tool whose arguments do not show it by their shape. `undefined`: nothing
 * that is known.
 */
export type ReadCall = (args: JsonObject) => FileAction | undefined;
