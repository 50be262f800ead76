/**
 * Makes templates/<host>.mjs of templates/<host>.ts, for projects without TypeScript: types are cut out, all else stands.
 *
 *   node scripts/templates.mjs [--check]
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { conclude, filesUnder, root } from "./package-files.mjs";
import { withoutTypes } from "./strip-types.mjs";

const folder = mkdtempSync(join(tmpdir(), "windrow-templates-"));
const made = filesUnder(["templates"], /\.ts$/).map((file) => file.replace(/\.ts$/, ".mjs"));
try {
  copyFileSync(join(root, ".oxfmtrc.json"), join(folder, ".oxfmtrc.json"));
  for (const file of made) {
    const text = readFileSync(join(root, file.replace(/\.mjs$/, ".ts")), "utf8");
    writeFileSync(join(folder, basename(file)), withoutTypes(text));
  }
  const { status, stderr } = spawnSync(join(root, "node_modules/.bin/oxfmt"), [folder], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`oxfmt: ${stderr}`);
  const stale = made.filter((file) => textOf(join(root, file)) !== textOf(join(folder, basename(file))));
  if (process.argv.includes("--check")) {
    const faults = stale.map((file) => `${file} is not what its .ts says: run node scripts/templates.mjs.`);
    conclude(faults, `${made.length} templates`);
  } else {
    for (const file of stale) copyFileSync(join(folder, basename(file)), join(root, file));
    console.log(`${stale.length} of ${made.length} templates written`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

function textOf(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
