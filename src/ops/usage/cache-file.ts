/**
 * A file of a cache: one line with its writer and the hash of its body, then the body. Readers differ between versions of
 * the package, so a file of another one counts as none, and is built again.
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder, removeDrafts, replaceFile } from "../../disk/safe-write.ts";
import { packageVersion } from "../../version.ts";

/** A larger file is neither read nor written, in bytes. */
export const largestCache = 128_000_000;

/** The body of a file as it was written; empty for one that is missing, damaged, too large or of another version. */
export async function readCache(path: string): Promise<string> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  const text = size > largestCache ? "" : await readFile(path, "utf8").catch(() => "");
  const end = text.indexOf("\n");
  const body = text.slice(end + 1);
  return end >= 0 && text.slice(0, end) === headOf(body) ? body : "";
}

/** Writes a body. A folder that cannot be written makes no difference but time. */
export async function writeCache(path: string, body: string): Promise<void> {
  try {
    await makeFolder(dirname(path));
    await removeDrafts(dirname(path));
    await replaceFile(path, `${headOf(body)}\n${body}`, false);
  } catch {
    return;
  }
}

function headOf(body: string): string {
  return `windrow ${packageVersion()} ${createHash("sha256").update(body).digest("hex")}`;
}
