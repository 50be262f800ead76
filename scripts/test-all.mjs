/**
 * Runs everything: all checks with a build, each group of tests in its long form, and the real hosts. It goes on after a
 * failure, and ends with the time of each part and the sums of all.
 *
 *   npm run test:all [part…]
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./package-files.mjs";

const runs = process.env["TEST_RUNS"] ?? "100";
const folder = mkdtempSync(join(tmpdir(), "windrow-all-"));
const projects = ["fast", "full", "crash", "attack", "viewer"];
const parts = {
  check: ["node", ["scripts/check.mjs"]],
  ...Object.fromEntries(
    projects.map((name) => [name, ["npx", ["vitest", "run", "--project", name, ...reporters(name)]]]),
  ),
  interop: ["node", ["scripts/interop.mjs"]],
};
const minutes = 30;

const given = process.argv.slice(2);
const unknown = given.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`No part is called ${unknown.join(", ")}. Known: ${Object.keys(parts).join(", ")}.`);
  process.exit(2);
}

const sums = { passed: 0, failed: 0, skipped: 0 };
const times = [];
for (const name of given.length > 0 ? given : Object.keys(parts)) {
  console.log(`\n== ${name}`);
  const started = performance.now();
  const isGood = await run(...parts[name]);
  const seconds = Math.round((performance.now() - started) / 1000);
  times.push(`${name} ${seconds} s${isGood ? "" : ", FAILED"}`);
  const { passed, failed, skipped } = countsOf(name, isGood);
  sums.passed += passed;
  sums.failed += failed;
  sums.skipped += skipped;
}
rmSync(folder, { recursive: true });
console.log(`\n${times.join("; ")}\n`);
console.log(`${sums.passed} passed, ${sums.failed} failed, ${sums.skipped} skipped`);
process.exitCode = sums.failed === 0 ? 0 : 1;

function reporters(name) {
  return ["--reporter", "default", "--reporter", "json", "--outputFile.json", join(folder, `${name}.json`)];
}

/** The tests of a part by their outcome: one for a part without a report. */
function countsOf(name, isGood) {
  const report = join(folder, `${name}.json`);
  if (!existsSync(report)) return { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, "utf8"));
  // A run may fail without a failed test, as by an error that no test awaits.
  const failed = Math.max(numFailedTests, isGood ? 0 : 1);
  return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
}

function run(program, values) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, TEST_RUNS: runs };
    const child = spawn(program, values, {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      timeout: minutes * 60_000,
    });
    child.once("error", reject);
    child.once("close", (status) => resolve(status === 0));
  });
}
