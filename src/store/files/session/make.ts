/** The folder of a new session, made so that no session is ever overwritten. */
import { join } from "node:path";
import type { Disk } from "../../../disk/disk.ts";
import { makeFolder, makeNewFolder, systemCode, unavailable } from "../../../disk/safe-write.ts";
import { alreadyExists } from "../../shared/rules.ts";
import { checkNotErased, locate } from "../layout.ts";
import type { Layout } from "../layout.ts";

/**
 * Makes the folder of a session in `running/`, empty.
 *
 * @throws WindrowError `session-exists` where the id is taken in either folder; `store-unavailable`
 */
export async function makeSessionFolder(layout: Layout, id: string, disk: Disk): Promise<string> {
  const folder = join(layout.running, id);
  try {
    await makeFolder(layout.running, disk);
    await makeFolder(layout.completed, disk);
    if (locate(layout, id, disk)) throw alreadyExists(id);
    checkNotErased(layout, id, disk);
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
