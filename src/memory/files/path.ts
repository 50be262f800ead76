/** Paths of memory files. No file of a disk stands behind one, so none can lead out of the memory. */
import { WindrowError } from "../../errors.ts";
import { shown } from "../../shown.ts";

/** The folder that all paths begin with. */
export const memoryRoot = "/memories";

const longestPath = 1_024;

/**
 * A path in its one form: below `/memories`, without `.`, `..`, doubled or trailing slashes.
 *
 * @throws WindrowError `bad-option` for a path outside the memory, also where it is written with `..`, `%2e` or `\`
 */
export function memoryPath(path: unknown): string {
  if (typeof path !== "string" || path.length > longestPath) throw refused(path);
  const parts = path.split("/").filter((part, place) => part !== "" && (part !== "." || place === 0));
  const isPlain = path.startsWith("/") && `/${parts[0] ?? ""}` === memoryRoot;
  const isHidden = parts.includes("..") || /[\\\p{Cc}]|%2e|%2f|%5c|%00/iu.test(path);
  if (!isPlain || isHidden) throw refused(path);
  return `/${parts.join("/")}`;
}

/** Whether a path is a folder's or stands below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function refused(path: unknown): WindrowError {
  const message = `A memory's path begins with ${memoryRoot}/ and stays below it, without "..", "\\" or codes like %2e: ${shown(path)} does not.`;
  return new WindrowError("bad-option", message, { option: "path" });
}
