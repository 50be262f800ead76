/** Files that commands write: new ones, there when all of them is written. */
import { open, rename, rm, stat } from "node:fs/promises";
import { WindrowError } from "../errors.ts";

/**
 * Refuses a file that exists, before the work for it begins.
 *
 * @throws WindrowError `bad-option`
 */
export async function checkNewFile(path: string): Promise<void> {
  if (!(await stat(path).catch(() => undefined))) return;
  throw new WindrowError("bad-option", `${path} exists already; it is not overwritten. Name another file.`, { path });
}

/**
 * Writes lines into a file that must not exist. It is there when all of it is written.
 *
 * @returns its size in bytes
 * @throws WindrowError `bad-option` where it exists, `store-unavailable` where it cannot be written
 */
export async function writeNewFile(path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  await checkNewFile(path);
  const draft = `${path}.${process.pid}.tmp`;
  let bytes = 0;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.chmod(0o600);
      for await (const line of lines) {
        const text = Buffer.from(`${line}\n`);
        await file.writeFile(text);
        bytes += text.length;
      }
      await file.sync();
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    if (error instanceof WindrowError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new WindrowError("store-unavailable", `${path} cannot be written: ${reason}`, { path }, { cause: error });
  }
  return bytes;
}
