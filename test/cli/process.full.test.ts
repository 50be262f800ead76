import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dist } from "../kit/build.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { chatLines } from "./stage.ts";

let root: string;
let session: string;

beforeAll(async () => {
  root = await temporaryFolder();
  session = join(root, "chat.jsonl");
  await writeFile(session, chatLines(20));
});

afterAll(() => rm(root, { recursive: true, force: true }));

function windrow(
  argv: readonly string[],
  closeAfter = Infinity,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(dist, "cli/main.js"), ...argv], { cwd: root });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (data: Buffer) => {
      stdout += data.toString();
      if (stdout.length >= closeAfter) child.stdout.destroy();
    });
    child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
    child.on("close", (code) => done({ code, stdout, stderr }));
  });
}

it("runs as a process, built", async () => {
  const { code, stdout, stderr } = await windrow(["replay", session, "-b", "3000", "--json"]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ file: session, calls: 21 }], failed: [] });
}, 30_000);

it("answers with its exit status", async () => {
  expect((await windrow(["replay", join(root, "none.jsonl")])).code).toBe(1);
  expect((await windrow(["replay", session, "--budget", "x"])).code).toBe(2);
}, 30_000);

it("does not fail when its reader leaves early", async () => {
  const many = Array.from({ length: 60 }, () => session);
  const { code, stderr } = await windrow(["replay", ...many, "-s", "none", "--json"], 1);
  expect(code, stderr).toBe(0);
  expect(stderr).not.toMatch(/windrow:|Error/);
}, 60_000);

it("replays several large files in threads, in their order, as it replays each alone", async () => {
  const files = await Promise.all(
    [700, 30, 900].map(async (steps, at) => {
      const path = join(root, `large-${at}.jsonl`);
      await writeFile(path, chatLines(steps));
      return path;
    }),
  );
  const broken = join(root, "broken.json");
  await writeFile(broken, "no session");
  const named = [files[0] as string, broken, ...files.slice(1)];
  const { code, stdout, stderr } = await windrow(["replay", ...named, "-s", "sliding-window", "-b", "8000", "--json"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("windrow: not-a-transcript")]);
  const together = JSON.parse(stdout) as { readonly sessions: readonly object[]; readonly failed: readonly object[] };
  expect(together.failed).toEqual([expect.objectContaining({ file: broken, code: "not-a-transcript" })]);
  const alone = [];
  for (const file of files) {
    const one = await windrow(["replay", file, "-s", "sliding-window", "-b", "8000", "--json"]);
    alone.push(...(JSON.parse(one.stdout) as { readonly sessions: readonly object[] }).sessions);
  }
  expect(together.sessions).toEqual(alone);
}, 120_000);
