/** What several scripts ask of the package: its root, package.json, and its files. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root, an absolute path. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** package.json, parsed. */
export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The files under some folders of the repository, relative to its root, whose names the pattern matches. */
export function filesUnder(folders, pattern) {
  const files = folders.flatMap((folder) => {
    try {
      const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
  });
  return files
    .map((file) => file.slice(root.length + 1))
    .filter((file) => pattern.test(file))
    .sort();
}

/** Prints what is wrong, a line each, and ends the process with status 1; with nothing wrong, prints the good news. */
export function conclude(faults, goodNews) {
  for (const fault of faults) console.error(fault);
  if (faults.length === 0) console.log(goodNews);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
