/** The tarball has at most 800 files; it installs at most 22 packages and 22 MB, and none of them with an install script. */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conclude, root } from "./package-files.mjs";

const mostFiles = 800;
const mostPackages = 22;
const mostBytes = 22_000_000;

const folder = mkdtempSync(join(tmpdir(), "windrow-install-"));
try {
  const [packed] = JSON.parse(npm(root, "pack", "--json", "--ignore-scripts", "--pack-destination", folder));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const quiet = ["--no-audit", "--no-fund", "--no-save", "--prefer-offline"];
  npm(folder, "install", join(folder, packed.filename), "--omit=dev", "--ignore-scripts", ...quiet);

  const modules = join(folder, "node_modules");
  const installed = Object.entries(JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")).packages);
  const bytes = bytesUnder(modules);
  const megabytes = (bytes / 1e6).toFixed(1);

  const faults = installed
    .filter(([, entry]) => entry.hasInstallScript)
    .map(([path]) => `${path} has an install script, which npm 12 does not run.`);
  if (packed.entryCount > mostFiles) faults.push(`The tarball has ${packed.entryCount} files; at most ${mostFiles}.`);
  if (installed.length > mostPackages) faults.push(`Installs ${installed.length} packages; at most ${mostPackages}.`);
  if (bytes > mostBytes) {
    const largest = installed
      .map(([path]) => ({ path, bytes: bytesUnder(join(folder, path)) }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, 5);
    faults.push(`Installs ${megabytes} MB; at most ${mostBytes / 1e6}. The largest:`);
    faults.push(...largest.map((entry) => `  ${(entry.bytes / 1e6).toFixed(1)} MB ${entry.path}`));
  }
  const tarball = `${packed.entryCount} files, ${(packed.size / 1e6).toFixed(2)} MB packed`;
  conclude(faults, `${tarball}; ${installed.length} packages and ${megabytes} MB installed, no install script`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function npm(cwd, ...values) {
  return execFileSync("npm", values, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

function bytesUnder(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + lstatSync(join(entry.parentPath, entry.name)).size, 0);
}
