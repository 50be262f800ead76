/** `windrow advise`: the budget that pays, as text and as JSON, and the line that turns it on. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chosenOf, run, textWidth } from "../kit/inside/cli.ts";
import { besides, claudeLong, codexLong, piLong } from "./long-sessions.ts";
import { chatLines, json, newFolder, put, windrow } from "./stage.ts";
import type { Outcome } from "./stage.ts";

interface Row {
  readonly strategy: string;
  readonly budget: number | null;
  readonly cost: { readonly dollars: number | null; readonly equivalents: number };
  readonly lookback: { readonly oneHop: number | null };
  readonly calls: number;
}

interface Advice {
  readonly sessions: readonly { readonly file: string; readonly format: string; readonly calls: number }[];
  readonly before: Pick<Row, "cost">;
  readonly rows: readonly Row[];
  readonly advised: (Row & { readonly setting: string; readonly lines: readonly string[] }) | null;
  readonly reason: string | null;
  readonly failed: readonly { readonly file: string; readonly code: string }[];
}

const advice = (...argv: readonly string[]): Promise<Advice> => json<Advice>(["advise", ...argv]);

/** A file with a session. */
const file = async (text: string): Promise<string> => put(await newFolder(), "session.jsonl", text);

describe("windrow advise FILE --json", () => {
  it("compares every budget and advises the cheapest that keeps enough, with the line for the agent", async () => {
    const path = await file(claudeLong());
    const { sessions, before, rows, advised, reason, failed } = await advice(path);
    expect(sessions).toMatchObject([{ file: path, format: "claude-code", calls: 60 }]);
    expect([rows.length, rows.at(-1)?.strategy, rows.at(-2)?.strategy]).toEqual([10, "none", "adaptive auto"]);
    const keeping = rows.slice(0, -1).filter(({ lookback }) => (lookback.oneHop ?? 100) >= 97);
    const least = Math.min(...keeping.map(({ cost }) => cost.dollars ?? 0));
    expect(advised?.cost.dollars).toBe(least);
    expect(least).toBeLessThan(0.95 * (before.cost.dollars ?? 0));
    expect([reason, failed]).toEqual([null, []]);
    expect(advised?.lines).toEqual([`npx windrow gateway run --budget ${advised?.setting} --recall tool -- claude`]);
    // What the file reports: 60 requests, each 2,000 tokens larger, read from the cache but for those; 50 tokens of output.
    const [read, written] = [59 * besides + (2_000 * 58 * 59) / 2, besides + 59 * 2_000];
    expect(before.cost.dollars).toBeCloseTo((0.5 * read + 6.25 * written + 25 * 60 * 50) / 1e6, 5);
  });

  it("measures as windrow replay does", { tags: ["slow"] }, async () => {
    const path = await file(codexLong());
    const { rows } = await advice(path);
    const argv = ["replay", path, "-s", "adaptive,none", "-b", "32k,auto"];
    const { sessions } = await json<{ readonly sessions: readonly { readonly results: readonly Row[] }[] }>(argv);
    for (const { strategy, budget, cost } of sessions[0]?.results ?? []) {
      const same = rows.find((row) => row.strategy === strategy && (strategy === "none" || row.budget === budget));
      expect(same?.cost).toEqual(cost);
    }
    expect(sessions[0]?.results).toHaveLength(4);
  });

  it("adds up several files, a folder of them, and one that is compressed", async () => {
    const folder = await newFolder();
    await put(folder, "a.jsonl", claudeLong({ id: "a" }));
    await writeFile(join(folder, "b.jsonl.gz"), gzipSync(piLong({ id: "b" })));
    const { sessions, rows, advised } = await advice(folder);
    expect(sessions.map(({ format }) => format)).toEqual(["claude-code", "pi"]);
    expect(rows[0]?.calls).toBe(120);
    // Each agent has its own way to be given a budget.
    expect(advised?.lines).toHaveLength(2);
  });

  it("goes by tokens where the model has no price, and sets them against everything sent without usage", async () => {
    const unpriced = await advice(await file(claudeLong({ model: "my-own" })));
    expect(unpriced.before.cost.dollars).toBeNull();
    const least = Math.min(...unpriced.rows.map(({ cost }) => cost.equivalents));
    expect(unpriced.advised?.cost).toEqual({ equivalents: least, dollars: null });
    const untold = await advice(await file(claudeLong({ isTold: false })));
    expect(untold.before).toEqual(untold.rows.at(-1));
  });

  it("tells a file that cannot be read, and advises on the others", async () => {
    const [whole, folder] = [await file(claudeLong()), await newFolder()];
    const other = await put(folder, "other.txt", "no session");
    const { status, stdout, stderr } = await windrow(["advise", whole, other, "--json"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("not-a-transcript")]);
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ file: whole }], failed: [{ file: other }] });
    const none = await windrow(["advise", other, "--json"]);
    expect([none.status, JSON.parse(none.stdout)]).toMatchObject([1, { sessions: [], failed: [{ file: other }] }]);
  });
});

describe("the line that turns a budget on", () => {
  const calibration = { rate: 1, overhead: besides, warm: 0, cuts: 0, cached: true, hourShare: 0, reported: true };
  const chosen = (strategy: string, ...formats: readonly string[]): ReturnType<typeof chosenOf> =>
    chosenOf(
      { strategy, budget: 45_000 },
      formats.map((format) => ({ format, calibration: { ...calibration, coldCalls: 0 } })),
    );

  it.each([
    ["claude-code", "npx windrow gateway run --budget 57k --recall tool -- claude"],
    ["codex", "npx windrow gateway run --budget 57k --recall tool -- codex"],
    ["gemini-cli", "npx windrow gateway run --budget 57k --recall tool -- gemini"],
    ["opencode", "npx windrow gateway run --budget 57k -- opencode"],
    ["pi", "pi -e npm:windrow --windrow-budget 57000"],
    ["openai-chat", "composeWindow({ budget: 57_000, … })"],
  ])("is of the agent %s, and holds what stands beside the messages", (format, line) => {
    expect(chosen("adaptive", format)).toEqual({ setting: "57k", lines: [line] });
  });

  it("takes no number for a window that sizes itself, and stands for each agent once", () => {
    expect(chosen("adaptive auto", "codex", "codex", "pi", "openai-chat", "hermes").lines).toEqual([
      "npx windrow gateway run --budget auto --recall tool -- codex",
      "pi -e npm:windrow --windrow-budget auto",
      'composeWindow({ budget: "auto", … })',
    ]);
  });
});

describe("windrow advise FILE", () => {
  const text = async (content: string, isTTY = false, columns = 120): Promise<string> => {
    const { status, stdout, stderr } = await windrow(["advise", await file(content)], {}, isTTY, columns);
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  };

  it("says what was compared, which budget pays, and how it is turned on", async () => {
    const said = await text(claudeLong());
    expect(said).toMatch(/^1 session, 60 calls\n/);
    expect(said).toMatch(/^ → +[\d,]+ +\$\d/m);
    expect(said.replaceAll("\n", " ")).toMatch(
      /keeps 97 % in view or one recall away: \$\S+ instead of \$\S+, \d+ % less\./,
    );
    expect(said).toMatch(/^To turn it on \([\d,]+ for messages, [\d,]+ for system prompt and tools\):$/m);
    expect(said).toMatch(/^ {2}npx windrow gateway run --budget \d+k --recall tool -- claude$/m);
    expect(said).not.toContain("\u001b");
  });

  it("says so where none pays, and where no model was called", async () => {
    expect(await text(claudeLong({ calls: 4 }))).toContain("does not pay");
    expect(await text(claudeLong({ calls: 4 }))).not.toContain("→");
    expect(await text('{"role":"user","content":"hi"}\n{"role":"user","content":"ho"}')).toContain(
      "No model was called",
    );
  });

  it("names the unit where there are no prices", async () => {
    expect(await text(claudeLong({ model: "my-own" }))).toMatch(/instead\s+of\s+\S+\s+million\s+input\s+tokens/);
  });

  it.each([60, 80, 120])("fits %i columns", { tags: ["slow"] }, async (columns) => {
    for (const content of [claudeLong(), claudeLong({ model: "my-own" }), chatLines(30)]) {
      const said = stripVTControlCharacters(await text(content, true, columns));
      for (const line of said.split("\n")) expect(textWidth(line), line).toBeLessThanOrEqual(columns);
      for (const name of ["window", "cost", "in view", "one recall"]) expect(said).toContain(name);
    }
  });
});

describe("windrow advise without a file", () => {
  /** A home with a session of each agent, in a folder of its own. */
  async function newHome(): Promise<string> {
    const home = await newFolder();
    await put(home, ".claude/projects/p/a.jsonl", claudeLong({ id: "a", cwd: "/repo", calls: 6 }));
    await put(home, ".pi/agent/sessions/p/b.jsonl", piLong({ id: "b", cwd: "/repo/sub", calls: 6 }));
    const codex = codexLong({ id: "c", cwd: "/repository", calls: 6 });
    await put(home, ".codex/sessions/2026/01/02/rollout-1.jsonl", codex);
    return home;
  }

  const formats = async (home: string, ...argv: readonly string[]): Promise<readonly string[]> => {
    const { sessions } = await json<Advice>(["advise", ...argv], { HOME: home });
    return sessions.map(({ format }) => format).toSorted();
  };

  it("takes the sessions of this machine, those of a folder, and those below it", async () => {
    const home = await newHome();
    expect(await formats(home)).toEqual(["claude-code", "codex", "pi"]);
    expect(await formats(home, "--project", "/repo")).toEqual(["claude-code", "pi"]);
    expect(await formats(home, "--project", "/repo/sub/")).toEqual(["pi"]);
    expect(await formats(home, "--project", "/")).toEqual(["claude-code", "codex", "pi"]);
  });

  it("says so where a folder, or the machine, has none", async () => {
    const [home, empty] = [await newHome(), join(await newFolder(), "home")];
    await mkdir(empty);
    const asked = (home_: string, ...argv: readonly string[]): Promise<Outcome> =>
      windrow(["advise", ...argv, "--json"], { HOME: home_ });
    const none = await asked(home, "--project", "/rep");
    expect([none.status, JSON.parse(none.stdout)]).toEqual([1, { sessions: [], failed: [] }]);
    expect(none.stderr).toContain("No recorded sessions of /rep or of a folder below it.");
    expect(await asked(empty)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("No recorded sessions here."),
    });
  });

  it("refuses a file beside a folder, and a model that is not known", async () => {
    const refused = await windrow(["advise", await file(claudeLong()), "--project", "/repo"]);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("--project chooses among")]);
    const unknown = await windrow(["advise", "x", "--model", "no-such"]);
    expect(unknown.stderr).toContain("unknown-model");
  });
});

it.each(["advise", "replay"])("windrow %s ends at Ctrl-C with a failure, and has written nothing", async (command) => {
  const path = await file(claudeLong({ calls: 6 }));
  const page = join(await newFolder(), "page.html");
  let [stdout, stderr] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
    env: {},
  };
  const argv = command === "replay" ? [command, path, "--html", page] : [command, path];
  expect([await run(argv, io, AbortSignal.abort()), stdout, existsSync(page)]).toEqual([1, "", false]);
  expect(stderr).toContain("aborted");
});
