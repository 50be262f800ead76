/** Runs examples/pi-agent.mjs from a fresh clone: builds, installs pi into interop/pi, and lets the example find it there. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./package-files.mjs";

const interop = join(root, "interop/pi");

if (!existsSync(join(root, "dist/adapter/pi.js"))) run(process.execPath, ["scripts/build.mjs"], root);
if (!existsSync(join(interop, "node_modules/@mariozechner/pi-agent-core"))) {
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], interop);
}

const hook = `const from = ${JSON.stringify(pathToFileURL(join(interop, "package.json")).href)};
export const resolve = (name, context, next) =>
  next(name, name.startsWith("@mariozechner/") && !context.parentURL.includes("node_modules") ? { ...context, parentURL: from } : context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
await import(pathToFileURL(join(root, "examples/pi-agent.mjs")).href);

function run(program, values, cwd) {
  const { status } = spawnSync(program, values, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
