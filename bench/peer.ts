/** Packages that Windrow is measured beside. They are installed where they do not get into this package. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Installs packages into a folder of the system's temporary directory, the first time, and makes a module there.
 *
 * @param packages - with their versions; the folder is named after the first
 * @param code - of the module
 * @param scripts - let the packages run their install scripts, which some need to get their binary
 * @returns the module's URL
 * @throws Error where npm cannot install them
 */
export function installedPeer(packages: readonly string[], code: string, scripts = false): string {
  const name = (packages[0] ?? "").replace(/^@/, "").replaceAll(/[@/]/g, "-");
  const folder = join(tmpdir(), `windrow-bench-${name}`);
  const entry = join(folder, "entry.mjs");
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    const quiet = ["--no-audit", "--no-fund", "--no-save", "--prefer-offline"];
    const values = ["install", ...packages, ...quiet, ...(scripts ? [] : ["--ignore-scripts"])];
    execFileSync("npm", values, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    writeFileSync(entry, code);
  }
  return pathToFileURL(entry).href;
}
