/** The example by its command: it runs through; killed in the middle of a tool, it goes on where it was. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SessionManager } from "windrow";
import { plannedCalls } from "../../examples/pi-tools.mjs";
import { next } from "./host.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs the example; `killAt` ends it without warning when it prints a line that begins so. */
async function example(values, killAt) {
  const child = spawn(process.execPath, ["scripts/example-pi.mjs", ...values], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => child.once("exit", (code, signal) => done(signal ?? code)));
  const lines = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (killAt !== undefined && line.startsWith(killAt)) child.kill("SIGKILL");
  }
  return { lines, ended: await ended };
}

test("the example, killed in the middle of a call, goes on and loses nothing", { skip: next }, async () => {
  const store = await mkdtemp(join(tmpdir(), "windrow-example-"));
  const killed = await example(["--store", store, "--budget", "4000", "--pause", "60"], "call 14:");
  assert.equal(killed.ended, "SIGKILL");
  assert(
    killed.lines.some((line) => line.startsWith("epoch 1 ")),
    killed.lines.join("\n"),
  );
  const id = killed.lines[0].match(/session (\S+)/)[1];

  const manager = await SessionManager.open({ store });
  const { state } = await manager.info(id);
  assert.equal(state.status, "processing");
  await manager.close();

  const resumed = await example(["--store", store, "--budget", "4000", "--resume", id]);
  assert.equal(resumed.ended, 0);
  // The question, thirteen calls with their results, and the fourteenth call, whose tool was running.
  assert(resumed.lines.includes("resumed with 28 messages"), resumed.lines.join("\n"));
  assert(
    resumed.lines.some((line) => line.startsWith("in doubt: call-14 ")),
    resumed.lines.join("\n"),
  );
  assert(resumed.lines.some((line) => line.startsWith(`call ${plannedCalls.length}:`)));
  assert(resumed.lines.some((line) => line.startsWith(`see what happened:    npx windrow view ${id}`)));
  assert(resumed.lines.some((line) => /^Context stats: \d+ messages, ~\d+ tokens$/.test(line)));
  // The rest of the calls with their results, a second prompt, and the answer.
  const total = 28 + 2 * (plannedCalls.length - 14) + 2;
  assert(
    resumed.lines.some((line) => line.startsWith(`${total} messages, `)),
    resumed.lines.join("\n"),
  );
  await rm(store, { recursive: true });
});
