/**
 * The demo: replays a recorded agent session at a small budget through three strategies, and keeps it on disk as a live
 * agent would.
 *
 *   npm run demo [-- FILE…]
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { root } from "./package-files.mjs";

const budget = "16000";
const command = join(root, "dist/cli.js");
const own = join("fixtures", "demo-session.jsonl");
const named = process.argv.slice(2);
const files = named.length > 0 ? named : [join(root, own)];
const shown = named.length > 0 ? named.map(quoted).join(" ") : own;

if (!existsSync(command)) run([join(root, "scripts/build.mjs")], { stdio: "inherit" });

const keep = join(root, "contexts");
const flags = ["--strategy", "none,sliding-window,adaptive", "--budget", budget, "--keep", keep];
console.log(`windrow replay ${shown} --strategy none,sliding-window,adaptive --budget ${budget} --keep contexts\n`);
const colour = process.stdout.isTTY && !process.env["NO_COLOR"] ? { FORCE_COLOR: "1" } : {};
const output = run([command, "replay", ...files, ...flags], {
  stdio: ["inherit", "pipe", "inherit"],
  encoding: "utf8",
  env: { ...process.env, ...colour },
});
process.stdout.write(output);

const kept = /^Kept in:\n {2}(.+)$/m.exec(output)?.[1];
if (kept !== undefined) {
  const messages = join(relative(process.cwd(), kept), "messages.jsonl");
  console.log(`
Every message is on disk now, a line each. To try next:

  jq -c '{seq, role, token_count}' ${messages} | head
  npx windrow replay ${shown} --strategy adaptive --budget 8k,16k,32k
  npx windrow view ${basename(kept).slice(0, 8)} --window --store contexts`);
}

/** Runs a program of Node and gives what it printed; ends this one with its status when it fails. */
function run(values, options) {
  const { status, stdout } = spawnSync(process.execPath, values, options);
  if (status === 0) return stdout ?? "";
  if (stdout) process.stdout.write(stdout);
  process.exit(status ?? 1);
}

function quoted(path) {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
