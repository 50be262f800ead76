/**
 * Measures the power of the tests: puts each one-line fault of test/power/*.json into a scratch copy, and says what catches
 * it: `npm test`, else the rest of `npm run test:all`, else none. Eight faults at a time find the test files that may catch
 * them; then each fault alone has to fail one of those that pass without any.
 * A fault whose text does not occur exactly once is refused before anything runs. Exit status 1 when a fault is missed.
 *
 *   npm run test:power -- [--only NAME|ROOM]… [--shard N/M] [--list] [--json]
 */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { root } from "./package-files.mjs";

const minutesPerCommand = 40;
const faultsAtOnce = 8;
const verdicts = ["fast", "full", "missed", "unclear"];

const flag = { type: "boolean", default: false };
const { values } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [] }, shard: { type: "string" }, list: flag, json: flag },
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
const [shard = 1, shards = 1] = (values.shard ?? "1/1").split("/").map(Number);
if (!(shard >= 1 && shard <= shards)) end(2, "--shard is N/M, such as 1/3.");
const isChosen = (fault) => values.only.length === 0 || values.only.some((one) => isCalled(fault, one));
const chosen = faults.filter((fault, place) => isChosen(fault) && place % shards === shard - 1);
if (values.list) {
  const lines = chosen.map(({ room, name, file, notices }) => `${room}  ${name}  ${file}\n    ${notices}`);
  console.log(values.json ? JSON.stringify(chosen, null, 2) : `${lines.join("\n")}\nFaults: ${chosen.length}`);
  await new Promise((done) => process.stdout.write("", done));
  process.exit();
}

const scratch = mkdtempSync(join(tmpdir(), "windrow-power-"));
// Some tests run as a user without rights, who has to reach the copy.
chmodSync(scratch, 0o755);
const copy = join(scratch, "windrow");
const report = join(scratch, "report.json");
let running;
process.once("exit", () => {
  stop(running);
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const results = [];
makeCopy();
let left = chosen;
for (const step of steps()) {
  if (left.length === 0) break;
  const { failed: always } = await withFaults([], step);
  if (always.length > 0) console.error(`These fail without a fault, and catch none: ${always.join(", ")}`);
  for (const batch of batchesOf(left)) await tryBatch(batch, step, always);
  left = left.filter(({ name }) => !results.some((result) => result.name === name));
}
for (const fault of left) say(fault, { by: "missed", why: fault.notices });
console.log(values.json ? JSON.stringify(results, null, 2) : tableByRoom());
process.exitCode = results.every(({ by }) => by === "fast" || by === "full") ? 0 : 1;

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

/** The files that Git knows or would know, so that a test that is not yet committed counts too. */
function makeCopy() {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", list, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "dir");
}

/** What `npm test` runs, and then what `npm run test:all` runs on top of it. */
function steps() {
  const fast = ["--project", "fast", "--tags-filter"];
  return [
    { by: "fast", group: [...fast, "!slow"] },
    { by: "full", group: [...fast, "slow"] },
    ...["full", "attack", "crash"].map((name) => ({ by: "full", group: ["--project", name] })),
  ];
}

/** Faults in batches; those of one room, which stand next to each other, in different ones. */
function batchesOf(all) {
  const batches = Array.from({ length: Math.ceil(all.length / faultsAtOnce) }, () => []);
  for (const [place, fault] of all.entries()) batches[place % batches.length].push(fault);
  return batches;
}

/** Runs the tests of a step while faults stand in the copy. */
async function withFaults(faults, { by, group }, words = []) {
  const good = new Map(faults.map(({ file }) => [file, readFileSync(join(copy, file), "utf8")]));
  for (const { file, before, after } of faults) {
    const text = readFileSync(join(copy, file), "utf8");
    const bad = text.replace(before, () => after);
    writeFileSync(join(copy, file), bad);
  }
  // Tests of the full groups read what is built.
  const { status, text: said } = by === "fast" ? {} : await run(process.execPath, ["scripts/build.mjs"]);
  const result = status ? { failed: [], why: `It cannot be built: ${said}` } : await vitest([...group, ...words]);
  for (const [file, text] of good) writeFileSync(join(copy, file), text);
  return result;
}

/** Says which faults of a batch a step catches; "unclear" if a run fails and names no test. */
async function tryBatch(batch, step, always) {
  const { failed, why } = await withFaults(batch, step);
  const files = failed.filter((file) => !always.includes(file));
  if (files.length === 0 && (failed.length > 0 || why === undefined)) return;
  for (const fault of batch) {
    // A run that ended without a report named no file: all are run.
    const alone = await withFaults([fault], step, [...files, "--bail", "1"]);
    if (alone.failed.length > 0) say(fault, { by: step.by, why: alone.why });
    else if (alone.why !== undefined) say(fault, { by: "unclear", why: alone.why });
  }
}

function say({ name, room }, { by, why }) {
  const seconds = Math.round(performance.now() / 1000);
  results.push({ name, room, by, why, seconds });
  const line = `${by.padEnd(8)} ${String(seconds).padStart(6)} s  ${room}: ${name}`;
  (values.json ? console.error : console.log)(`${line}\n${" ".repeat(19)}${why}`);
}

/** Runs tests: the files that fail, and why the first of them does. */
async function vitest(words) {
  rmSync(report, { force: true });
  const more = ["--passWithNoTests", "--reporter", "json", "--outputFile", report];
  const { status, text } = await run("npx", ["vitest", "run", ...words, ...more]);
  if (status === 0) return { failed: [] };
  const results = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")).testResults : [];
  const failed = results.filter((one) => one.status === "failed");
  const [first] = failed;
  if (!first) return { failed: [], why: text };
  const title = first.assertionResults.find((one) => one.status === "failed")?.fullName ?? first.message;
  const nameOf = ({ name }) => name.slice(copy.length + 1);
  return { failed: failed.map(nameOf), why: `${nameOf(first)}: ${title}` };
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
