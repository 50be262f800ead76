/** `--system`: the file with a system prompt. */
import { readFile } from "node:fs/promises";
import { WindrowError } from "../errors.ts";

/**
 * The text of a system prompt's file.
 *
 * @throws WindrowError `input-not-found`, `input-unreadable`
 */
export async function readSystem(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new WindrowError(
      missing ? "input-not-found" : "input-unreadable",
      missing ? `There is no file ${file} for --system.` : `${file}, for --system, cannot be read: ${String(error)}.`,
      { file },
      { cause: error },
    );
  }
}
