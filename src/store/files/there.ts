/** Whether a folder holds a store of files, and where there is one when it does not. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { WindrowError } from "../../errors.ts";

/** Folders of a folder that are looked into for a store. */
const mostFolders = 200;

/** Whether a folder is a store of files. */
export function isFilesStore(folder: string): boolean {
  return isFolder(join(folder, "running")) || isFolder(join(folder, "completed"));
}

/**
 * The error for a path that is no store of files: it names one that lies near.
 *
 * @returns `store-unavailable`
 */
export function noStoreIn(path: string): WindrowError {
  const lacks = isFolder(path)
    ? 'it has neither a folder "running" nor "completed"'
    : existsSync(path)
      ? "it is a file"
      : "there is nothing at that path";
  const store = storeNear(path);
  const database = store === undefined ? databaseNear(path) : undefined;
  const hint = store === undefined ? "Check the path." : `There is one in ${store}.`;
  const meant = database === undefined ? hint : `A database is named as sqlite:${database}.`;
  return new WindrowError("store-unavailable", `There is no store in ${path}: ${lacks}. ${meant}`, { path });
}

/** A store in the folders of a folder, in theirs, or around it. */
function storeNear(path: string): string | undefined {
  const below = foldersIn(path);
  return [...below, ...below.flatMap(foldersIn), dirname(path)].find((folder) => isFilesStore(folder));
}

/** A file that is, by its name, a database: the path itself, or one in the folder. No database is opened by hand. */
function databaseNear(path: string): string | undefined {
  const files = isFolder(path) ? namesIn(path).map((name) => join(path, name)) : [path];
  return files.find((file) => /\.(?:db|sqlite3?)$/i.test(file));
}

function foldersIn(folder: string): readonly string[] {
  const names = namesIn(folder).filter((name) => !name.startsWith(".") && name !== "node_modules");
  return names
    .slice(0, mostFolders)
    .map((name) => join(folder, name))
    .filter(isFolder);
}

/** The names in a folder, sorted; none where it cannot be read. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
