/**
 * Which modules a fresh process loads for one import, ESM and CommonJS alike, as V8's own coverage lists them. Run by
 * itself it prints them as JSON: node scripts/loaded-packages.mjs file:///…/dist/index.js
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Imports a module in a process of its own.
 *
 * @param url - the module's file: URL
 * @returns the names of the packages loaded from node_modules, sorted, and the number of files loaded in all
 */
export function loadedPackages(url) {
  const folder = mkdtempSync(join(tmpdir(), "windrow-loaded-"));
  try {
    const code = `await import(${JSON.stringify(url)})`;
    const env = { ...process.env, NODE_V8_COVERAGE: folder };
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`Importing ${url} failed.\n${stderr}`);
    const scripts = readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")).result);
    const files = scripts.map((script) => script.url).filter((script) => script.startsWith("file:"));
    return {
      packages: [...new Set(files.map(packageOf).filter((name) => name !== undefined))].sort(),
      files: files.length,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(loadedPackages(process.argv[2])));

function packageOf(url) {
  return decodeURIComponent(url).match(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
}
