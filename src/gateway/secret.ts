/** The gateway's secret: names of tenants and prints of messages are made with it, so that neither says what it was made of. */
import { randomBytes } from "node:crypto";
import { link, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { draftOf, makeFolder, remove, systemCode, unavailable, writeNew } from "../disk/safe-write.ts";

/** Bytes of a secret. */
const length = 32;

/** A secret that is gone with the process, for a store that has no folder. */
export function passingSecret(): Buffer {
  return randomBytes(length);
}

/**
 * The secret of a folder, in a file of its owner's alone (`.gateway-secret`, 0600), which is made where there is none.
 *
 * @throws WindrowError `store-unavailable` where it can be neither read nor written
 */
export async function keptSecret(folder: string): Promise<Buffer> {
  const path = join(folder, ".gateway-secret");
  try {
    return (await readSecret(path)) ?? (await makeSecret(path));
  } catch (error) {
    throw unavailable(error, "keep the gateway's secret", path);
  }
}

async function readSecret(path: string): Promise<Buffer | undefined> {
  try {
    const secret = Buffer.from((await readFile(path, "utf8")).trim(), "hex");
    if (secret.length === length) return secret;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  throw new Error(`it holds no secret of ${length} bytes; remove it, and conversations begin anew`);
}

/** Makes the file whole or not at all; where another process was first, its secret counts. */
async function makeSecret(path: string): Promise<Buffer> {
  await makeFolder(dirname(path));
  const draft = draftOf(path);
  await writeNew(draft, `${passingSecret().toString("hex")}\n`);
  try {
    await link(draft, path);
  } catch (error) {
    // A file system without hard links takes the newest file; only two first starts at once could differ.
    if (systemCode(error) !== "EEXIST") await rename(draft, path);
  } finally {
    remove(draft);
  }
  const secret = await readSecret(path);
  if (!secret) throw new Error("it is gone again");
  return secret;
}
