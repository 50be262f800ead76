/** Sessions that have no log: those that are just being made, or whose making was cut short. */
import { join } from "node:path";
import { kindFiles } from "../format/record.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { archiveEnding } from "./layout.ts";
import type { Place } from "./layout.ts";

/** Whether a session is not finished and has no log yet: the logs are made last, all before anybody is told of it. */
export function hasNoLog(
  { folder, completed = false }: Pick<Place, "folder"> & Partial<Place>,
  disk: Disk = systemDisk,
): boolean {
  const names = Object.values(kindFiles).map((name) => join(folder, name));
  return !completed && !names.some((path) => disk.exists(path) || disk.exists(`${path}${archiveEnding}`));
}
