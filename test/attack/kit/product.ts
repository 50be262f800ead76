/** The product that is attacked: compiled once for a run, and copied with a bug in it for each seeded one. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";

/** A text of one source file and its replacement. */
export interface SourceChange {
  /** Path below `src/`. */
  readonly file: string;
  /** Occurs exactly once in the file; a seed that no longer fits its source is an error, not a bug that was caught. */
  readonly from: string;
  readonly to: string;
}

// Below the repository, so that its node_modules are found.
const builds = resolve(".attack");
const productPath = join(builds, "product/dist");

/** For vitest: compiles the product before all attacks, and removes every build after them. */
export default async function setup(): Promise<() => Promise<void>> {
  await buildProduct();
  return () => rm(builds, { recursive: true, force: true });
}

async function buildProduct(): Promise<void> {
  await rm(builds, { recursive: true, force: true });
  await mkdir(dirname(productPath), { recursive: true });
  await writeFile(join(builds, "package.json"), await readFile("package.json"));
  const options = ["--outDir", productPath, "--declaration", "false", "--sourceMap", "false"];
  await promisify(execFile)(resolve("node_modules/@typescript/native/bin/tsc"), [
    "-p",
    "tsconfig.build.json",
    ...options,
  ]);
  await writeFile(join(builds, "product/package.json"), await readFile("package.json"));
  await cp("templates", join(builds, "product/templates"), { recursive: true });
}

/** Folder of the compiled product. */
export function productFolder(): string {
  return productPath;
}

/** A copy of the product with changed sources. */
export async function seededProduct(
  changes: readonly SourceChange[],
): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const home = await mkdtemp(join(builds, "seeded-"));
  const folder = join(home, "dist");
  await cp(join(builds, "product"), home, { recursive: true });
  for (const file of new Set(changes.map((change) => change.file))) {
    let source = await readFile(join("src", file), "utf8");
    for (const { from, to } of changes.filter((change) => change.file === file)) {
      const found = source.split(from).length - 1;
      if (found !== 1) throw new Error(`The seed's text occurs ${found} times in src/${file}:\n${from}`);
      source = source.replace(from, () => to);
    }
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    await writeFile(join(folder, file.replace(/\.ts$/, ".js")), outputText);
  }
  return { folder, remove: () => rm(home, { recursive: true, force: true }) };
}
