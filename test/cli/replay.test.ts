import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { chatLines, claudeCodeLines, json, newFolder, put, recordedLines, windrow } from "./stage.ts";

interface Document {
  readonly sessions: readonly {
    readonly file: string;
    readonly messages: number;
    readonly calls: number;
    readonly results: readonly Record<string, unknown>[];
  }[];
  readonly failed: readonly { readonly file: string; readonly code: string }[];
  readonly kept?: readonly string[];
}

const replayed = (...argv: readonly string[]): Promise<Document> => json<Document>(["replay", ...argv]);

/** A session of so many steps in a file. */
const chat = async (steps: number): Promise<string> => put(await newFolder(), "chat.jsonl", chatLines(steps));

/** What a person sees. */
const text = async (...argv: readonly string[]): Promise<string> => {
  const { status, stdout, stderr } = await windrow(["replay", ...argv]);
  expect(status, stderr).toBe(0);
  return stdout;
};

describe("windrow replay of sessions by folder and id", () => {
  it("takes every session in a folder and below it, no other file of JSON, and nothing that is installed", async () => {
    const folder = await newFolder();
    const first = await put(folder, "a.jsonl", chatLines(3));
    const second = await put(folder, "below/b.jsonl", claudeCodeLines());
    await put(folder, "package.json", '{"name":"not a session"}');
    await put(folder, "node_modules/agent/b.jsonl", chatLines(3));
    const { sessions, failed } = await replayed(folder, "--budget", "3k");
    expect([sessions.map(({ file }) => file), failed]).toEqual([[first, second], []]);
  });

  it("says so where a folder has no session", async () => {
    const folder = await newFolder();
    const said = async (): Promise<string> => (await windrow(["replay", folder])).stderr;
    expect(await said()).toContain("There is no session in");
    await put(folder, "package.json", '{"name":"not a session"}');
    expect(await said()).toContain("not-a-transcript");
  });

  it.each(["files", "sqlite"])("takes a session of a store of %s by id, its beginning, and latest", async (kind) => {
    const folder = await newFolder();
    const file = await put(folder, "chat.jsonl", chatLines(5));
    const store = kind === "files" ? join(folder, "contexts") : `sqlite:${join(folder, "contexts.db")}`;
    expect(await windrow(["import", file, "--store", store, "--finished"])).toMatchObject({ status: 0 });
    const { id } = await json<{ readonly id: string }>(["view", "latest", "--store", store]);
    for (const name of ["latest", id, id.slice(0, 6)]) {
      const { sessions } = await replayed(name, "--store", store, "--budget", "3k");
      expect(sessions).toMatchObject([{ messages: 12, calls: 6 }]);
    }
    const unknown = await windrow(["replay", "00000000", "--store", store]);
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("session-not-found")]);
  });
});

describe("windrow replay FILE --json", () => {
  it("takes strategies with options, beside names, and tells them apart", async () => {
    const options = [
      '{"use":"adaptive","lowWater":0.5,"tailShare":0.2}',
      '{"use":"importance","weights":{"base":0.4,"error":1}}',
    ];
    const { sessions } = await replayed(await chat(20), "--strategy", ["none", ...options].join(), "--budget", "3k");
    expect(sessions[0]?.results.map(({ strategy }) => strategy)).toEqual([
      "none",
      "adaptive lowWater=0.5 tailShare=0.2",
      'importance weights={"base":0.4,"error":1}',
    ]);
  });

  it("has a row of windows that size themselves beside those of a fixed budget", async () => {
    const file = await chat(40);
    const { sessions } = await replayed(file, "--strategy", "none,adaptive", "--budget", "3k,auto");
    expect(sessions[0]?.results.map(({ strategy, budget }) => [strategy, budget])).toEqual([
      ["none", 3_000],
      ["none", 200_000],
      ["adaptive", 3_000],
      ["adaptive auto", 200_000],
    ]);
    const shown = await text(file, "--strategy", "adaptive", "--budget", "3k,auto");
    expect(shown).toMatch(/^ *adaptive auto /m);
  });

  it("writes one document with a result for every strategy and budget", async () => {
    const file = await chat(20);
    const { sessions, failed } = await replayed(file, "--budget", "3k,100_000");
    expect(failed).toEqual([]);
    expect(sessions).toMatchObject([{ file, messages: 42, calls: 21 }]);
    const results = sessions[0]?.["results"] as readonly Record<string, unknown>[];
    expect(results.map(({ strategy, budget }) => `${String(strategy)} ${String(budget)}`)).toEqual(
      ["none", "sliding-window", "adaptive"].flatMap((name) => [`${name} 3000`, `${name} 100000`]),
    );
    const figures = "strategy budget profile tokens cost cachedShare epochs lookback";
    for (const result of results) {
      expect(Object.keys(result)).toEqual(expect.arrayContaining(figures.split(" ")));
      const lookback = { oneHop: expect.any(Number) as number };
      expect(result).toMatchObject({ broken: 0, faults: 0, lookback });
      expect(result).not.toHaveProperty("series");
    }
    expect(results[4]).toMatchObject({ overBudget: 0, refused: 0 });
  });

  it("takes prices and profile from the model", async () => {
    const { sessions } = await replayed(await chat(2), "-s", "adaptive", "--model", "claude-sonnet-4-5");
    const [result] = sessions[0]?.results ?? [];
    expect(result).toMatchObject({ profile: "anthropic", cost: { dollars: expect.any(Number) as number } });
    expect(result?.["budget"]).toBeGreaterThan(32_000);
  });

  it("goes on behind a bad file, reports it and fails, also where every file is bad", async () => {
    const good = await chat(2);
    const empty = await put(await newFolder(), "empty.jsonl", "");
    const missing = `${empty}.none`;
    for (const [files, replays] of [
      [[missing, good, empty], [good]],
      [[missing, empty], []],
    ] as const) {
      const { status, stdout, stderr } = await windrow(["replay", ...files, "--json"]);
      const { sessions, failed } = JSON.parse(stdout) as Document;
      expect([status, sessions.map(({ file }) => file)]).toEqual([1, replays]);
      expect(failed).toMatchObject([
        { file: missing, code: "input-not-found" },
        { file: empty, code: "not-a-transcript" },
      ]);
      for (const { file, code } of failed) expect(stderr).toMatch(new RegExp(`windrow: ${code}: .*${file}`));
    }
  });

  it("reports lines it could not read and uses the rest", async () => {
    const file = await put(await newFolder(), "chat.jsonl", `${chatLines(2)}\n{"role": "user", "con`);
    const { status, stdout, stderr } = await windrow(["replay", file, "-s", "none", "--json"]);
    expect([status, stderr]).toEqual([0, expect.stringContaining(`${file}:7: `)]);
    expect((JSON.parse(stdout) as Document).sessions[0]?.calls).toBe(3);
  });
});

describe("windrow replay FILE", () => {
  it("shows a table and a chart for people", async () => {
    const stdout = await text(await chat(20), "-b", "3000", "-s", "none,adaptive");
    expect(stdout).toMatch(/strategy +budget +average +peak/);
    expect(stdout).toMatch(/^ adaptive +3,000 /m);
    expect(stdout).toContain("tokens per call (21 calls, budget 3,000)");
    expect(stdout).toMatch(/┤.*[─╭╯]/);
    expect(stdout).not.toContain("\u001B[");
  });

  it("fits terminals of sixty columns and more, and says which columns have no room", { tags: ["slow"] }, async () => {
    const file = await chat(30);
    for (const columns of [60, 80, 130]) {
      for (const env of [{}, { NO_COLOR: "1" }]) {
        const { stdout } = await windrow(["replay", file, "-b", "2000,4000"], env, true, columns);
        const bare = stripVTControlCharacters(stdout);
        const widths = bare.split("\n").map((line) => line.length);
        expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
        expect(/^ strategy.* peak .* over$/m.test(bare) || bare.includes("terminal is too")).toBe(true);
      }
    }
  });

  it("leaves out columns of zeros, and rows that repeat an earlier one", async () => {
    const file = await chat(20);
    const roomy = await text(file, "-b", "100k");
    expect(roomy).not.toMatch(/broken|over:/);
    expect(roomy).toContain("The same as none: sliding-window at 100,000, adaptive at 100,000.");
    expect(roomy.match(/┼/g)?.length).toBeLessThan(7);
    const tight = await text(file, "-b", "3000");
    expect(tight).toMatch(/1-hop +named +over$/m);
    expect(tight).toContain("over: requests above the budget without need.");
    expect(tight).not.toContain("The same as");
  });

  it("ends with a verdict", async () => {
    const file = await chat(60);
    const tight = (await text(file, "-b", "3000")).replaceAll(/\s+/g, " ");
    expect(tight).toMatch(/adaptive at 3,000 would have cost 0\.\d+ million .* sending everything costs 0\.\d+/);
    expect(tight).toMatch(/It rewrote .* (twice|\d+ times) in 61 calls, and had in view [\d.]+ %/);
    expect(await text(file, "-b", "100k")).toMatch(/100,000 tokens hold the whole of it, [\d,]+ tokens in the largest/);
  });

  it("shows what the file recorded above the strategies, and takes the budget of the session's model", async () => {
    const stdout = await text(await put(await newFolder(), "s.jsonl", recordedLines()));
    expect(stdout).toMatch(/^ as recorded +– +(\S+) /m);
    expect(stdout).toMatch(/^ none +132,000 /m);
    expect(stdout).toMatch(/By the file's own usage: [\d.]+ tokens for each counted/);
    const plain = await text(await chat(5));
    expect(plain).not.toContain("as recorded");
    expect(plain).toContain("No message reports usage");
  });
});

describe("windrow replay", () => {
  it("finds the person's own sessions and says in plain words what happened", async () => {
    const home = await newFolder();
    await put(home, ".claude/projects/repo/8f14e45f-ceea-4672-9d2a-3f2b1c0a7e11.jsonl", claudeCodeLines());
    const { stdout } = await windrow(["replay"], { HOME: home });
    expect(stdout).toContain("Your session made 3 model calls.");
    expect(stdout).toMatch(/Sent as recorded, 2 of them \(66\.7 %\) would have been refused/);
  });

  it("says where it looked when there are none", async () => {
    const { status, stdout, stderr } = await windrow(["replay"], { HOME: await newFolder() });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    for (const place of [".claude/projects", ".codex/sessions", ".pi/agent/sessions", "windrow replay FILE"]) {
      expect(stderr).toContain(place);
    }
  });
});

it("windrow replay --keep writes the session through the file store, every message of it", async () => {
  const store = join(await newFolder(), "contexts");
  const [kept = ""] = (await replayed(await chat(20), "-b", "3000", "-s", "adaptive", "--keep", store)).kept ?? [];
  expect(kept.startsWith(join(store, "completed"))).toBe(true);
  const lines = async (name: string): Promise<readonly Record<string, unknown>[]> =>
    (await readFile(join(kept, name), "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as never);
  const messages = await lines("messages.jsonl");
  expect(messages.map((message) => message["seq"])).toEqual(Array.from({ length: 42 }, (_, index) => index + 1));
  expect(messages[0]).toMatchObject({ role: "user", content: "fix the bug in src/file_0.ts" });
  expect(await lines("tools.jsonl")).toHaveLength(20);
  expect((await lines("edits.jsonl")).length).toBeGreaterThan(0);
  expect(await readdir(join(store, "running"))).toEqual([]);
});
