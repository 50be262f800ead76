/** A session goes on in another process as if nothing had happened. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildSource } from "../support/build.ts";

interface Told {
  readonly messages: number;
  readonly hash: string;
  readonly epoch: number;
}

let built: Awaited<ReturnType<typeof buildSource>>;
let store: string;

beforeAll(async () => {
  built = await buildSource();
  store = await mkdtemp(join(tmpdir(), "windrow-resume-"));
}, 120_000);

afterAll(async () => {
  await built.remove();
  await rm(store, { recursive: true });
});

/** Runs the agent until it waits, then kills it without warning. */
async function runAndKill(mode: "start" | "resume", id: string, upTo: number): Promise<readonly Told[]> {
  const script = resolve("test/session/child/agent.mjs");
  const child: ChildProcess = spawn(process.execPath, [script, built.folder, store, mode, id, String(upTo)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told: Told[] = [];
  if (!child.stdout) throw new Error("the child has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "waiting") break;
    told.push(JSON.parse(line) as Told);
  }
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await ended;
  return told;
}

it("composes, after a kill, the window the dead process had composed", { timeout: 60_000 }, async () => {
  const id = randomUUID();
  let before: Told | undefined;
  for (const upTo of [20, 56, 90, 121]) {
    const told = await runAndKill(before ? "resume" : "start", id, upTo);
    expect(told[0], "the resumed window differs").toEqual(before ?? told[0]);
    before = told.at(-1);
    expect(before?.messages).toBe(upTo);
  }
  console.log(`resumed three times after SIGKILL: window ${before?.hash}, epoch ${before?.epoch}`);
  expect(before?.epoch).toBeGreaterThan(2);
  const straight = await runAndKill("start", randomUUID(), 121);
  expect(straight.at(-1), "a session without kills composes another window").toEqual(before);
});
