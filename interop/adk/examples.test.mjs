/** The examples as they were compiled. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

function run(name) {
  const script = fileURLToPath(new URL(`build/examples/${name}.js`, import.meta.url));
  assert(existsSync(script), "run.sh compiles the examples");
  return execFileSync(process.execPath, [script, "ram:"], { encoding: "utf8" });
}

test("examples/adk.ts: a line every five windows, and the snapshot of forty actions", () => {
  const printed = run("adk");
  assert.equal(printed.match(/^Context stats: \d+ messages, ~\d+ tokens$/gm).length, 8);
  assert.match(printed, /hasSnapshot: true } 40$/m);
});

test("examples/gemini.ts: what is sent stays small while the history grows", () => {
  const [, calls, history, most] = /^(\d+) calls, (\d+) characters of history, at most (\d+) sent$/m.exec(
    run("gemini"),
  );
  assert.equal(Number(calls), 41);
  assert(Number(history) > 3 * Number(most), `${history} ${most}`);
});
