/** Finds `windrow.config.{yaml,yml,json,mjs}`. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { WindrowError } from "../errors.ts";

const fileNames = ["yaml", "yml", "json", "mjs"].map((ending) => `windrow.config.${ending}`);

/** What a search found. */
export interface FoundFile {
  readonly path: string;
  /** Whether it belongs to another user of the system, who must not say what this one runs. */
  readonly stranger: boolean;
}

/**
 * The config file of a folder.
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

/** The config file of a folder or of the nearest one above it. */
export function configAbove(folder: string): FoundFile | undefined {
  const found = configIn(folder);
  const above = dirname(folder);
  return found ?? (above === folder ? undefined : configAbove(above));
}
