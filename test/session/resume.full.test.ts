/** A session goes on in another process as if nothing had happened. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";

interface Told {
  readonly messages: number;
  readonly hash: string;
  readonly epoch: number;
}

let store: string;

beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), "windrow-resume-"));
}, 120_000);

afterAll(async () => {
  await rm(store, { recursive: true });
});

/** Runs the agent until it waits, then kills it without warning. */
async function runAndKill(mode: "start" | "resume", id: string, upTo: number): Promise<readonly Told[]> {
  const child = startChild("test/session/child/agent.mjs", [dist, store, mode, id, String(upTo)]);
  await child.until((lines) => lines.includes("waiting"));
  await child.kill();
  return child.lines().flatMap((line) => (line === "waiting" ? [] : [JSON.parse(line) as Told]));
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
