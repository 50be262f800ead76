/** `archived.json`: where an archive holds the records of a session, and how often they went there and came back. */
import { join } from "node:path";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { replaceFile } from "../../../disk/safe-write.ts";
import { decodeMark, encodeMark, page, readObject } from "../../format/documents.ts";
import type { ArchiveMark } from "../../store.ts";

/** The file in a session's folder. It stays when the records come back, for its count. */
export const archivedFile = "archived.json";

/** The content of the file: where the records are, and how often they moved. */
export interface ArchivedNote {
  /** The place of the records; undefined while they lie in the folder. */
  readonly mark: ArchiveMark | undefined;
  /** How often the records went away or came back. */
  readonly moves: number;
}

/** The note of a session; of one that was never archived as if it said so. */
export function noteIn(folder: string, disk: Disk = systemDisk): ArchivedNote {
  const path = join(folder, archivedFile);
  const fields = disk.exists(path) ? readObject(path, disk) : undefined;
  const moves = fields?.["moves"];
  return { mark: decodeMark(fields), moves: typeof moves === "number" ? moves : 0 };
}

/** Writes the note, whole and durable. */
export async function writeNote(folder: string, { mark, moves }: ArchivedNote, disk: Disk): Promise<void> {
  await replaceFile(join(folder, archivedFile), page({ ...(mark && encodeMark(mark)), moves }), true, disk);
}
