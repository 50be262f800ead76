/**
 * No file of src and web has more than 250 lines of code, and no other more than 400. Comments, blank lines and imports are free.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { conclude, filesUnder, root } from "./package-files.mjs";

const sizes = filesUnder(["src", "web", "test", "bench", "scripts", "examples"], /\.(tsx?|mjs|cjs|js)$/)
  .map((file) => ({
    file,
    lines: codeLines(readFileSync(join(root, file), "utf8")),
    most: /^(?:src|web)\//.test(file) ? 250 : 400,
  }))
  .sort((a, b) => b.lines - a.lines);

const longest = sizes[0] ? `, the longest ${sizes[0].file} with ${sizes[0].lines} lines of code` : "";
conclude(
  sizes
    .filter(({ lines, most }) => lines > most)
    .map(({ file, lines, most }) => `${file} has ${lines} lines of code; at most ${most}.`),
  `${sizes.length} files${longest}`,
);

/** Lines that are neither blank nor a comment's nor an import's. */
function codeLines(text) {
  const withoutImports = text.replaceAll(/^(?:import\s[^;]*?|export\s[^;(=]*?\sfrom\s[^;]*?);$/gm, "");
  const code = withoutImports.replaceAll(/^\s*\/\*[\s\S]*?\*\/[ \t]*$/gm, "");
  return code.split("\n").filter((line) => line.trim() !== "" && !/^\s*\/\//.test(line)).length;
}
