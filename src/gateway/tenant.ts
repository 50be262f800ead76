/** Tenants: names that are made of clients' keys, so that no key is kept and two of them share no conversation. */
import { createHmac, randomBytes } from "node:crypto";
import { link, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { IncomingHttpHeaders } from "node:http";
import { makeFolder, remove, draftOf, systemCode, unavailable, writeNew } from "../disk/safe-write.ts";

/** Makes the name of a key's tenant: 16 hexadecimal digits, the same for the same key. */
export type TenantOf = (key: string) => string;

/** Names by a secret that is gone with the process, for stores that have no folder. */
export function passingTenants(): TenantOf {
  return tenantsBy(randomBytes(32));
}

/**
 * Names by a secret in a file of its owner's alone (0600), which is made where there is none.
 *
 * @throws WindrowError `store-unavailable` where it can be neither read nor written
 */
export async function keptTenants(path: string): Promise<TenantOf> {
  try {
    return tenantsBy((await readSecret(path)) ?? (await makeSecret(path)));
  } catch (error) {
    throw unavailable(error, "keep the secret of tenants' names", path);
  }
}

/** The key that a request is paid with; empty where it has none. */
export function keyOf(headers: IncomingHttpHeaders, path: string): string {
  for (const name of ["authorization", "x-api-key", "x-goog-api-key", "api-key"]) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value.replace(/^Bearer +/i, "");
  }
  return new URLSearchParams(path.replace(/^[^?]*/, "")).get("key") ?? "";
}

function tenantsBy(secret: Buffer): TenantOf {
  return (key) => createHmac("sha256", secret).update(key).digest("hex").slice(0, 16);
}

async function readSecret(path: string): Promise<Buffer | undefined> {
  try {
    const secret = Buffer.from((await readFile(path, "utf8")).trim(), "hex");
    return secret.length === 32 ? secret : undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes the file whole or not at all; where another process was first, its secret counts. */
async function makeSecret(path: string): Promise<Buffer> {
  await makeFolder(dirname(path));
  const draft = draftOf(path);
  await writeNew(draft, `${randomBytes(32).toString("hex")}\n`);
  try {
    await link(draft, path);
  } catch (error) {
    // A file system without hard links: the newest file counts, and the race is one of first starts alone.
    if (systemCode(error) !== "EEXIST") await rename(draft, path);
  } finally {
    remove(draft);
  }
  const secret = await readSecret(path);
  if (!secret) throw new Error("The file holds no secret of 32 bytes.");
  return secret;
}
