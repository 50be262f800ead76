/**
 * Measures the power of the tests: puts each one-line fault of test/power/*.json into a scratch copy, one at a time, and
 * says what catches it: `npm test`, else the rest of `npm run test:all`, else none.
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

const minutesPerCommand = 25;
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
for (const fault of chosen) {
  const started = performance.now();
  const { by, why } = await tried(fault);
  const seconds = Math.round((performance.now() - started) / 1000);
  results.push({ name: fault.name, room: fault.room, by, why, seconds });
  const line = `${by.padEnd(8)} ${String(seconds).padStart(5)} s  ${fault.room}: ${fault.name}`;
  (values.json ? console.error : console.log)(`${line}\n${" ".repeat(18)}${why ?? fault.notices}`);
}
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

/** What `npm test` runs, the room's own tests first, and then what `npm run test:all` runs beside it. */
function stepsOf(room) {
  const fast = ["--project", "fast", "--tags-filter", "!slow"];
  const own = existsSync(join(copy, "test", room)) ? [{ by: "fast", group: fast, only: [`test/${room}/`] }] : [];
  const slow = { by: "full", group: ["--project", "fast", "--tags-filter", "slow"], only: [] };
  const full = ["full", "attack", "crash"].map((name) => ({ by: "full", group: ["--project", name], only: [] }));
  return [...own, { by: "fast", group: fast, only: [] }, slow, ...full];
}

/** What catches a fault, and the first test that does; "unclear" if that test fails without the fault too. */
async function tried({ file, before, after, room }) {
  const path = join(copy, file);
  const good = readFileSync(path, "utf8");
  const bad = good.replace(before, () => after);
  for (const { by, group, only } of stepsOf(room)) {
    const withText = async (text, files) => {
      writeFileSync(path, text);
      // Tests of the full groups read what is built.
      const { status, text: said } = by === "fast" ? {} : await run(process.execPath, ["scripts/build.mjs"]);
      return status ? { isGood: false, why: `It cannot be built: ${said}` } : vitest([...group, ...files]);
    };
    const { isGood, test, why } = await withText(bad, only);
    writeFileSync(path, good);
    if (isGood) continue;
    const isOfFault = test !== undefined && (await withText(good, [test])).isGood;
    return { by: isOfFault ? by : "unclear", why };
  }
  return { by: "missed" };
}

/** Runs tests until one fails: whether all are good, and else the first file that is not, and why. */
async function vitest(words) {
  rmSync(report, { force: true });
  const more = ["--bail", "1", "--passWithNoTests", "--reporter", "json", "--outputFile", report];
  const { status, text } = await run("npx", ["vitest", "run", ...words, ...more]);
  if (status === 0) return { isGood: true };
  const results = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")).testResults : [];
  const failed = results.find((one) => one.status === "failed");
  if (!failed) return { isGood: false, why: text };
  const test = failed.name.slice(copy.length + 1);
  const title = failed.assertionResults.find((one) => one.status === "failed")?.fullName ?? failed.message;
  return { isGood: false, test, why: `${test}: ${title}` };
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
