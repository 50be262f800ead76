/** The advice at the end of `windrow usage`, and of `windrow` alone: which budget would have cost less. */
import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run } from "../kit/inside/cli.ts";
import { claudeLong, codexLong } from "./long-sessions.ts";
import { json, newFolder, put, windrow } from "./stage.ts";

// The folder of the tests may have a store under the usual name: the demo leaves one.
const before = process.cwd();
beforeEach(async () => process.chdir(await newFolder()));
afterEach(() => process.chdir(before));

interface Advised {
  readonly agent: string;
  readonly project: string;
  readonly dollars: number;
  readonly managedDollars: number | null;
  readonly oneRecall: number | null;
  readonly line: string | null;
  readonly reason: string | null;
  readonly path: string;
}

describe("the advice under the overview", () => {
  const claudeFile = ".claude/projects/p/a.jsonl";
  const codexFile = ".codex/sessions/2026/01/02/rollout-1.jsonl";
  const noteOf = (home: string): string => join(home, ".cache/windrow/advice.json");

  /** A home with a long session of Claude Code, and one of Codex that cost less. */
  async function spendingHome(cwd = "/repo"): Promise<string> {
    const home = await newFolder();
    await put(home, claudeFile, claudeLong({ cwd }));
    await put(home, codexFile, codexLong({ cwd: "/other", calls: 45 }));
    return home;
  }

  const advised = async (home: string, ...argv: readonly string[]): Promise<readonly Advised[]> =>
    (await json<{ readonly advice: readonly Advised[] }>(["usage", ...argv], { HOME: home })).advice;

  interface Total {
    readonly calls: number;
    readonly dollars: number | null;
  }

  const total = async (home: string): Promise<Total> =>
    (await json<{ readonly total: Total }>(["usage"], { HOME: home })).total;

  it("is for each agent and project that spends, and ends with the line that turns it on", async () => {
    const home = await spendingHome();
    const [claude, codex] = await advised(home);
    expect(claude).toMatchObject({ agent: "claude-code", project: "/repo", reason: null });
    expect(codex).toMatchObject({ agent: "codex", project: "/other", reason: null });
    for (const { managedDollars, dollars, oneRecall, line } of await advised(home)) {
      expect(managedDollars).toBeLessThan(0.95 * dollars);
      expect(oneRecall).toBeGreaterThanOrEqual(97);
      expect(line).toMatch(/^npx windrow gateway run --budget (?:\d+k|auto) --recall tool -- (?:claude|codex)$/);
    }
    for (const columns of [60, 80, 120]) {
      const { status, stdout, stderr } = await windrow([], { HOME: home }, true, columns);
      expect([status, stderr]).toEqual([0, ""]);
      const lines = stripVTControlCharacters(stdout).split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      // In a narrow terminal a shell takes the two lines for one.
      expect(lines.join("\n").replaceAll(" \\\n    ", " ").split("\n")).toContain(`  ${claude?.line}`);
      expect(lines.join(" ")).toContain(`Claude Code in /repo: $${claude?.dollars.toFixed(2)}; with a managed`);
    }
  });

  it("says what windrow replay measures", { tags: ["slow"] }, async () => {
    const home = await spendingHome();
    const argv = ["replay", join(home, claudeFile), "-s", "adaptive,none", "-b", "32k,auto"];
    const { sessions } = await json<{
      readonly sessions: readonly {
        readonly recorded: { readonly cost: { readonly dollars: number } };
        readonly results: readonly { readonly strategy: string; readonly cost: { readonly dollars: number } }[];
      }[];
    }>(argv);
    const [session] = sessions;
    const managed = session?.results.flatMap(({ strategy, cost }) => (strategy === "none" ? [] : [cost.dollars])) ?? [];
    const share = Math.min(...managed) / (session?.recorded.cost.dollars ?? 0);
    const [{ dollars, managedDollars } = { dollars: 0, managedDollars: 0 }] = await advised(home);
    expect(managedDollars).toBeCloseTo(dollars * share, 9);
  });

  it("is noted, so that a file that did not change is not replayed again, and one that did is", async () => {
    const home = await spendingHome();
    const path = join(home, claudeFile);
    await utimes(path, 1_000, 1_000);
    const first = await advised(home);
    expect((await stat(noteOf(home))).mode & 0o777).toBe(0o600);
    const note = await readFile(noteOf(home), "utf8");
    const text = await readFile(path, "utf8");
    await writeFile(path, " ".repeat(text.length));
    await utimes(path, 1_000, 1_000);
    expect(await advised(home)).toEqual(first);
    expect(await readFile(noteOf(home), "utf8")).toBe(note);
    await writeFile(path, claudeLong({ calls: 70 }));
    expect((await advised(home))[0]?.dollars).toBeGreaterThan(first[0]?.dollars ?? 0);
    expect(await readFile(noteOf(home), "utf8")).not.toBe(note);
  });

  it("passes over a note that is damaged, and writes another", { tags: ["slow"] }, async () => {
    const home = await spendingHome();
    const first = await advised(home);
    const note = await readFile(noteOf(home), "utf8");
    for (const damaged of [
      "{}",
      note.replaceAll(/"dollars":\d/g, '"dollars":9'),
      note.replace(/^\S+ \S+/, "0.0.1 x"),
    ]) {
      expect(damaged).not.toBe(note);
      await writeFile(noteOf(home), damaged);
      expect(await advised(home)).toEqual(first);
      expect(await readFile(noteOf(home), "utf8")).toBe(note);
    }
  });

  it("leaves no note with --no-cache, and is not given with --by", async () => {
    const home = await spendingHome();
    const before = await readdir(home, { recursive: true });
    expect(await advised(home, "--no-cache")).toHaveLength(2);
    expect(await readdir(home, { recursive: true })).toEqual(before);
    expect(await advised(home, "--by", "model")).toEqual([]);
    const { stdout } = await windrow(["usage", "--by", "project"], { HOME: home });
    expect(stdout).not.toContain("gateway run");
  });

  it("keeps to the agent and the time that are asked for", async () => {
    const home = await spendingHome();
    expect(await advised(home, "--agent", "codex")).toMatchObject([{ agent: "codex" }]);
    expect(await advised(home, "--since", "2026-01-03")).toEqual([]);
  });

  it("is not given on few calls, a little money, a model without a price, or a sub-agent's file alone", async () => {
    const home = await newFolder();
    await put(home, ".claude/projects/few/a.jsonl", claudeLong({ id: "a", cwd: "/few", calls: 39 }));
    await put(
      home,
      ".claude/projects/cheap/b.jsonl",
      claudeLong({ id: "b", cwd: "/cheap", model: "claude-haiku-4-5" }),
    );
    await put(home, ".claude/projects/own/c.jsonl", claudeLong({ id: "c", cwd: "/own", model: "my-own" }));
    await put(home, ".claude/projects/sub/d/subagents/agent-1.jsonl", claudeLong({ id: "d", cwd: "/sub" }));
    expect((await total(home)).calls).toBe(39 + 3 * 60);
    expect(await advised(home)).toEqual([]);
  });

  it("counts copies of calls once, in the project that made them", async () => {
    const home = await spendingHome();
    const [first] = await advised(home);
    const copy = (await readFile(join(home, claudeFile), "utf8")).replaceAll('"/repo"', '"/copy"');
    await utimes(join(home, claudeFile), 1_000, 1_000);
    await put(home, ".claude/projects/q/copy.jsonl", copy);
    expect((await advised(home)).map(({ project }) => project)).toEqual(["/repo", "/other"]);
    expect((await advised(home))[0]?.dollars).toBe(first?.dollars);
  });

  it("goes on at the next run where the time ends, past a session that takes all of it", async () => {
    const home = await spendingHome();
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
    const none = await advised(home);
    vi.restoreAllMocks();
    expect(none.map(({ reason }) => reason)).toEqual(["not-replayed", "not-replayed"]);
    const { stdout } = await windrow([], { HOME: home });
    expect(stdout.replaceAll("\n", " ")).toContain("and windrow advise --project FOLDER all of it.");
    expect((await advised(home)).map(({ reason }) => reason)).toEqual(["not-replayed", null]);
  });

  it("is left out at Ctrl-C, when the tables are shown already, and noted nowhere", async () => {
    const home = await spendingHome();
    const stop = new AbortController();
    let [stdout, stderr] = ["", ""];
    const said = (text: string): void => {
      stdout += text;
      stop.abort();
    };
    const io = { stdout: { write: said }, stderr: { write: (text: string) => (stderr += text) }, env: { HOME: home } };
    expect(await run(["usage"], io, stop.signal)).toBe(1);
    expect(stdout).toContain("by project");
    expect([stdout.includes("gateway run"), stderr]).toEqual([false, expect.stringContaining("windrow: aborted: ")]);
    expect(await readdir(join(home, ".cache/windrow"))).toEqual(["usage.jsonl"]);
  });

  it("shows a project as harmless text, whatever it is called", async () => {
    const home = await spendingHome("/r\u001b[2J\u202ed\n\u0007");
    const { stdout } = await windrow([], { HOME: home }, false);
    expect(stdout).toContain("Claude Code in /r");
    for (const sign of ["\u001b", "\u202e", "\u0007", "d\n"]) expect(stdout).not.toContain(sign);
  });

  it("is not made of places of Gemini CLI and opencode", async () => {
    const home = await newFolder();
    const rows = Array.from({ length: 50 }, (_, place) => ({
      ...{ type: "gemini", id: `g${place}`, timestamp: "2026-01-02T00:00:00Z", model: "gemini-2.5-pro", content: "" },
      tokens: { input: 200_000, output: 10, cached: 0 },
    }));
    const chat = rows.map((row) => JSON.stringify(row)).join("\n");
    await put(home, ".gemini/tmp/p/chats/session-1.jsonl", chat);
    const folder = ".local/share/opencode/storage/message/ses_1.jsonl";
    for (let place = 0; place < 45; place += 1) {
      const tokens = { input: 200_000, output: 10, reasoning: 0, cache: { read: 0, write: 0 } };
      const message = { id: `msg_${place}`, sessionID: "ses_1.jsonl", role: "assistant", providerID: "anthropic" };
      const rest = {
        modelID: "claude-opus-4-6",
        path: { cwd: "/oc", root: "/oc" },
        time: { created: 1_767_312_000_000 },
      };
      await put(home, `${folder}/msg_${place}.json`, JSON.stringify({ ...message, ...rest, tokens }));
    }
    const { calls, dollars } = await total(home);
    expect([calls, (dollars ?? 0) > 10]).toEqual([95, true]);
    expect(await advised(home)).toEqual([]);
  });
});
