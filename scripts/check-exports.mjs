/** What package.json promises is there after a build: every subpath with its types, every command, every packed folder. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { conclude, manifest, root } from "./package-files.mjs";

const faults = [];
const subpaths = Object.entries(manifest.exports ?? {});
if (subpaths.length === 0) faults.push("package.json has no exports.");

for (const [subpath, target] of subpaths) {
  if (subpath === "./package.json") continue;
  for (const condition of ["types", "default"]) {
    const file = target[condition];
    if (!file) faults.push(`exports["${subpath}"] has no "${condition}".`);
    else if (!existsSync(join(root, file))) faults.push(`exports["${subpath}"] names ${file}, which is not there.`);
  }
  if (Object.keys(target)[0] !== "types") faults.push(`exports["${subpath}"] must name its types first.`);
}

for (const [command, file] of Object.entries(manifest.bin ?? {})) {
  const path = join(root, file);
  if (!existsSync(path)) {
    faults.push(`bin.${command} names ${file}, which is not there.`);
    continue;
  }
  if (!readFileSync(path, "utf8").startsWith("#!/usr/bin/env node\n")) {
    faults.push(`${file} must begin with "#!/usr/bin/env node".`);
  }
  if (process.platform !== "win32" && !isExecutable(path)) faults.push(`${file} is not executable.`);
}

for (const entry of manifest.files ?? []) {
  if (!existsSync(join(root, entry))) faults.push(`"files" in package.json names ${entry}, which is not there.`);
}

conclude(faults, `${subpaths.length} subpaths, ${Object.keys(manifest.bin ?? {}).length} command`);

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
