import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { run } from "../kit/inside/cli.ts";
import { recordedLines, chatLines, claudeCodeLines, newFolder, put, windrow } from "./stage.ts";

interface Document {
  readonly sessions: readonly {
    readonly file: string;
    readonly format: string;
    readonly messages: number;
    readonly calls: number;
    readonly results: readonly Record<string, unknown>[];
  }[];
  readonly failed: readonly { readonly file: string; readonly code: string }[];
  readonly kept?: readonly string[];
}

describe("windrow replay of sessions by folder and id", () => {
  it("takes every session in a folder and below it, and no other file of JSON", async () => {
    const folder = await newFolder();
    await put(folder, "a.jsonl", chatLines(3));
    await mkdir(join(folder, "below"));
    await put(join(folder, "below"), "b.jsonl", claudeCodeLines());
    await put(folder, "package.json", '{"name":"not a session"}');
    const { status, stdout, stderr } = await windrow(["replay", folder, "--budget", "3k", "--json"]);
    expect(status, stderr).toBe(0);
    const { sessions, failed } = JSON.parse(stdout) as Document;
    expect(sessions.map(({ file }) => file)).toEqual([join(folder, "a.jsonl"), join(folder, "below", "b.jsonl")]);
    expect(failed).toEqual([]);
  });

  it("leaves out what is installed there", async () => {
    const folder = await newFolder();
    await put(folder, "a.jsonl", chatLines(3));
    await mkdir(join(folder, "node_modules", "agent"), { recursive: true });
    await put(join(folder, "node_modules", "agent"), "b.jsonl", chatLines(3));
    const { stdout } = await windrow(["replay", folder, "--budget", "3k", "--json"]);
    const { sessions } = JSON.parse(stdout) as { readonly sessions: readonly { readonly file: string }[] };
    expect(sessions.map(({ file }) => file)).toEqual([join(folder, "a.jsonl")]);
  });

  it("says so where a folder has no session", async () => {
    const folder = await newFolder();
    const empty = await windrow(["replay", folder]);
    expect([empty.status, empty.stderr]).toEqual([1, expect.stringContaining("There is no session in")]);
    await put(folder, "package.json", '{"name":"not a session"}');
    const other = await windrow(["replay", folder]);
    expect([other.status, other.stderr]).toEqual([1, expect.stringContaining("not-a-transcript")]);
  });

  it.each(["files", "sqlite"])(
    "takes a session of a store of %s by its id, its beginning, and latest",
    async (kind) => {
      const folder = await newFolder();
      const file = await put(folder, "chat.jsonl", chatLines(5));
      const store = kind === "files" ? join(folder, "contexts") : `sqlite:${join(folder, "contexts.db")}`;
      const kept = await windrow(["import", file, "--store", store, "--finished"]);
      expect(kept.status, kept.stderr).toBe(0);
      const figures = async (name: string): Promise<unknown> => {
        const { status, stdout, stderr } = await windrow([
          "replay",
          name,
          "--store",
          store,
          "--budget",
          "3k",
          "--json",
        ]);
        expect(status, stderr).toBe(0);
        const [session] = (JSON.parse(stdout) as Document).sessions;
        return { messages: session?.messages, calls: session?.calls };
      };
      const manager = await SessionManager.open({ store, budget: 8_000 });
      let id = "";
      for await (const { metadata } of manager.list()) id = metadata.uuid;
      await manager.close();
      const expected = { messages: 12, calls: 6 };
      expect([await figures("latest"), await figures(id), await figures(id.slice(0, 6))]).toEqual([
        expected,
        expected,
        expected,
      ]);
      const unknown = await windrow(["replay", "00000000", "--store", store]);
      expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("session-not-found")]);
    },
  );
});

describe("windrow replay FILE --json", () => {
  it("takes strategies with options, beside names, and tells them apart", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(20));
    const given =
      'none, {"use":"adaptive","lowWater":0.5,"delta":true},{"use":"importance","weights":{"base":0.4,"error":1}}';
    const { status, stdout, stderr } = await windrow(["replay", file, "--strategy", given, "--budget", "3k", "--json"]);
    expect(status, stderr).toBe(0);
    const { sessions } = JSON.parse(stdout) as Document;
    expect(sessions[0]?.results.map(({ strategy }) => strategy)).toEqual([
      "none",
      "adaptive lowWater=0.5 delta=true",
      'importance weights={"base":0.4,"error":1}',
    ]);
    for (const [wrong, said] of [
      ['{"use":"adaptive","lowWatr":0.5}', /no option "lowWatr".*lowWater/],
      ['none,{"lowWater":0.5}', /--strategy \{"lowWater":0.5\} is no JSON object with `use`/],
      ['{"use":"adaptive",,"delta":1', /is no JSON object with `use`/],
    ] as const) {
      const refused = await windrow(["replay", file, "--strategy", wrong]);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toMatch(said);
    }
  });

  it("writes one document with a result for every strategy and budget", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(20));
    const { status, stdout, stderr } = await windrow(["replay", file, "--budget", "3k,100_000", "--json"]);
    expect(status, stderr).toBe(0);
    expect(stderr).not.toContain("windrow:");
    const { sessions, failed } = JSON.parse(stdout) as Document;
    expect(failed).toEqual([]);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]).toMatchObject({ file, messages: 42, calls: 21 });
    expect(sessions[0]?.results.map(({ strategy, budget }) => `${String(strategy)} ${String(budget)}`)).toEqual([
      "none 3000",
      "none 100000",
      "sliding-window 3000",
      "sliding-window 100000",
      "adaptive 3000",
      "adaptive 100000",
    ]);
    for (const result of sessions[0]?.results ?? []) {
      expect(Object.keys(result)).toEqual(
        expect.arrayContaining([
          "strategy",
          "budget",
          "profile",
          "tokens",
          "cost",
          "cachedShare",
          "epochs",
          "lookback",
          "staleShare",
          "digestLines",
          "removedLines",
          "broken",
          "overBudget",
          "faults",
        ]),
      );
      expect(result).toMatchObject({
        broken: 0,
        faults: 0,
        lookback: { strict: expect.any(Number) as number, quotes: { found: 0, total: 0 } },
      });
      expect("series" in result).toBe(false);
    }
    expect(sessions[0]?.results[4]).toMatchObject({ overBudget: 0, refused: 0 });
  });

  it("takes prices and profile from the model", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(2));
    const { stdout } = await windrow(["replay", file, "-s", "adaptive", "--model", "claude-sonnet-4-5", "--json"]);
    const [result] = (JSON.parse(stdout) as Document).sessions[0]?.results ?? [];
    expect(result).toMatchObject({ profile: "anthropic", cost: { dollars: expect.any(Number) as number } });
    expect(result?.["budget"]).toBeGreaterThan(32_000);
  });

  it("goes on behind a bad file, reports it and fails", async () => {
    const folder = await newFolder();
    const good = await put(folder, "chat.jsonl", chatLines(2));
    const empty = await put(folder, "empty.jsonl", "");
    const missing = join(folder, "missing.jsonl");
    const { status, stdout, stderr } = await windrow(["replay", missing, good, empty, "--json"]);
    expect(status).toBe(1);
    const { sessions, failed } = JSON.parse(stdout) as Document;
    expect(sessions.map((session) => session.file)).toEqual([good]);
    expect(failed.map(({ file, code }) => ({ file, code }))).toEqual([
      { file: missing, code: "input-not-found" },
      { file: empty, code: "not-a-transcript" },
    ]);
    for (const { file, code } of failed) expect(stderr).toMatch(new RegExp(`windrow: ${code}: .*${file}`));
  });

  it("fails, and is no wrong use, when every file is bad", async () => {
    const { status, stdout } = await windrow(["replay", "/no/such/file", "--json"]);
    expect(status).toBe(1);
    expect((JSON.parse(stdout) as Document).sessions).toEqual([]);
  });

  it("reports lines it could not read and uses the rest", async () => {
    const file = await put(await newFolder(), "chat.jsonl", `${chatLines(2)}\n{"role": "user", "con`);
    const { status, stdout, stderr } = await windrow(["replay", file, "-s", "none", "--json"]);
    expect(status).toBe(0);
    expect(stderr).toContain(`${file}:7: `);
    expect((JSON.parse(stdout) as Document).sessions[0]?.calls).toBe(3);
  });
});

describe("windrow replay FILE", () => {
  it("shows a table and a chart for people", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(20));
    const { status, stdout } = await windrow(["replay", file, "-b", "3000", "-s", "none,adaptive"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/strategy +budget +average +peak/);
    expect(stdout).toMatch(/^ adaptive +3,000 /m);
    expect(stdout).toContain("tokens per call (21 calls, budget 3,000)");
    expect(stdout).toMatch(/┤.*[─╭╯]/);
    expect(stdout).not.toContain("\u001B[");
  });

  it("shows the finer measures of recall on a wide terminal", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(20));
    const shown = async (columns: number): Promise<string> => {
      let text = "";
      const stdout = { write: (piece: string) => (text += piece), columns };
      await run(["replay", file, "-s", "adaptive", "-b", "3000"], { stdout, stderr: { write: () => "" }, env: {} });
      return text;
    };
    expect(await shown(129)).not.toMatch(/strict|quotes|hunks|stale|gone/);
    expect(await shown(130)).toMatch(/1-hop +named +strict +quotes +hunks +stale +gone$/m);
  });

  it(
    "fits every terminal of sixty columns and more, and says which columns have no room",
    { tags: ["slow"] },
    async () => {
      const file = await put(await newFolder(), "chat.jsonl", chatLines(30));
      for (const columns of [60, 80, 130]) {
        for (const env of [{}, { NO_COLOR: "1" }]) {
          let text = "";
          const stdout = { write: (piece: string) => (text += piece), columns, isTTY: true };
          await run(["replay", file, "-b", "2000,4000"], { stdout, stderr: { write: () => "" }, env });
          // oxlint-disable-next-line no-control-regex -- colours take no room
          const bare = text.replaceAll(/\u001B\[[\d;]*m/g, "");
          const widths = bare.split("\n").map((line) => line.length);
          expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
          expect(/^ strategy.* peak .* over$/m.test(bare) || bare.includes("terminal is too")).toBe(true);
        }
      }
    },
  );

  it("leaves out columns of zeros, and rows that repeat an earlier one", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(20));
    const roomy = (await windrow(["replay", file, "-b", "100k"])).stdout;
    expect(roomy).not.toMatch(/broken|over:/);
    expect(roomy).toContain("The same as none: sliding-window at 100,000, adaptive at 100,000.");
    expect(roomy.match(/┼/g)?.length).toBeLessThan(7);
    const tight = (await windrow(["replay", file, "-b", "3000"])).stdout;
    expect(tight).toMatch(/1-hop +named +over$/m);
    expect(tight).toContain("over: requests above the budget without need.");
    expect(tight).not.toContain("The same as");
  });

  it("ends with a verdict", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(60));
    const tight = (await windrow(["replay", file, "-b", "3000"])).stdout;
    expect(tight).toMatch(
      /adaptive at 3,000 would have cost 0\.\d+ million input tokens; sending\s+everything costs 0\.\d+/,
    );
    expect(tight.replaceAll(/\s+/g, " ")).toMatch(
      /It rewrote the beginning of the request (twice|\d+ times) in 61 calls, and had in view [\d.]+ % of what they referred/,
    );
    const roomy = (await windrow(["replay", file, "-b", "100k"])).stdout;
    expect(roomy).toMatch(
      /100,000 tokens hold the whole of it, [\d,]+ tokens in the largest request: there is nothing to/,
    );
  });

  it("shows what the file recorded above the strategies, and takes the budget of the session's model", async () => {
    const { status, stdout } = await windrow(["replay", await put(await newFolder(), "s.jsonl", recordedLines())]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ as recorded +– +(\S+) /m);
    expect(stdout).toMatch(/^ none +132,000 /m);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /By the file's own usage: [\d.]+ tokens for each counted one; the cache stayed warm/,
    );
    const plain = (await windrow(["replay", await put(await newFolder(), "chat.jsonl", chatLines(5))])).stdout;
    expect(plain).not.toContain("as recorded");
    expect(plain).toContain("No message reports usage");
  });

  it("colours on a terminal, and not where NO_COLOR is set", async () => {
    const file = await put(await newFolder(), "chat.jsonl", chatLines(2));
    const argv = ["replay", file, "-s", "none,adaptive"];
    expect((await windrow(argv, {}, true)).stdout).toContain("\u001B[");
    expect((await windrow(argv, { NO_COLOR: "1" }, true)).stdout).not.toContain("\u001B[");
  });

  it("adds many sessions up", async () => {
    const folder = await newFolder();
    const files = await Promise.all(["a", "b", "c", "d"].map((name) => put(folder, `${name}.jsonl`, chatLines(2))));
    const { stdout } = await windrow(["replay", ...files]);
    expect(stdout).toContain("4 sessions, 12 calls");
  });
});

describe("windrow replay", () => {
  it("finds the person's own sessions and says in plain words what happened", async () => {
    const home = await newFolder();
    await put(home, ".claude/projects/repo/8f14e45f-ceea-4672-9d2a-3f2b1c0a7e11.jsonl", claudeCodeLines());
    const { status, stdout } = await windrow(["replay"], { HOME: home });
    expect(status).toBe(0);
    expect(stdout).toContain("Your session made 3 model calls.");
    expect(stdout).toMatch(/Sent as recorded, 2 of them \(66\.7 %\) would have been refused/);
    expect(stdout).toMatch(/tokens hold the whole of it/);
  });

  it("says where it looked when there are none", async () => {
    const { status, stdout, stderr } = await windrow(["replay"], { HOME: await newFolder() });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    for (const place of [".claude/projects", ".codex/sessions", ".pi/agent/sessions", "windrow replay FILE"]) {
      expect(stderr).toContain(place);
    }
  });
});

describe("windrow replay --keep", () => {
  it("writes the session through the file store, every message of it", async () => {
    const folder = await newFolder();
    const file = await put(folder, "chat.jsonl", chatLines(20));
    const store = join(folder, "contexts");
    const { status, stdout } = await windrow([
      "replay",
      file,
      "-b",
      "3000",
      "-s",
      "adaptive",
      "--keep",
      store,
      "--json",
    ]);
    expect(status).toBe(0);
    const [kept = ""] = (JSON.parse(stdout) as Document).kept ?? [];
    expect(kept.startsWith(join(store, "completed"))).toBe(true);
    const lines = async (name: string): Promise<readonly Record<string, unknown>[]> => {
      const text = await readFile(join(kept, name), "utf8");
      return text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    const messages = await lines("messages.jsonl");
    expect(messages.map((message) => message["seq"])).toEqual(Array.from({ length: 42 }, (_, index) => index + 1));
    expect(messages[0]).toMatchObject({ role: "user", content: "fix the bug in src/file_0.ts" });
    expect(await lines("tools.jsonl")).toHaveLength(20);
    expect((await lines("edits.jsonl")).length).toBeGreaterThan(0);
    expect(await readdir(join(store, "running"))).toEqual([]);
  });
});

describe("wrong use", () => {
  it.each([
    [["replay", "--strategi", "none"], "--strategy"],
    [["repaly"], "replay"],
    [["replay", "x.jsonl", "-s", "adaptiv"], '"adaptive"'],
    [["replay", "x.jsonl", "-p", "antropic"], '"anthropic"'],
    [["replay", "x.jsonl", "--counter", "estimat"], '"estimate"'],
    [["replay", "x.jsonl", "-m", "claude-sonet-4-5"], "claude-sonnet-4-5"],
    [["replay", "x.jsonl", "-b", "many"], "32000"],
    [["replay", "x.jsonl", "-b", "0"], "above 0"],
    [["replay", "x.jsonl", "-b", ","], "--budget"],
    [["replay", "x.jsonl", "--far", "-1"], "--far"],
  ])("%j is refused before any work, with what is right", async (argv, hint) => {
    const { status, stdout, stderr } = await windrow(argv);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^windrow: (bad-option|unknown-[a-z]+): /);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("x.jsonl");
  });

  it("is not a call for help or for the version", async () => {
    const help = await windrow(["replay", "--help"]);
    expect(help).toMatchObject({ status: 0, stderr: "" });
    expect(help.stdout).toContain("Examples:");
    expect((await windrow(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });
});
