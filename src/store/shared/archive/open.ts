/** Opening an archive by its address: a folder, or a bucket with the SDK that the user installed. */
import { fileURLToPath } from "node:url";
import { WindrowError } from "../../../errors.ts";
import { withPackage } from "../../../peer.ts";
import { shown } from "../../../shown.ts";
import { folderArchive } from "./bucket.ts";
import type { ArchiveBucket } from "./bucket.ts";
import { s3Archive } from "./s3.ts";
import type { S3Client } from "./s3.ts";

/**
 * Opens an archive: a folder's path or `file:` URL, or `s3://bucket/prefix`. Of a bucket's parameters `region`, `endpoint`
 * (the URL of a store that speaks S3's protocol) and `path-style` (`true` for most of them) are the client's; credentials
 * come from the environment, as the SDK reads them.
 *
 * @throws WindrowError `bad-option`; `package-missing` without `@aws-sdk/client-s3`
 */
export async function openArchive(target: string | ArchiveBucket): Promise<ArchiveBucket> {
  if (typeof target !== "string") {
    if (typeof target === "object" && target !== null && typeof target.put === "function") return target;
    throw bad(`\`archive\` is a folder's path, s3://bucket/prefix, or what s3Archive made, not ${shown(target)}.`);
  }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme === undefined) return folderArchive(target);
  if (scheme === "file") return folderArchive(target.startsWith("file://") ? fileURLToPath(target) : target.slice(5));
  if (scheme !== "s3") throw bad(`No archive handles "${scheme}:"; name a folder, or s3://bucket/prefix.`);
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (!url || url.hostname === "") throw bad("The archive's address names no bucket: write s3://bucket/prefix.");
  const { region, endpoint, "path-style": pathStyle } = Object.fromEntries(url.searchParams);
  const name = "@aws-sdk/client-s3";
  const { S3 } = (await withPackage(name, "An archive in S3", () => import(name))) as {
    readonly S3: new (options: object) => S3Client;
  };
  const client = new S3({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(pathStyle !== undefined && { forcePathStyle: pathStyle === "true" }),
  });
  return s3Archive({ client, bucket: url.hostname, prefix: decodeURIComponent(url.pathname.slice(1)) });
}

function bad(message: string): WindrowError {
  return new WindrowError("bad-option", message, { option: "archive" });
}
