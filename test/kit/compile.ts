/**
 * For vitest: compiles the sources once before all tests, and again before a rerun in watch mode. Child processes of the
 * tests run the compiled modules, because Node cannot run TypeScript in every version.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of the compiled modules. */
    readonly dist: string;
    /** A folder of this run, where packed.ts unpacks the package. */
    readonly packed: string;
  }
}

/** Makes a folder that is laid out as the installed package is: package.json, dist, and the packages that it needs. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-build-"));
  await symlink(resolve("node_modules"), join(folder, "node_modules"), "dir");
  await symlink(resolve("templates"), join(folder, "templates"), "dir");
  await writeFile(join(folder, "package.json"), JSON.stringify(await unbundled()));
  const dist = join(folder, "dist");
  await compile(dist);
  project.provide("dist", dist);
  const packed = await mkdtemp(join(tmpdir(), "windrow-packed-"));
  project.provide("packed", packed);
  project.onTestsRerun(async () => {
    await rm(packed, { recursive: true, force: true });
    await mkdir(packed);
    await compile(dist);
  });
  return async () => {
    for (const made of [folder, packed]) await rm(made, { recursive: true, force: true });
  };
}

/** Type errors are left to `npm run check types`. */
async function compile(dist: string): Promise<void> {
  const compiler = resolve("node_modules/@typescript/native/bin/tsc");
  const options = ["-p", "tsconfig.build.json", "--outDir", dist, "--noCheck", "--declaration", "false"];
  await promisify(execFile)(process.execPath, [compiler, ...options, "--sourceMap", "false"]);
}

/** package.json with its subpaths at the files that tsc emits, one for each source. */
async function unbundled(): Promise<object> {
  const manifest = JSON.parse(await readFile("package.json", "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const files = Object.entries(manifest.exports).map(([subpath, target]) => {
    return [subpath, typeof target === "string" ? target : target.types.replace(/\.d\.ts$/, ".js")];
  });
  return { ...manifest, exports: Object.fromEntries(files) as object };
}
