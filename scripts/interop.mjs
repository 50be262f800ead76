/**
 * Runs the suites of the real hosts (interop/<host>/run.sh), two at a time, and prints a table of what fired in each.
 * A suite's own output is shown when it fails; one that says neither what fired nor why it was skipped has failed too.
 *
 *   npm run test:interop [host…]
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { installPackage } from "../interop/kit/newcomer.mjs";
import { root } from "./package-files.mjs";

/** Begun first, so that none of them runs alone at the end. */
const longest = ["gateway", "pi", "store"];

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
const left = [...longest.filter((host) => hosts.includes(host)), ...hosts.filter((host) => !longest.includes(host))];
const packed = mkdtempSync(join(tmpdir(), "windrow-packed-"));
try {
  installPackage(packed);
  process.env["WINDROW_PACKED"] = packed;
  await Promise.all([worker(), worker()]);
} finally {
  rmSync(packed, { recursive: true });
}
console.log(table.toString());
if (failures.length > 0) console.error(`Failed: ${failures.join(", ")}.`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function worker() {
  for (let host = left.shift(); host !== undefined; host = left.shift()) {
    const timed = `TIMEFORMAT='::time {"wall":%0R,"cpu":[%0U,%0S]}'; time "$0"`;
    const { status, text } = await output("bash", ["-c", timed, join(root, "interop", host, "run.sh")]);
    const lines = text.split("\n");
    const skipped = lines.filter((line) => line.startsWith("SKIPPED"));
    // Node's reporters indent what a test prints.
    const rows = lines.flatMap((line) => line.match(/::interop (\{.*\})/)?.[1] ?? []);
    const green = status === 0 && rows.length + skipped.length > 0;
    const { wall, cpu } = JSON.parse(text.match(/^::time (.*)$/m)?.[1] ?? "{}");
    console.log(`${green ? "green " : "FAILED"} ${host}, ${wall} s, ${cpu?.join(" + ")} s of CPU`);
    for (const line of skipped) console.log(`  ${line}`);
    if (!green) {
      failures.push(host);
      console.log(text);
    }
    for (const row of rows) addRow(JSON.parse(row));
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
