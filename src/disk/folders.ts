/** Making a folder with those above it. */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and those above it that are missing. Node's own way (`recursive`) never ends in file systems that refuse
 * new names as if they were missing, /proc among them.
 *
 * @param mode - of the folders that are made. Default: the system's
 * @throws the system's error, with its `code`
 */
export function makeFolders(path: string, mode?: number): void {
  const folder = resolve(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(folder);
  if (above !== folder) makeFolders(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
