/** The browser of the tests: a real Chromium, where there is one. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/** The browser's program: the one that CHROMIUM names, else the first of its names on the path. */
export function chromiumPath(): string | undefined {
  const { CHROMIUM: given, PATH: path = "" } = process.env;
  if (given !== undefined && given !== "") return given;
  return path
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Flags under which the browser itself asks no network. */
export const chromiumFlags: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
