/**
 * Builds dist from clean. tsc emits the declarations, a file for each source; rolldown bundles the JavaScript, a file for
 * each entry of package.json beside the chunks that entries share, so that no module is there twice. The page of the viewer
 * goes to dist/web.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { buildWeb } from "./build-web.mjs";
import { filesUnder, manifest, root } from "./package-files.mjs";

/** Loaded by path, not by an import: a child process of the conformance suite, and a thread of the command. */
const children = {
  "crash-child": "src/store/testing/crash-child.ts",
  "replay-worker": "src/cli/replay/replay-worker.ts",
};

/** Command and extension of pi; package.json names their built files alone. */
const programs = { "cli": "src/cli/main.ts", "pi-package": "src/adapter/pi/package.ts" };

const doors = Object.values(manifest.exports)
  .filter((target) => typeof target === "object")
  .map(({ types, default: file }) => [
    file.replace(/^\.\/dist\/|\.js$/g, ""),
    types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "src/$1.ts"),
  ]);
const entries = { ...Object.fromEntries(doors), ...programs, ...children };

rmSync(join(root, "dist"), { recursive: true, force: true });
const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
const flags = ["-p", "tsconfig.build.json", "--emitDeclarationOnly"];
const { status } = spawnSync(process.execPath, [compiler, ...flags], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
const declarations = keepReachableDeclarations();

// Chunks by what loads them: the command's start, a look at a store, the front door. A module is in the first that fits.
const chunks = await generate([]);
const start = modulesOf(chunks, [programs.cli]);
const look = modulesOf(chunks, ["src/access/open.ts", "src/ops/look/view.ts", "src/store/files/files.ts"]);
const front = modulesOf(chunks, ["src/index.ts"]);
// The command's own file is in none: it waits for its chunks, so none of them may wait for it.
const main = join(root, programs.cli);
const groups = [
  { name: "start", test: (id) => start.has(id) && front.has(id) },
  { name: "command", test: (id) => start.has(id) && id !== main },
  { name: "look", test: (id) => look.has(id) && front.has(id) },
  { name: "store", test: (id) => look.has(id) },
  { name: "front", test: (id) => front.has(id) },
].map((group, place) => ({ ...group, priority: 9 - place }));
await generate(groups, join(root, "dist"));
for (const file of Object.values(manifest.bin)) chmodSync(join(root, file), 0o755);
const page = await buildWeb();
console.log(`dist/web/viewer.js: ${(page / 1024).toFixed(1)} KB after gzip`);
console.log(`${filesUnder(["dist"], /\.js$/).length} JavaScript files and ${declarations} declarations in dist`);

/** Bundles the entries; with a folder the files are written. */
async function generate(groups, folder) {
  const bundle = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/"),
    onLog: (level, log, print) => log.code !== "INEFFECTIVE_DYNAMIC_IMPORT" && print(level, log),
  });
  const options = {
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    comments: { jsdoc: false },
    minifyInternalExports: false,
    ...(groups.length > 0 && { codeSplitting: { groups } }),
  };
  const { output } = await (folder ? bundle.write({ ...options, dir: folder }) : bundle.generate(options));
  await bundle.close();
  return output;
}

/** The modules that are loaded with some files before anything is called. */
function modulesOf(output, files) {
  const chunks = new Set();
  const visit = (chunk) => {
    if (!chunk || chunks.has(chunk)) return;
    chunks.add(chunk);
    for (const name of chunk.imports) visit(output.find(({ fileName }) => fileName === name));
  };
  for (const file of files) visit(output.find(({ moduleIds }) => moduleIds?.includes(join(root, file))));
  return new Set([...chunks].flatMap(({ moduleIds }) => moduleIds));
}

/** Deletes the declarations that no subpath reaches, and answers how many are left. */
function keepReachableDeclarations() {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(join(root, file), "utf8");
    for (const [, path] of text.matchAll(/(?:from|import\() ?"(\.[^"]*)\.(?:js|ts)"/g)) {
      visit(join(dirname(file), `${path}.d.ts`));
    }
  };
  for (const target of Object.values(manifest.exports)) if (typeof target === "object") visit(join(target.types));
  for (const file of filesUnder(["dist"], /\.d\.ts$/)) if (!reached.has(file)) rmSync(join(root, file));
  return reached.size;
}
