import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { discoverSessions } from "../kit/inside/transcript.ts";
import { temporaryFolder } from "./files.ts";

async function touch(path: string, second: number): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "{}\n");
  await utimes(path, second, second);
  return path;
}

describe("discoverSessions", () => {
  it("finds the main sessions of each agent, newest first", async () => {
    const home = await temporaryFolder();
    const claude = await touch(join(home, ".claude/projects/-work/cc.jsonl"), 300);
    const codex = await touch(join(home, ".codex/sessions/2026/03/01/rollout-2026-x.jsonl"), 500);
    const pi = await touch(join(home, ".pi/agent/sessions/--work--/1_pi.jsonl"), 400);
    await touch(join(home, ".claude/projects/-work/cc/subagents/agent-1.jsonl"), 900);
    await touch(join(home, ".claude/projects/-work/agent-2.jsonl"), 900);
    await touch(join(home, ".claude/projects/-work/notes.md"), 900);
    await touch(join(home, ".codex/sessions/2026/history.jsonl"), 900);
    const found = await discoverSessions({ home, env: {} });
    expect(found.map((session) => session.path)).toEqual([codex, pi, claude]);
    expect(found[0]).toEqual({ path: codex, agent: "codex", modifiedAt: "1970-01-01T00:08:20.000Z", bytes: 3 });
  });

  it("follows the variables that move the folders", async () => {
    const home = await temporaryFolder();
    const claude = await touch(join(home, "a/projects/p/cc.jsonl"), 1);
    const codex = await touch(join(home, "b/archived_sessions/rollout-1.jsonl"), 2);
    const pi = await touch(join(home, "c/sessions/p/1.jsonl"), 3);
    const env = {
      CLAUDE_CONFIG_DIR: join(home, "a"),
      CODEX_HOME: join(home, "b"),
      PI_CODING_AGENT_DIR: join(home, "c"),
    };
    const found = await discoverSessions({ home: join(home, "nowhere"), env });
    expect(found.map((session) => session.path)).toEqual([pi, codex, claude]);
  });

  it("finds nothing where nothing is", async () => {
    const home = await temporaryFolder();
    expect(await discoverSessions({ home, env: { CODEX_HOME: "" } })).toEqual([]);
  });
});
