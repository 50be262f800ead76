/** `windrow completion`, loaded into a real bash. */
import { execFile, spawnSync } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { dist } from "../kit/build.ts";
import { newFolder, put, windrow } from "./stage.ts";

const hasBash = spawnSync("bash", ["--version"]).status === 0;

async function command(...argv: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(dist, "cli/main.js"), ...argv]);
  return stdout;
}

it.each(["bash", "zsh", "fish", "powershell"])("prints a script for %s", { timeout: 20_000 }, async (shell) => {
  const script = await command("completion", shell);
  expect(script).toContain("windrow");
  expect(script).toMatch(/windrow complete|complete --/);
});

it.skipIf(!hasBash)("completes commands, options and values in bash", { timeout: 60_000 }, async () => {
  const folder = await newFolder();
  const bin = await put(folder, "windrow", `#!/bin/sh\nexec "${process.execPath}" "${dist}/cli/main.js" "$@"\n`);
  await chmod(bin, 0o755);
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const script =
      'eval "$(windrow completion bash)"\n' +
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}\n' +
      'function=$(complete -p windrow | sed "s/.*-F \\([^ ]*\\).*/\\1/")\n' +
      '"$function"; printf "%s\\n" "${COMPREPLY[@]}"';
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const { stdout } = await promisify(execFile)("bash", ["-c", script, "bash", "windrow", ...words], { env });
    return stdout.split("\n").map((line) => line.trim().split(/\s/)[0] ?? "");
  };
  expect(await complete("sta")).toContain("stats");
  expect(await complete("rec")).toContain("recall");
  expect(await complete("recall", "latest", "m1", "--max")).toContain("--max-tokens");
  expect(await complete("stats", "--fr")).toContain("--from");
  expect(await complete("stats", "--de")).toContain("--debug");
  expect(await complete("init", "--host", "")).toEqual(expect.arrayContaining(["ai-sdk", "mastra", "plain"]));
  expect(await complete("view", "--layout", "")).toEqual(expect.arrayContaining(["windrow", "coding-agent"]));
  expect(await complete("view", "--lang", "")).toEqual(expect.arrayContaining(["en", "ja", "zh"]));
  expect(await complete("stats", "--status", "comp")).toEqual(expect.arrayContaining(["completed", "compressing"]));
  expect(await complete("replay", "--strategy", "")).toContain("adaptive");
  const store = join(folder, "contexts");
  const manager = await SessionManager.open({ store, budget: 8_000 });
  const { id } = await manager.create({ taskKey: { job: "mend" } });
  await manager.close();
  expect(await complete("view", "--store", store, "")).toEqual(expect.arrayContaining([id, "latest"]));
  expect(await complete("search", "--store", store, "--session", id.slice(0, 6))).toContain(id);
  expect(await complete("view", "--store", join(folder, "none"), "")).toContain("latest");
});

it("says what is wrong, and how to load a script", async () => {
  const wrong = await windrow(["completion", "tcsh"]);
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining("zsh, bash, fish, powershell")]);
  expect((await windrow(["completion"])).status).toBe(2);
  const help = await windrow(["completion", "--help"]);
  expect([help.status, help.stdout]).toEqual([0, expect.stringContaining("source <(windrow completion bash)")]);
  expect((await windrow(["--help"])).stdout).toMatch(/^ {2}completion <shell> /m);
});
