/** The copies of a session that an id means: everything of its name under a base folder, and whose each of them is. */
import { basename, join } from "node:path";
import type { Disk } from "../../../disk/disk.ts";
import { metadataIn, readObject } from "../../format/documents.ts";
import { ownerNamed, ownerOf } from "../../shared/rules.ts";
import type { Scope } from "../../store.ts";
import { asideFile, asideFolder } from "../examine/examination.ts";
import { namesIn } from "../layout.ts";
import type { Layout } from "../layout.ts";
import { trashFolder } from "./trash.ts";

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** The beginning of a folder's name while it is removed: readers lose sight of it at once. */
export const erasedPrefix = ".erased-";

/** A folder or file whose name is that of a session, or was made of it. */
export interface Copy {
  readonly path: string;
  /** `draft`: what a restore, a move or an erasure left that was cut short. */
  readonly kind: "session" | "trash" | "aside" | "draft";
  /** The owner; nobody's scope where it has none. Undefined for what goes with the other copies of its id. */
  readonly owner: Scope | undefined;
}

/** The copies in a store of files of each session that is asked for. */
export async function copiesIn(
  layout: Layout,
  ids: readonly string[],
  disk: Disk,
): Promise<ReadonlyMap<string, readonly Copy[]>> {
  const aside = join(layout.base, asideFolder);
  const folders: (readonly [folder: string, kind: Copy["kind"]])[] = [
    [layout.running, "session"],
    [layout.completed, "session"],
    [join(layout.base, trashFolder), "trash"],
  ];
  for (const stamp of await namesIn(aside, disk)) {
    for (const name of ["running", "completed"]) folders.push([join(aside, stamp, name), "aside"]);
  }
  const found = new Map(ids.map((id): [string, Copy[]] => [id, []]));
  for (const [folder, kind] of folders) {
    for (const name of await namesIn(folder, disk)) {
      const id = uuid.exec(name)?.[0];
      if (id !== undefined) found.get(id)?.push(copyOf(join(folder, name), id, kind, disk));
    }
  }
  return found;
}

/** The owner that the metadata in a folder names; undefined where there is none that can be read. */
export function ownerIn(folder: string, id: string, disk: Disk): Scope | undefined {
  const metadata = metadataIn(folder, id, disk);
  return metadata && ownerOf(metadata);
}

function copyOf(path: string, id: string, kind: Copy["kind"], disk: Disk): Copy {
  const name = basename(path);
  // Its erasure was begun, and may have taken its metadata first.
  if (name.startsWith(erasedPrefix)) return { path, kind: "draft", owner: undefined };
  const owner = ownerIn(path, id, disk);
  // A draft that was killed before it had metadata may be anybody's, also when a doctor has put it aside.
  if (kind === "aside") return { path, kind, owner: notedOwner(path, disk) ?? owner ?? (name === id ? {} : undefined) };
  if (name !== id) return { path, kind: "draft", owner };
  return { path, kind, owner: owner ?? {} };
}

/** The owner of parts of a session that a doctor took out. */
function notedOwner(folder: string, disk: Disk): Scope | undefined {
  const fields = readObject(join(folder, asideFile), disk);
  return fields && ownerNamed(fields);
}
