/** `--debug`, before and behind the name of a command. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager, WindrowError } from "windrow";
import { catalogue, reportError } from "../kit/inside/cli.ts";
import { codingSession } from "../kit/inside/message.ts";
import { chatLines, emptyStore, newFolder, put, windrow } from "./stage.ts";

const none = "00000000-0000-4000-8000-000000000000";

it("tells an error with its stack and what caused it; without it the error alone", async () => {
  const folder = await emptyStore();
  const argv = ["view", none, "--store", folder];
  const plain = await windrow(argv);
  expect(plain.stderr).toMatch(/^windrow: session-not-found: [^\n]+\n$/);
  for (const debugged of [["--debug", ...argv], argv.concat("--debug")]) {
    const { status, stderr } = await windrow(debugged);
    expect([status, stderr]).toEqual([plain.status, expect.stringContaining(plain.stderr)]);
    expect(stderr).toMatch(/\n {4}at .+found\.ts/);
  }
});

it("tells causes to the first of them, with no secret, and ends where an error is its own cause", () => {
  const secret = `ghp_${"Ab3xY9kQ7m".repeat(4).slice(0, 36)}`;
  const first = new Error(`refused with key ${secret}`);
  const second = new Error("no answer", { cause: first });
  const error = new WindrowError("model-failed", "The model said nothing.", {}, { cause: second });
  const told = (debug: boolean, wrong: unknown): string => {
    let text = "";
    const stream = { write: (written: string) => (text += written) };
    reportError({ stdout: stream, stderr: stream, env: {}, debug }, wrong);
    return text;
  };
  expect(told(false, error)).toBe("windrow: model-failed: The model said nothing.\n");
  expect(told(true, error)).toMatch(
    /^windrow: model-failed: The model said nothing\.\n {4}at [^]+\n {2}caused by Error: no answer\n {4}at [^]+\n {2}caused by Error: refused with key \[[^]+\n {4}at /,
  );
  expect(told(true, error)).not.toContain(secret);
  first.cause = error;
  expect(told(true, error).match(/caused by/g)).toHaveLength(8);
});

it("logs what a command does on stderr, and leaves stdout as it is", async () => {
  const folder = await newFolder();
  const manager = await SessionManager.open({ store: folder, budget: 20_000 });
  const session = await manager.create();
  for (const message of codingSession(10, 10)) await session.append(message);
  await manager.close();
  const stats = ["stats", "--store", folder, "--json"];
  const [quiet, loud] = [await windrow(stats), await windrow([...stats, "--debug"])];
  expect([quiet.stderr, loud.stdout]).toEqual(["", quiet.stdout]);
  expect(loud.stderr).toContain(` DEBUG store-opened store=${folder}\n`);
  const compacted = await windrow(["compact", session.id, "--store", folder, "--debug"]);
  expect(compacted.stderr).toContain(` INFO [uuid:${session.id.slice(0, 8)}] Task resumed\n`);
});

it("logs the statistics of every fifth window of a session that replay keeps", async () => {
  const folder = await newFolder();
  const file = await put(folder, "session.jsonl", chatLines(11));
  await mkdir(join(folder, "kept"));
  const argv = ["replay", file, "--keep", join(folder, "kept"), "--strategy", "none", "--budget", "100k"];
  expect((await windrow(argv)).stderr).toBe("");
  const { stderr } = await windrow([...argv, "--debug"]);
  expect(stderr.match(/^Context stats: .*/gm)).toEqual([
    expect.stringMatching(/^Context stats: 9 messages, ~\d+ tokens$/),
    expect.stringMatching(/^Context stats: 19 messages, ~\d+ tokens$/),
  ]);
  expect(stderr).toMatch(/ DEBUG \[uuid:[0-9a-f]{8}\] Message #1: \d+ tokens\n/);
});

it("stands in the help of every command; behind `--` it is a word", async () => {
  expect((await windrow(["--help"])).stdout).toContain("--debug");
  for (const { name } of catalogue) expect((await windrow([name, "--help"])).stdout, name).toContain("--debug");
  const folder = await emptyStore();
  expect((await windrow(["search", "--store", folder, "--", "--debug"])).stderr).toBe("");
});
