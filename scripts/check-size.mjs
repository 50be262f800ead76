/** No file of src has more than 250 lines of code, and no other more than 400. Comments, blank lines and imports are free. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { conclude, filesUnder, root } from "./package-files.mjs";

/** Files that were larger when the limit came, with the most they may have: they only shrink. */
const larger = new Map(
  Object.entries({
    "src/adapter/openai-agents/item.ts": 263,
    "src/adapter/pi/message.ts": 266,
    "src/ops/cleanup/cleanup.ts": 260,
    "src/window/composer.ts": 273,
  }),
);

const sizes = filesUnder(["src", "test", "bench", "scripts", "examples"], /\.(ts|mjs|cjs|js)$/)
  .map((file) => ({ file, lines: codeLines(readFileSync(join(root, file), "utf8")), most: limitOf(file) }))
  .sort((a, b) => b.lines - a.lines);

const longest = sizes[0] ? `, the longest ${sizes[0].file} with ${sizes[0].lines} lines of code` : "";
conclude(
  sizes
    .filter(({ lines, most }) => lines > most)
    .map(({ file, lines, most }) => `${file} has ${lines} lines of code; at most ${most}.`),
  `${sizes.length} files${longest}`,
);

function limitOf(file) {
  return larger.get(file) ?? (file.startsWith("src/") ? 250 : 400);
}

/** Lines that are neither blank nor a comment's nor an import's. */
function codeLines(text) {
  const withoutImports = text.replaceAll(/^(?:import\s[^;]*?|export\s[^;(=]*?\sfrom\s[^;]*?);$/gm, "");
  return withoutImports.split("\n").filter((line) => line.trim() !== "" && !/^\s*(?:\/\/|\/\*|\*)/.test(line)).length;
}
