/**
 * The built page: its script is one chunk of at most 60 KB after gzip, and index.html names it and the style sheet alone.
 * Its sources set no HTML and no style attribute, which the page's policy of contents would refuse.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { conclude, filesUnder, root } from "./package-files.mjs";

const mostBytes = 60 * 1024;
const expected = ["dist/web/index.html", "dist/web/viewer.css", "dist/web/viewer.js"];

const faults = [];
const found = filesUnder(["dist/web"], /./);
for (const file of expected) if (!found.includes(file)) faults.push(`${file} is not there.`);
for (const file of found) if (!expected.includes(file)) faults.push(`${file} is one file too many in dist/web.`);

const path = join(root, "dist/web/viewer.js");
const script = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
const bytes = gzipSync(script, { level: 9 }).length;
if (bytes > mostBytes) faults.push(`dist/web/viewer.js has ${bytes} bytes after gzip; at most ${mostBytes}.`);
if (/\bimport\s*\(|^\s*import\b[^(]*from\s*"/m.test(script.toString())) {
  faults.push("dist/web/viewer.js imports another file; the page in a single file could not load it.");
}

for (const file of filesUnder(["web"], /\.tsx?$/)) {
  const text = readFileSync(join(root, file), "utf8");
  const [html] = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\bstyle="/.exec(text) ?? [];
  if (html) faults.push(`${file} has ${html}: text goes into text nodes, style into a class or the style object.`);
}
conclude(faults, `${(bytes / 1024).toFixed(1)} KB after gzip, one chunk`);
