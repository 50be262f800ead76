import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** Compiles the sources into a temporary folder, for child processes: Node cannot run TypeScript in every version. */
export async function buildSource(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-build-"));
  await symlink(resolve("node_modules"), join(folder, "node_modules"), "dir");
  const compiler = resolve("node_modules/.bin/tsc");
  const options = [
    "-p",
    "tsconfig.build.json",
    "--outDir",
    join(folder, "dist"),
    "--declaration",
    "false",
    "--sourceMap",
    "false",
  ];
  // Type errors are another check's business; what was emitted is what is tested.
  await promisify(execFile)(compiler, options).catch(() => undefined);
  await symlink(resolve("package.json"), join(folder, "package.json"));
  return { folder: join(folder, "dist"), remove: () => rm(folder, { recursive: true, force: true }) };
}
