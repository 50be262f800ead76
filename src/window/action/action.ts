/** Actions: what a tool call reads out of a file or puts into it. */
import type { JsonObject } from "../../message/message.ts";

/** The effect of a call on a file, or the possible effect on files. Line numbers count from 1. */
export type FileAction =
  /** The result, or the part of it, shows the file from line `from` on; all of it where `whole` is set. */
  | {
      readonly kind: "read";
      readonly path: string;
      readonly from?: number;
      readonly whole: boolean;
      readonly part?: string;
    }
  /** The result, or the part of it, shows lines of the file, each with its number or none. */
  | { readonly kind: "search"; readonly path: string; readonly part?: string }
  /** The result shows something of the file that cannot be told from the rest. */
  | { readonly kind: "look"; readonly path: string }
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
  /** The file is gone. */
  | { readonly kind: "delete"; readonly path: string }
  /** The file is under another path now, in the place of one that was there. */
  | { readonly kind: "move"; readonly path: string; readonly to: string }
  /** A command that may have changed files: those it names, or, where it names none that is known, all. */
  | { readonly kind: "touch"; readonly command: string; readonly wide: boolean };

/** One replacement of an edit. */
export interface Change {
  readonly before: string;
  readonly after: string;
  /** Whether it is made wherever the old text stands. */
  readonly everywhere?: boolean;
  /** Set for a hunk of a patch: both texts are whole lines. An empty old text is then a place that is not known. */
  readonly hunk?: HunkPlace;
}

/** The place that a patch names for a hunk. */
export interface HunkPlace {
  /** A line above the hunk, as a part of it. */
  readonly under?: string;
  /** Number of its first line in the old file, from 1. */
  readonly at?: number;
}

/**
 * Says what a tool's call does to files, for a tool whose arguments do not show it by their shape: one effect, or several
 * in their order. `undefined`: nothing that is known.
 */
export type ReadCall = (args: JsonObject) => FileAction | readonly FileAction[] | undefined;

/** An action whose files are named from another folder. */
export function placed(action: FileAction, place: (path: string) => string): FileAction {
  if (action.kind === "touch") return action;
  if (action.kind === "move") return { ...action, path: place(action.path), to: place(action.to) };
  return { ...action, path: place(action.path) };
}
