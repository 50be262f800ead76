/** Opening a store by path or URL. */
import { fileURLToPath } from "node:url";
import { WindrowError } from "../errors.ts";
import type { Mask } from "../mask/mask.ts";
import { nearest } from "../nearest.ts";
import type { Clock } from "./clock.ts";
import type { Store } from "./store.ts";

/** What every store that is opened by path or URL takes. */
export interface OpenStoreOptions {
  /** Default: tokens of GitHub, OpenAI and GitLab are masked. */
  readonly mask?: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** For stores on disk; default `strict`. */
  readonly durability?: "strict" | "relaxed";
}

/** The schemes {@link openStore} knows. A path without a scheme is a folder. */
export const storeSchemes: readonly string[] = ["file", "ram"];

/**
 * Opens a store: a folder's path or a `file:` URL for files, `ram:` for memory. A {@link Store} is given back as it is.
 * The code of a store is loaded only when it is opened.
 *
 * @throws WindrowError `unknown-store` for another scheme, with the nearest known one
 */
export async function openStore(target: string | Store, options: OpenStoreOptions = {}): Promise<Store> {
  if (typeof target !== "string") return target;
  // One letter before a colon is a drive on Windows, no scheme.
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme === "ram") {
    const { ramStore } = await import("./ram.ts");
    const { durability: _durability, ...common } = options;
    return ramStore(common);
  }
  if (scheme === undefined || scheme === "file") {
    const { filesStore } = await import("./files/files.ts");
    return filesStore({ folder: folderOf(target, scheme), ...options });
  }
  throw new WindrowError("unknown-store", `No store handles "${scheme}:".${nearest(scheme, storeSchemes)}`, {
    target,
    scheme,
    known: storeSchemes,
  });
}

/** `file:///a/b` is a URL; `file:./a` names a folder relative to the working folder, which URLs cannot. */
function folderOf(target: string, scheme: string | undefined): string {
  if (scheme === undefined) return target;
  return target.slice("file:".length).startsWith("//") ? fileURLToPath(target) : target.slice("file:".length);
}
