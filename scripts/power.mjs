/**
 * Measures the power of the tests: puts each one-line fault of test/power/*.json into a scratch copy, one at a time, and
 * says what catches it: the tests that import the faulty file, else all tests, else none. A fault whose text does not
 * occur exactly once is refused before anything runs. Exit status 1 when a fault is not caught.
 *
 *   npm run test:power -- [--only NAME|ROOM]… [--list] [--json]
 */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { root } from "./package-files.mjs";

const minutesPerCommand = 10;
const verdicts = ["related", "all", "missed", "unclear"];

const flag = { type: "boolean", default: false };
const { values } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [] }, list: flag, json: flag },
});

const faults = readdirSync(join(root, "test/power"))
  .filter((name) => name.endsWith(".json"))
  .sort()
  .flatMap((name) => JSON.parse(readFileSync(join(root, "test/power", name), "utf8")))
  .map((fault) => ({ ...fault, room: /^src\/([^/]+)\//.exec(fault.file)?.[1] ?? "ground" }));

const refusals = faults.flatMap(refusalsOf);
if (refusals.length > 0) end(1, refusals.join("\n"));
const isCalled = ({ name, room }, one) => name === one || room === one;
const unknown = values.only.filter((one) => !faults.some((fault) => isCalled(fault, one)));
if (unknown.length > 0) end(2, `No fault and no room is called ${unknown.join(", ")}: --list names them all.`);
const isChosen = (fault) => values.only.length === 0 || values.only.some((one) => isCalled(fault, one));
const chosen = faults.filter(isChosen);
if (values.list) {
  const lines = chosen.map(({ room, name, file, notices }) => `${room}  ${name}  ${file}\n    ${notices}`);
  console.log(values.json ? JSON.stringify(chosen, null, 2) : `${lines.join("\n")}\nFaults: ${chosen.length}`);
  process.exit();
}

const scratch = mkdtempSync(join(tmpdir(), "windrow-power-"));
// Some tests run as a user without rights, who has to reach the copy.
chmodSync(scratch, 0o755);
const copy = join(scratch, "windrow");
const report = join(scratch, "report.json");
/** Files of tests that were run in the copy without a fault, and whether they passed. */
const witnesses = new Map();
let running;
process.once("exit", () => {
  stop(running);
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const results = [];
await makeCopy();
for (const fault of chosen) {
  const started = performance.now();
  const { by, why } = await tried(fault);
  const seconds = Math.round((performance.now() - started) / 1000);
  results.push({ name: fault.name, room: fault.room, by, why, seconds });
  const line = `${by.padEnd(8)} ${String(seconds).padStart(5)} s  ${fault.room}: ${fault.name}`;
  (values.json ? console.error : console.log)(`${line}\n${" ".repeat(18)}${why ?? fault.notices}`);
}
const useless = [...witnesses].filter(([, passed]) => !passed).map(([file]) => file);
if (useless.length > 0) console.error(`Left out, as they fail without a fault too: ${useless.join(", ")}`);
console.log(values.json ? JSON.stringify(results, null, 2) : tableByRoom());
process.exitCode = results.every(({ by }) => by === "related" || by === "all") ? 0 : 1;

function end(status, text) {
  console.error(text);
  process.exit(status);
}

function refusalsOf({ name, file, before, after, notices }) {
  if ([name, file, before, after, notices].some((value) => typeof value !== "string"))
    return [`${name ?? file}: name, file, before, after and notices are texts.`];
  if (faults.filter((other) => other.name === name).length > 1) return [`${name}: two faults have the name.`];
  if (before === after) return [`${name}: before and after are the same.`];
  if (!existsSync(join(root, file))) return [`${name}: ${file} is not there.`];
  const times = readFileSync(join(root, file), "utf8").split(before).length - 1;
  return times === 1 ? [] : [`${name}: its text occurs ${times} times in ${file}, not once.`];
}

/** The files that Git knows or would know, so that a test that is not yet committed counts too; and dist, for the tests of it. */
async function makeCopy() {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", list, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "dir");
  const why = await unbuilt();
  if (why !== undefined) throw new Error(why);
  cpSync(join(copy, "dist"), join(scratch, "dist"), { recursive: true });
}

/** The verdict on a fault, with the first test that catches it, or why it is not clear whether one does. */
async function tried({ file, before, after }) {
  const path = join(copy, file);
  const good = readFileSync(path, "utf8");
  const bad = good.replace(before, () => after);
  const commands = { related: ["related", file], all: ["run"] };
  for (const [by, command] of Object.entries(commands)) {
    for (let isDone = false; !isDone;) {
      writeFileSync(path, bad);
      const why = by === "all" ? await unbuilt() : undefined;
      const outcome = why === undefined ? await vitest([...command, "--bail", "1"]) : { why };
      writeFileSync(path, good);
      if (by === "all") {
        rmSync(join(copy, "dist"), { recursive: true, force: true });
        cpSync(join(scratch, "dist"), join(copy, "dist"), { recursive: true });
      }
      if (!outcome.isGood && !outcome.files) return { by: "unclear", why: outcome.why };
      isDone = outcome.isGood === true;
      if (!isDone && (await areWitnesses(outcome.files))) return { by, why: outcome.why };
    }
  }
  return { by: "missed" };
}

/** Whether tests that failed say something: they pass without the fault. The other files are left out from now on. */
async function areWitnesses(files) {
  const unknown = files.filter((file) => !witnesses.has(file));
  if (unknown.length > 0) {
    const { isGood, files: bad = isGood ? [] : unknown } = await vitest(["run", ...unknown]);
    for (const file of unknown) witnesses.set(file, !bad.includes(file));
  }
  return files.length === 0 || files.some((file) => witnesses.get(file));
}

/** Why the copy cannot be built. */
async function unbuilt() {
  const { status, text } = await run(process.execPath, ["scripts/build.mjs"]);
  return status === 0 ? undefined : `It cannot be built: ${text}`;
}

/** Runs tests: `isGood`, or the files that failed, and why: their first test, or an error that no test awaited. */
async function vitest(words) {
  rmSync(report, { force: true });
  const left = [...witnesses].flatMap(([file, passed]) => (passed ? [] : ["--exclude", file]));
  const more = ["--run", "--passWithNoTests", "--reporter", "json", "--outputFile", report, ...left];
  const { status, text } = await run("npx", ["vitest", ...words, ...more]);
  if (status === 0) return { isGood: true };
  if (status === "late" || !existsSync(report)) return { why: `vitest ${words.join(" ")}: ${text}` };
  const failed = JSON.parse(readFileSync(report, "utf8")).testResults.filter((one) => one.status === "failed");
  const files = failed.map(({ name }) => relative(realpathSync(copy), name));
  const test = failed[0]?.assertionResults.find((one) => one.status === "failed")?.fullName ?? failed[0]?.message;
  return { files, why: files.length > 0 ? `${files[0]}: ${test}` : text };
}

/** Runs a command in the copy, at most so long as one may take; gives its status, and the end of what it said. */
function run(program, line) {
  return new Promise((resolve, reject) => {
    let text = "";
    let isLate = false;
    running = spawn(program, line, { cwd: copy, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [running.stdout, running.stderr]) stream.on("data", (chunk) => (text += chunk));
    const timer = setTimeout(() => {
      isLate = true;
      stop(running);
    }, minutesPerCommand * 60_000);
    running.once("error", reject);
    running.once("close", (status) => {
      clearTimeout(timer);
      running = undefined;
      const late = { status: "late", text: `not done after ${minutesPerCommand} minutes` };
      resolve(isLate ? late : { status, text: text.trim().slice(-500) });
    });
  });
}

/** Ends a command with all processes that it started. */
function stop(child) {
  try {
    if (child) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

function tableByRoom() {
  const table = new Table({ head: ["room", "faults", ...verdicts], style: { head: [], border: [] } });
  const addRow = (name, own) =>
    table.push([name, own.length, ...verdicts.map((verdict) => own.filter(({ by }) => by === verdict).length)]);
  const of = (name) => results.filter(({ room }) => room === name);
  for (const name of new Set(results.map(({ room }) => room))) addRow(name, of(name));
  addRow("all", results);
  return table.toString();
}
