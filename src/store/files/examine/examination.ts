/** The session under examination: its place, its findings, and the folder for what is taken out. */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { page } from "../../format/documents.ts";
import type { Finding, Scope } from "../../store.ts";
import type { Layout, Place } from "../layout.ts";
import { makeFolder, replaceFile, syncFolder } from "../../../disk/safe-write.ts";

/** Folder under the base folder in which lies what was taken out. */
export const asideFolder = "aside";

/** The file there that says whose it is, where parts of a session were taken out. */
export const asideFile = "aside.json";

/** A session that is being examined, and the findings so far. */
export interface Examination {
  readonly layout: Layout;
  readonly place: Place;
  readonly mend: boolean;
  readonly clock: Clock;
  /** For the names of side files and folders, for example `20240115T103001123Z`. */
  readonly stamp: string;
  readonly findings: Finding[];
}

/** Adds a finding about a file of the session. */
export function find(
  examination: Examination,
  path: string,
  finding: Omit<Finding, "file" | "sessionId" | "severity"> & Partial<Pick<Finding, "severity">>,
): void {
  const { layout, place, findings } = examination;
  findings.push({ severity: "damage", sessionId: place.id, file: relative(layout.base, path) || ".", ...finding });
}

/** Moves a file or folder into `aside/`, where it keeps its path; returns where it lies now, under the base folder. */
export async function moveAside(
  { layout, stamp }: Pick<Examination, "layout" | "stamp">,
  path: string,
): Promise<string> {
  const target = join(layout.base, asideFolder, stamp, relative(layout.base, path));
  await makeFolder(dirname(target));
  await rename(path, target);
  await syncFolder(dirname(target));
  await syncFolder(dirname(path));
  return relative(layout.base, target);
}

/** Notes whose it is what an examination took out of a session that stays. */
export async function noteAside({ layout, stamp, place }: Examination, { user, tenant }: Scope): Promise<void> {
  const target = join(layout.base, asideFolder, stamp, relative(layout.base, place.folder));
  if (!existsSync(target)) return;
  const owner = { ...(user !== undefined && { user }), ...(tenant !== undefined && { tenant }) };
  await replaceFile(join(target, asideFile), page(owner), true);
}
