/**
 * A second session that needs what the first one found: an agent that knows only what its request holds. It diagnoses
 * where the cause is not there, which costs a call of its tool, and asks nothing where it is.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const prompt = "The nightly import fails. What mends it?";
const mend = "restart chronyd on heron";
export const diagnosis = `The clock of the proxy is nine minutes slow: ${mend}, then the nightly import works.`;
export const tool = { name: "diagnose", description: "Finds the cause of a failure. Takes an hour." };

/**
 * The agent's next step, from its request alone.
 *
 * @returns `{ says }`, or `{ diagnoses: true }`
 */
export function step(request) {
  return JSON.stringify(request).includes(mend) ? { says: `You ${mend}.` } : { diagnoses: true };
}

/** A process has done its session: how often it had to diagnose, and what it said. */
export function report(diagnosed, said) {
  console.log(JSON.stringify({ diagnosed, said }));
}

/**
 * Runs three processes over one store on disk: the one that finds out, one that needs it, and one of another user, who
 * has nothing of it.
 *
 * @param script - runs one session for `STORE USER`, and reports
 */
export function checkSecondSession(script) {
  const folder = mkdtempSync(join(tmpdir(), "windrow-second-"));
  try {
    const run = (user) => JSON.parse(execFileSync(process.execPath, [script, join(folder, "contexts"), user]));
    const said = `You ${mend}.`;
    assert.deepEqual(run("maya"), { diagnosed: 1, said });
    assert.deepEqual(run("maya"), { diagnosed: 0, said });
    assert.deepEqual(run("noah"), { diagnosed: 1, said });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
