/**
 * The package as it was packed from dist/ and unpacked once for all tests of a run, for tests that are a stranger's: what
 * they import comes from the tarball alone.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { inject } from "vitest";

/** The unpacked package. */
export interface Packed {
  /** The folder of the package, in a `node_modules` with what it needs. */
  readonly folder: string;
  /** The files of the tarball. */
  readonly files: ReadonlySet<string>;
}

/** The package, packed and unpacked by the first test that asks; all others wait for it. */
export async function packed(): Promise<Packed> {
  const place = inject("packed");
  const note = join(place, "files.json");
  const failed = join(place, "failed.txt");
  if (isFirst(join(place, "begun"))) {
    await unpack(place).then(
      (files) => writeFileSync(note, JSON.stringify(files)),
      (error: unknown) => writeFileSync(failed, String(error)),
    );
  }
  while (!existsSync(note) && !existsSync(failed)) await setTimeout(20);
  if (existsSync(failed)) throw new Error(readFileSync(failed, "utf8"));
  return {
    folder: join(place, "node_modules/windrow"),
    files: new Set(JSON.parse(readFileSync(note, "utf8")) as readonly string[]),
  };
}

/** Makes a stranger's folder of an empty one: the package is installed there, and nothing else. */
export async function installPacked(folder: string): Promise<void> {
  await mkdir(join(folder, "node_modules"), { recursive: true });
  await symlink((await packed()).folder, join(folder, "node_modules/windrow"), "dir");
}

function isFirst(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}

async function unpack(place: string): Promise<readonly string[]> {
  if (!existsSync("dist/index.js")) throw new Error("dist/ is missing: run npm run build");
  const built = statSync("dist/index.js").mtimeMs;
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  if (sources.some((name) => statSync(join("src", name)).mtimeMs > built)) {
    console.warn("dist/ is older than src/: the tarball is that of the last npm run build");
  }
  const run = promisify(execFile);
  const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", place], {
    maxBuffer: 64 << 20,
    shell: process.platform === "win32",
  });
  const [tarball] = JSON.parse(stdout) as readonly [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  await run("tar", ["-xzf", tarball.filename], { cwd: place });
  const modules = join(place, "node_modules");
  await mkdir(modules);
  await rename(join(place, "package"), join(modules, "windrow"));
  for (const name of await readdir("node_modules")) await symlink(resolve("node_modules", name), join(modules, name));
  await writeFile(join(place, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return tarball.files.map(({ path }) => path);
}
