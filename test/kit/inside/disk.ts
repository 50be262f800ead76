/** Names of src/disk that tests use and no door exports. */
export { systemDisk } from "../../../src/disk/disk.ts";
export type { Disk, DiskStat } from "../../../src/disk/disk.ts";
export { systemArchives } from "../../../src/disk/archive/archive-disk.ts";
