/**
 * Completes package-lock.json after `npm install`: a registry that does not carry a tool's binaries for every platform
 * makes npm leave the absent ones out of the lock, and `npm ci` then refuses it on every platform. An entry names the
 * version that the tool asks for and the platform it is for, so npm fetches it only there.
 *
 *   node scripts/complete-lock.mjs
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./package-files.mjs";

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];
const libraries = { gnu: "glibc", musl: "musl" };

const file = join(root, "package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8"));
const added = [];

for (const { dev, optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`;
    const platform = platformOf(name);
    if (path in lock.packages || !platform || !/^\d/.test(version)) continue;
    const { cpu, libc, os } = platform;
    lock.packages[path] = { version, cpu, ...(dev && { dev }), ...(libc && { libc }), optional: true, os };
    added.push(name);
  }
}

if (added.length > 0) {
  const sorted = Object.keys(lock.packages).sort((a, b) => a.localeCompare(b, "en"));
  lock.packages = Object.fromEntries(sorted.map((path) => [path, lock.packages[path]]));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(added.length > 0 ? `Added ${added.length}: ${added.join(", ")}` : "The lock is complete.");

function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = words.find((word) => systems.includes(word));
  const cpu = words.find((word) => processors.includes(word));
  const library = words.find((word) => word in libraries);
  if (!os || !cpu) return undefined;
  return { cpu: [cpu], libc: os === "linux" && library ? [libraries[library]] : undefined, os: [os] };
}
