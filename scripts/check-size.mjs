/** No file of code is longer than 400 lines. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { conclude, filesUnder, root } from "./package-files.mjs";

const most = 400;

const sizes = filesUnder(["src", "test", "bench", "scripts", "examples"], /\.(ts|mjs|cjs|js)$/)
  .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").trimEnd().split("\n").length }))
  .sort((a, b) => b.lines - a.lines);

const longest = sizes[0] ? `, the longest ${sizes[0].file} with ${sizes[0].lines} lines` : "";
conclude(
  sizes.filter(({ lines }) => lines > most).map(({ file, lines }) => `${file} has ${lines} lines; at most ${most}.`),
  `${sizes.length} files${longest}`,
);
