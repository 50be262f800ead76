/**
 * The examination of `index.jsonl` against the sessions it names. It is never the truth, but a wrong line hides a
 * session.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { JsonObject } from "../../../message/message.ts";
import { isFinal } from "../../shared/rules.ts";
import type { Finding } from "../../store.ts";
import { Catalogue } from "../catalogue.ts";
import { indexFile } from "../index-file.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { decodeMetadata, parseDocument, readObject, readState } from "../../format/documents.ts";
import { locate } from "../layout.ts";
import { metadataFile } from "../../format/documents.ts";
import type { Layout } from "../layout.ts";

/** Examines the index; what it lacks is no fault, as the store looks that up. */
export async function examineIndex(layout: Layout, mend: boolean): Promise<readonly Finding[]> {
  const path = join(layout.base, indexFile);
  if (!existsSync(path)) return [];
  const { known, unreadable } = readIndex(layout);
  let wrong = unreadable;
  for (const [id, entry] of known) if (!isRight(layout, id, entry)) wrong += 1;
  if (wrong === 0) return [];
  if (mend) await new Catalogue(layout, systemDisk).rebuild();
  const message = `${wrong} of its lines are unreadable, or about sessions that are not there or differ. It is made anew from the sessions.`;
  return [{ problem: "stale-index", severity: "damage", file: relative(layout.base, path), message, mended: mend }];
}

/** The index's line of each session; the newest line counts. */
export function readIndex(layout: Layout): {
  readonly known: ReadonlyMap<string, JsonObject>;
  readonly unreadable: number;
} {
  const path = join(layout.base, indexFile);
  const known = new Map<string, JsonObject>();
  let unreadable = 0;
  for (const line of existsSync(path) ? readFileSync(path, "utf8").split("\n") : []) {
    if (line === "") continue;
    const fields = parseDocument(line);
    const id = fields?.["uuid"];
    if (typeof id === "string") known.set(id, { ...known.get(id), ...fields });
    else unreadable += 1;
  }
  return { known, unreadable };
}

function isRight(layout: Layout, id: string, entry: JsonObject): boolean {
  const place = locate(layout, id);
  const metadata = place && decodeMetadata(readObject(join(place.folder, metadataFile)), id);
  // A session whose metadata cannot be read is a fault of its own, and the index may be all that is left of it.
  if (!place || !metadata) return place !== undefined;
  const status = place.completed ? readState(place.folder)?.status : undefined;
  const ended = status !== undefined && isFinal(status) ? status : undefined;
  const createdAt = entry["created_at"];
  return (
    entry["user"] === metadata.user &&
    entry["tenant"] === metadata.tenant &&
    typeof createdAt === "string" &&
    Date.parse(createdAt) === Date.parse(metadata.createdAt) &&
    (entry["status"] === undefined || entry["status"] === ended)
  );
}
