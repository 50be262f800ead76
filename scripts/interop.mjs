/**
 * Runs the suites of the real hosts (interop/<host>/run.sh), two at a time, and prints a table of what fired in each.
 * A suite's own output is shown when it fails.
 *
 *   npm run test:interop [host…]
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Table from "cli-table3";
import { root } from "./package-files.mjs";

const wanted = process.argv.slice(2);
const hosts = readdirSync(join(root, "interop")).filter(
  (name) => existsSync(join(root, "interop", name, "run.sh")) && (wanted.length === 0 || wanted.includes(name)),
);
const unknown = wanted.filter((name) => !hosts.includes(name));
if (unknown.length > 0) {
  console.error(`No suite named ${unknown.join(", ")}: interop/<host>/run.sh is what runs.`);
  process.exit(2);
}

const build = await output("npm", ["run", "build", "--silent"]);
if (build.status !== 0) {
  console.error(build.text);
  process.exit(1);
}

const table = new Table({
  head: ["host", "version", "Node", "calls", "epochs", "fired"],
  style: { head: [], border: [] },
});
const failures = [];
const left = [...hosts];
await Promise.all([worker(), worker()]);
console.log(table.toString());
if (failures.length > 0) console.error(`Failed: ${failures.join(", ")}.`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function worker() {
  for (let host = left.shift(); host !== undefined; host = left.shift()) {
    const started = Date.now();
    const { status, text } = await output(join(root, "interop", host, "run.sh"), []);
    const lines = text.split("\n");
    console.log(`${status === 0 ? "green " : "FAILED"} ${host}, ${Math.round((Date.now() - started) / 1000)} s`);
    for (const line of lines.filter((one) => one.startsWith("SKIPPED"))) console.log(`  ${line}`);
    if (status !== 0) {
      failures.push(host);
      console.log(text);
    }
    // Node's reporters indent what a test prints.
    for (const line of lines) {
      const row = line.match(/::interop (\{.*\})/)?.[1];
      if (row) addRow(JSON.parse(row));
    }
  }
}

function addRow({ host, version, node, calls = "", epochs = "", fired }) {
  const counts = Object.entries(fired).map(([hook, count]) => `${hook} ${count}`);
  table.push([host, version, node, calls, epochs, counts.join(", ")]);
}

function output(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (chunk) => (text += chunk));
    child.stderr.on("data", (chunk) => (text += chunk));
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, text }));
  });
}
