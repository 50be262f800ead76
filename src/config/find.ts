/** Finds `windrow.config.{yaml,yml,json,mjs}`. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { WindrowError } from "../errors.ts";

const fileNames = ["yaml", "yml", "json", "mjs"].map((ending) => `windrow.config.${ending}`);

/** A configuration file that a search found. */
export interface FoundFile {
  readonly path: string;
  /** Whether the file belongs to another user of the system, who must not decide what this process runs. */
  readonly stranger: boolean;
}

/**
 * The configuration file of a folder.
 *
 * @throws WindrowError `bad-option` where there are several
 */
export function configIn(folder: string): FoundFile | undefined {
  const found = fileNames.map((name) => join(folder, name)).filter((path) => existsSync(path));
  const [path] = found;
  if (path === undefined) return undefined;
  if (found.length > 1) {
    throw new WindrowError("bad-option", `There are several config files: ${found.join(", ")}. Keep one of them.`, {
      found,
    });
  }
  const self = process.getuid?.();
  const { uid } = statSync(path);
  return { path, stranger: self !== undefined && uid !== self && uid !== 0 };
}

/** The configuration file of a folder or of the nearest folder above it. */
export function configAbove(folder: string): FoundFile | undefined {
  const found = configIn(folder);
  const above = dirname(folder);
  return found ?? (above === folder ? undefined : configAbove(above));
}
