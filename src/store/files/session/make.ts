/** The folder of a new session, made so that no session is ever overwritten. */
import { join } from "node:path";
import type { Disk } from "../../../disk/disk.ts";
import { makeFolder, makeNewFolder, systemCode, unavailable } from "../../../disk/safe-write.ts";
import { alreadyExists } from "../../shared/rules.ts";
import { locate } from "../layout.ts";
import type { Layout } from "../layout.ts";
import type { SessionMetadata } from "../../store.ts";
import { checkNoneErased } from "../upkeep/notes.ts";
import { checkNotInTrash } from "../upkeep/trash.ts";

/**
 * Makes the folder of a session in `running/`, empty.
 *
 * @throws WindrowError `session-exists` where the id is taken in either folder, or in the trash of another owner; `store-unavailable`
 */
export async function makeSessionFolder(layout: Layout, metadata: SessionMetadata, disk: Disk): Promise<string> {
  const { uuid: id } = metadata;
  const folder = join(layout.running, id);
  try {
    await makeFolder(layout.running, disk);
    await makeFolder(layout.completed, disk);
    if (locate(layout, id, disk)) throw alreadyExists(id);
    await checkFreeId(layout, metadata, disk);
    makeNewFolder(folder, disk);
  } catch (error) {
    throw systemCode(error) === "EEXIST" && disk.exists(folder)
      ? alreadyExists(id)
      : unavailable(error, "Making a session", folder);
  }
  if (!disk.exists(join(layout.completed, id))) return folder;
  await disk.removeTree(folder);
  throw alreadyExists(id);
}

/**
 * Refuses an id that lies in the trash of another owner, or whose erasure has not ended; asked behind {@link locate}.
 *
 * @throws WindrowError `session-exists`, `session-busy`
 */
export async function checkFreeId(layout: Layout, metadata: SessionMetadata, disk: Disk): Promise<void> {
  checkNotInTrash(layout, metadata, disk);
  await checkNoneErased(layout, metadata.uuid, disk);
}
