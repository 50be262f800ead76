/**
 * Builds dist/web: the page's script as one minified chunk, its style sheet, and index.html. One chunk, because a page in a
 * single file names its script by a hash and can load no other.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { filesUnder, root } from "./package-files.mjs";

const folder = join(root, "dist/web");

/** Builds the page; answers the size of its script in bytes after gzip. */
export async function buildWeb() {
  mkdirSync(folder, { recursive: true });
  const bundle = await rolldown({
    cwd: root,
    input: { viewer: "web/main.tsx" },
    platform: "browser",
    tsconfig: "web/tsconfig.json",
    onLog: (level, log, print) => log.code !== "MODULE_LEVEL_DIRECTIVE" && print(level, log),
    resolve: {
      alias: { "react/jsx-runtime": "preact/jsx-runtime", "react-dom": "preact/compat", "react": "preact/compat" },
    },
  });
  await bundle.write({
    dir: folder,
    format: "es",
    entryFileNames: "[name].js",
    minify: true,
    comments: false,
    codeSplitting: false,
  });
  await bundle.close();
  const style = filesUnder(["web/style"], /\.css$/).map((file) => readFileSync(join(root, file), "utf8"));
  writeFileSync(join(folder, "viewer.css"), plainStyle(style.join("\n")));
  cpSync(join(root, "web/index.html"), join(folder, "index.html"));
  return gzipSync(readFileSync(join(folder, "viewer.js")), { level: 9 }).length;
}

/** A style sheet without its comments and indents. */
function plainStyle(text) {
  return `${text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim()}\n`;
}

if (process.argv[1]?.endsWith("build-web.mjs")) console.log(`dist/web/viewer.js: ${await buildWeb()} bytes after gzip`);
