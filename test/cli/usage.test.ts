/** `windrow usage`, and `windrow` alone: what sessions in a home used, as tables and as JSON. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { UsageOverview, UsageSum } from "../kit/inside/ops.ts";
import { json, newFolder, put, windrow } from "./stage.ts";

// The folder of the tests may have a store under the usual name: the demo leaves one.
const before = process.cwd();
beforeEach(async () => process.chdir(await newFolder()));
afterEach(() => process.chdir(before));

/** A call as a test writes it, with its tokens by how they are counted. */
interface Call extends Partial<Record<"plain" | "read" | "written" | "long" | "output", number>> {
  readonly id: string;
  readonly day?: string;
  readonly model?: string;
  /** Whether the file names the answer alone, and not its request. */
  readonly isBare?: boolean;
}

/** A session of Claude Code in a folder. */
function claudeSession(cwd: string, calls: readonly Call[]): string {
  const lines = calls.map(({ id, day = "2026-01-02", model = "claude-sonnet-4-5", isBare = false, ...tokens }) => {
    const { plain = 0, read = 0, written = 0, long = 0, output = 0 } = tokens;
    const usage = {
      ...{ input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written },
      ...{ cache_creation: { ephemeral_1h_input_tokens: long }, output_tokens: output },
    };
    const message = { id, role: "assistant", model, content: [], usage };
    const line = { type: "assistant", timestamp: `${day}T10:00:00.000Z`, cwd, message };
    return JSON.stringify(isBare ? line : { ...line, requestId: `r${id}` });
  });
  return lines.join("\n");
}

/** A home with such a session. */
async function homeWith(calls: readonly Call[], cwd = "/repo"): Promise<string> {
  const home = await newFolder();
  await put(home, ".claude/projects/p/a.jsonl", claudeSession(cwd, calls));
  return home;
}

/** Puts a session of Codex with one call into a home. */
async function putCodex(home: string, timestamp: string, used: object): Promise<void> {
  const lines = [
    ["session_meta", { id: "s", cwd: "/repo" }],
    ["turn_context", { model: "gpt-5" }],
    ["event_msg", { type: "token_count", info: { total_token_usage: used, last_token_usage: used } }],
  ].map(([type, payload]) => JSON.stringify({ type, timestamp, payload }));
  const day = timestamp.slice(0, 10).replaceAll("-", "/");
  await put(home, `.codex/sessions/${day}/rollout-1.jsonl`, lines.join("\n"));
}

/** A home with two sessions of Claude Code and one of Codex. */
async function newHome(): Promise<string> {
  const home = await newFolder();
  const first: Call = { id: "a", plain: 1_000_000, output: 100_000 };
  const haiku = { day: "2026-01-03", model: "claude-haiku-4-5-20251001" };
  const second: Call = { id: "b", ...haiku, read: 900_000, plain: 100_000 };
  await put(home, ".claude/projects/-repo/one.jsonl", claudeSession("/repo", [first, second]));
  await put(home, ".claude/projects/-home/two.jsonl", claudeSession(`${home}/mine`, [{ id: "c", plain: 500_000 }]));
  await putCodex(home, "2026-01-04T00:00:00Z", { input_tokens: 2_000_000, cached_input_tokens: 1_000_000 });
  return home;
}

interface Report extends Pick<UsageOverview, "total" | "copies"> {
  readonly days?: readonly UsageSum[];
  readonly projects?: readonly UsageSum[];
  readonly models?: readonly UsageSum[];
}

async function report(home: string, ...argv: readonly string[]): Promise<Report> {
  return json<Report>(["usage", ...argv], { HOME: home });
}

const cacheOf = (home: string): string => join(home, ".cache/windrow/usage.jsonl");

describe("windrow usage", () => {
  it("counts a call once that an agent's own file and Windrow's store both have", async () => {
    const time = new Date().toISOString();
    const day = time.slice(0, 10);
    const calls = [
      { id: "a", day, plain: 1_000, output: 10 },
      { id: "b", day, plain: 2_000, output: 20, isBare: true },
    ];
    const home = await homeWith(calls);
    await putCodex(home, time, { input_tokens: 3_000, output_tokens: 30 });
    const store = join(home, "store");
    const manager = await SessionManager.open({ store });
    const session = await manager.create();
    const model = "claude-sonnet-4-5";
    // By the provider's ids, one of which the agent's file lacks; by what was used, and when; and two that nobody else has.
    await session.endStep({ model, usage: { input: 1_000, output: 10 }, answerId: "a", requestId: "ra" });
    await session.endStep({ model, usage: { input: 2_000, output: 20 }, answerId: "b", requestId: "rb" });
    await session.endStep({ model: "gpt-5", usage: { input: 3_000, output: 30 } });
    await session.endStep({ model: "gpt-5", usage: { input: 3_000, output: 30 } });
    await session.endStep({ model, usage: { input: 4_000, output: 40 }, answerId: "e", requestId: "re" });
    await manager.close();
    const { total, projects, copies } = await report(home, "--store", store);
    expect([total.calls, total.input, copies]).toEqual([5, 13_000, 3]);
    expect(projects?.map(({ name, calls: number }) => [name, number])).toEqual([
      [store, 2],
      ["/repo", 3],
    ]);
    expect((await report(home, "--store", store, "--agent", "windrow")).total.calls).toBe(5);
  });

  it("adds up by day, project and model, at list prices, output included", async () => {
    const home = await newHome();
    const { total, days, projects, models } = await report(home);
    expect(days?.map(({ name, calls, input }) => [name, calls, input])).toEqual([
      ["2026-01-04", 1, 2_000_000],
      ["2026-01-03", 1, 1_000_000],
      ["2026-01-02", 2, 1_500_000],
    ]);
    // Sonnet: 1M at $3 and 0.1M of output at $15; Haiku: 0.9M at $0.10 and 0.1M at $1; GPT-5: 1M at $1.25, 1M at $0.125.
    expect(models?.map(({ name, dollars }) => [name, dollars])).toEqual([
      ["claude-sonnet-4-5", 6],
      ["gpt-5", 1.375],
      ["claude-haiku-4-5", expect.closeTo(0.19)],
    ]);
    expect(projects?.map(({ name, calls }) => [name, calls])).toEqual([
      ["/repo", 3],
      [`${home}/mine`, 1],
    ]);
    expect(total).toMatchObject({ calls: 4, input: 4_500_000, peak: 2_000_000, unpriced: 0 });
  });

  it("prices what the cache keeps for an hour at twice the input", async () => {
    const home = await homeWith([{ id: "a", written: 1_000_000, long: 400_000 }]);
    expect((await report(home)).total.dollars).toBeCloseTo(0.6 * 3.75 + 0.4 * 6);
  });

  it("names models without a price, and leaves them out of the money alone", async () => {
    const home = await newHome();
    const calls = [{ id: "x", plain: 70, model: "my-own-model" }];
    await put(home, ".claude/projects/p/a.jsonl", claudeSession("/else", calls));
    const { total, models } = await report(home);
    expect(total).toMatchObject({ calls: 5, unpriced: 1, dollars: expect.closeTo(7.565) });
    expect(models?.at(-1)).toMatchObject({ name: "my-own-model", input: 70, dollars: null });
    const { stdout } = await windrow(["usage"], { HOME: home });
    expect(stdout).toMatch(/Without a price, and not in the money: 1 calls? of my-own-model/);
  });

  it("counts a call once that a resumed session copied, under the older file's project", async () => {
    const home = await newFolder();
    const older = await put(home, ".claude/projects/a/a.jsonl", claudeSession("/first", [{ id: "a", plain: 10 }]));
    const text = `${await readFile(older, "utf8")}\n${claudeSession("/second", [{ id: "b", plain: 20 }])}`;
    await utimes(older, 1_000, 1_000);
    await put(home, ".claude/projects/a/b.jsonl", text);
    expect(await report(home)).toMatchObject({ copies: 1, total: { calls: 2, input: 30 } });
  });

  it("takes one part, one agent, a day or an age", async () => {
    const home = await newHome();
    const { stdout } = await windrow(["usage", "--by", "model"], { HOME: home });
    expect(stdout).toContain("by model");
    expect(stdout).not.toContain("by day");
    expect(Object.keys(await report(home, "--by", "project"))).not.toContain("days");
    expect((await report(home, "--agent", "codex")).total.calls).toBe(1);
    expect((await report(home, "--since", "2026-01-03")).total.calls).toBe(2);
    expect((await report(home, "--since", "1h")).total.calls).toBe(0);
  });
});

describe("the cache of windrow usage", () => {
  it("answers as the files do, and sees what changed", async () => {
    const home = await newHome();
    const cold = await report(home);
    expect(existsSync(cacheOf(home))).toBe(true);
    expect((await stat(cacheOf(home))).mode & 0o777).toBe(0o600);
    expect(await report(home)).toEqual(cold);
    expect(await report(home, "--no-cache")).toEqual(cold);
    const more = claudeSession("/repo", [{ id: "new", plain: 5 }]);
    await appendFile(join(home, ".claude/projects/-repo/one.jsonl"), `\n${more}\n`);
    expect((await report(home)).total.input).toBe(cold.total.input + 5);
  });

  it("is used: a file of the same size and time is not read again", async () => {
    const home = await newHome();
    const path = join(home, ".claude/projects/-repo/one.jsonl");
    await utimes(path, 1_000, 1_000);
    const cold = await report(home);
    await writeFile(path, " ".repeat((await stat(path)).size));
    await utimes(path, 1_000, 1_000);
    expect(await report(home)).toEqual(cold);
    expect((await report(home, "--no-cache")).total.calls).toBe(cold.total.calls - 2);
  });

  it.each(["", "no cache", "{}\n{}\n"])("is built again where it is damaged: %j", async (text) => {
    const home = await newHome();
    const cold = await report(home);
    await writeFile(cacheOf(home), text);
    const { stdout, stderr } = await windrow(["usage", "--json"], { HOME: home });
    expect([JSON.parse(stdout), stderr]).toEqual([cold, ""]);
    expect((await readFile(cacheOf(home), "utf8")).length).toBeGreaterThan(200);
  });

  it("is built again where a figure in it was changed", async () => {
    const home = await newHome();
    const cold = await report(home);
    const text = await readFile(cacheOf(home), "utf8");
    await writeFile(cacheOf(home), text.replace("1000000", "7000000"));
    expect(await report(home)).toEqual(cold);
    // Another version of the package may have read the same files otherwise.
    const body = text.slice(text.indexOf("\n") + 1).replace("1000000", "7000000");
    const hash = createHash("sha256").update(body).digest("hex");
    await writeFile(cacheOf(home), `windrow usage 1 ${hash}\n${body}`);
    expect(await report(home)).toEqual(cold);
  });

  it("forgets files that are gone, keeps those of agents that were not asked for", async () => {
    const home = await newHome();
    await report(home);
    const full = (await stat(cacheOf(home))).size;
    await report(home, "--agent", "codex");
    expect((await stat(cacheOf(home))).size).toBe(full);
    await rm(join(home, ".claude/projects/-repo"), { recursive: true });
    await report(home);
    expect(await readFile(cacheOf(home), "utf8")).not.toContain("-repo");
  });

  it("is not needed: nothing is written with --no-cache or where its folder is a file, and nothing beside it", async () => {
    const home = await newHome();
    const before = await readdir(home, { recursive: true });
    await report(home, "--no-cache");
    expect(await readdir(home, { recursive: true })).toEqual(before);
    const cache = await put(home, "cache", "a file");
    const { status, stderr } = await windrow(["usage"], { HOME: home, XDG_CACHE_HOME: cache });
    expect([status, stderr]).toEqual([0, ""]);
    await windrow(["usage"], { HOME: home, XDG_CACHE_HOME: join(home, "elsewhere") });
    expect(await readdir(join(home, "elsewhere"), { recursive: true })).toEqual(["windrow", "windrow/usage.jsonl"]);
  });
});

describe("windrow alone", () => {
  it("shows the overview where there are sessions", async () => {
    const { status, stdout, stderr } = await windrow([], { HOME: await newHome() });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Claude Code, Codex: 3 files, 4 calls, 2026-01-02 to 2026-01-04\n/);
    for (const part of ["by day", "by project", "by model", "~/mine"]) expect(stdout).toContain(part);
    expect(stdout).toMatch(/^ all .* 4 .* 4\.5M .* 7\.56|7\.57/m);
  });

  it("says where it looked, at 80 columns", async () => {
    const { stderr } = await windrow([], { HOME: "/home/ann", CODEX_HOME: "/data/codex" }, true, 80);
    const said = stderr.slice(stderr.indexOf("Where there are sessions"));
    expect(said).toContain("  Claude Code  ~/.claude/projects\n");
    expect(said).toContain("  Codex        /data/codex/sessions\n");
    for (const place of ["~/.pi/agent/sessions", "~/.gemini/tmp", "~/.local/share/opencode", "./contexts"])
      expect(said).toContain(place);
    for (const line of said.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect((await windrow(["--help"], { HOME: "/home/ann" })).stdout).not.toContain("It looked here");
  });

  it("says so where sessions report no usage", async () => {
    const home = await newFolder();
    await put(home, ".claude/projects/p/a.jsonl", '{"type":"user","message":{"role":"user","content":"hi"}}');
    const said = expect.stringContaining("No session here reports usage.");
    expect(await windrow([], { HOME: home })).toMatchObject({ status: 0, stdout: said });
  });
});

describe("the tables of windrow usage", () => {
  it("fit every terminal of sixty columns and more, whatever projects and models are called", async () => {
    const home = await newHome();
    const names = [
      "x".repeat(200),
      "/very/long/path".repeat(9),
      "/home/深い/フォルダ".repeat(8),
      "/\u001b[31mred\u202e\n",
    ];
    for (const [place, name] of names.entries()) {
      const calls = [{ id: `n${place}`, plain: 10, model: name }];
      await put(home, `.claude/projects/p/${place}.jsonl`, claudeSession(name, calls));
    }
    for (const columns of [60, 72, 80, 120, 200]) {
      const { stdout } = await windrow(["usage"], { HOME: home }, true, columns);
      const lines = stdout.replaceAll(/\u001b\[\d+m/g, "").split("\n");
      const wide = /[\u1100-\u115f\u2e80-\ua4cf\uff00-\uff60]/;
      const width = (line: string): number => [...line].reduce((sum, point) => sum + (wide.test(point) ? 2 : 1), 0);
      expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(columns);
      expect(stdout).not.toContain("\u202e");
      for (const column of ["$", "cached"]) expect(stdout).toContain(column);
    }
  });

  it("show folders of the same name by what tells them apart", async () => {
    const home = await newFolder();
    for (const tree of ["kind-canyon", "quiet-minnow"]) {
      const cwd = `/home/somebody/Code/worktrees/a-project-with-a-long-name/${tree}/a-project-with-a-long-name`;
      await put(home, `.claude/projects/${tree}/a.jsonl`, claudeSession(cwd, [{ id: tree, plain: 10 }]));
    }
    const { stdout } = await windrow(["usage", "--by", "project"], { HOME: home }, true, 80);
    expect(stdout).toContain("kind-canyon");
    expect(stdout).toContain("quiet-minnow");
  });
});

describe("Windrow's own sessions", () => {
  it("are counted by the calls they record, in the store that is named", async () => {
    const [home, folder] = [await newHome(), await newFolder()];
    // The second call names no model: its manager's is its own.
    const manager = await SessionManager.open({ store: folder, budget: 8_000, model: "claude-haiku-4-5" });
    const session = await manager.create();
    await session.endStep({ usage: { input: 1_000_000, output: 0, cacheRead: 0 }, model: "claude-sonnet-4-5" });
    await session.endStep({ usage: { input: 1_000_000, output: 100_000 } });
    await manager.close();
    const { projects, models } = await report(home, "--store", folder, "--agent", "windrow");
    expect(projects).toMatchObject([{ name: folder, calls: 2, input: 2_000_000, dollars: 4.5 }]);
    expect(models?.map(({ dollars }) => dollars)).toEqual([3, 1.5]);
    expect((await report(home, "--store", folder)).total.calls).toBe(6);
  });

  it("are shown without one that cannot be read, which is named", async () => {
    const [home, folder] = [await newHome(), join(await newFolder(), "store")];
    const manager = await SessionManager.open({ store: folder, budget: 8_000 });
    const session = await manager.create();
    await session.finish("completed");
    await manager.close();
    await writeFile(join(folder, "completed", session.id, "metadata.json"), "{");
    const { status, stdout, stderr } = await windrow(["usage", "--store", folder], { HOME: home });
    expect([status, stdout.includes("by day")]).toEqual([1, true]);
    expect(stderr).toContain(`session ${session.id} was not read`);
  });
});
