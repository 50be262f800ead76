/**
 * Puts what the demo prints into README.md, in place of the first block fenced as `text`.
 *
 *   node scripts/readme-demo.mjs
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./package-files.mjs";

const readme = join(root, "README.md");
const env = { ...process.env, NO_COLOR: "1" };
const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/demo.mjs")], {
  cwd: root,
  env,
  encoding: "utf8",
});
if (status !== 0) throw new Error(`the demo failed: ${stderr}`);

const output = stdout.replaceAll(`${root}/`, "").replaceAll(/ +$/gm, "").trim();
const text = readFileSync(readme, "utf8");
const block = /^```text\n[\s\S]*?^```$/m;
if (!block.test(text)) throw new Error("README.md has no block fenced as text");
writeFileSync(
  readme,
  text.replace(block, () => `\`\`\`text\n${output}\n\`\`\``),
);
console.log("README.md has the demo's output");
