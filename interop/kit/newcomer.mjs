/**
 * A new user's folder, for the pages under docs/hosts: the package as it was packed, the host beside it, and the lines
 * of a page as scripts.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The blocks of JavaScript on a page, in order. */
export function pasted(page) {
  const text = readFileSync(join(root, `docs/hosts/${page}.md`), "utf8");
  return [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
}

/** Packs the package as it is built, and has npm install it into an empty folder; the tarball stays there. */
export function installPackage(folder) {
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [{ filename }] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  npm("install", `./${filename}`, "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
}

/**
 * An empty folder with the package and packages of a host. The package is the one of WINDROW_PACKED, a folder where
 * `npm run test:interop` installed it for all suites; without, it is packed and installed here.
 *
 * @param packages - the host's packages by name, each the URL of the folder it was installed to for these tests
 */
export function newcomer(packages) {
  const folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  const link = (name, place) => {
    const at = join(folder, "node_modules", name);
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(place, at);
  };
  const packed = process.env["WINDROW_PACKED"];
  if (packed === undefined) installPackage(folder);
  else {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    link("windrow", join(packed, "node_modules/windrow"));
  }
  for (const [name, url] of Object.entries(packages)) link(name, fileURLToPath(url));
  return {
    folder,
    /** Runs a script of the folder; gives what it printed. */
    run(name, code, ...values) {
      writeFileSync(join(folder, name), code);
      const stdio = ["ignore", "pipe", "pipe"];
      return execFileSync(process.execPath, [name, ...values], { cwd: folder, encoding: "utf8", stdio }).trim();
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
