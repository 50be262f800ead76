/** The files of the page: what `npm run build` made of web/. They hold nothing of a session. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { WindrowError } from "../../errors.ts";

/** The files of the page by their paths, with the types they are served as. */
export const pageFiles = {
  "": { file: "index.html", type: "text/html; charset=utf-8" },
  "viewer.js": { file: "viewer.js", type: "text/javascript; charset=utf-8" },
  "viewer.css": { file: "viewer.css", type: "text/css; charset=utf-8" },
} as const;

/** One of the paths of {@link pageFiles}. */
export type PagePath = keyof typeof pageFiles;

/** Whether a path is one of the page's files. */
export function isPagePath(path: string): path is PagePath {
  return Object.hasOwn(pageFiles, path);
}

/** The folder of the built page in the installed package. */
export function pageFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("windrow/package.json")), "dist/web");
}

/**
 * Reads one file of the page.
 *
 * @throws WindrowError `package-missing` where the package was installed or built without it
 */
export async function readPage(path: PagePath, folder = pageFolder()): Promise<string> {
  const { file } = pageFiles[path];
  try {
    return await readFile(join(folder, file), "utf8");
  } catch (error) {
    const message = `The page's file ${file} is not in ${folder}: install windrow again, or run npm run build in its sources.`;
    throw new WindrowError("package-missing", message, { file, folder }, { cause: error });
  }
}
