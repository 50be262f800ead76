/** The names of a session's objects in an archive (docs/format.md, "In an archive"): a tenant has a folder of its own. */
import { createHash } from "node:crypto";
import type { Scope } from "../../store.ts";

/** Characters of a tenant's name in the name of a folder, which has 255 bytes at most, and in that of an object, 1,024. */
const mostInFolder = 248;
const mostInObject = 900;

/** The names of a session's objects begin so. */
export function prefixOf({ tenant }: Scope, id: string): string {
  if (tenant === undefined) return `${id}/`;
  const name = tenant.isWellFormed() ? encodeURIComponent(tenant) : undefined;
  if (name !== undefined && name.length <= mostInFolder) return `tenant=${name}/${id}/`;
  const hash = createHash("sha256").update(JSON.stringify(tenant)).digest("hex");
  return `tenant-sha256=${hash}/${id}/`;
}

/** All beginnings that they may have: earlier versions wrote names of objects that are too long for a folder. */
export function prefixesOf(scope: Scope, id: string): readonly string[] {
  const { tenant } = scope;
  const now = prefixOf(scope, id);
  if (!tenant?.isWellFormed()) return [now];
  const name = encodeURIComponent(tenant);
  return name.length > mostInFolder && name.length <= mostInObject ? [now, `tenant=${name}/${id}/`] : [now];
}
