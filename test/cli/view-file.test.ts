/** `windrow view FILE`, on session files of other agents. */
import { gzipSync } from "node:zlib";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { textWidth } from "../kit/inside/cli.ts";
import type { Compaction } from "../kit/inside/replay.ts";
import { chatLines, json, newFolder, put, windrow } from "./stage.ts";

const model = "claude-sonnet-4-5";
const summary = "The file first.ts was read, with first_1 in it.";

interface Words {
  readonly title?: string;
  readonly tool?: string;
  readonly path?: (name: string) => string;
  readonly summary?: string;
}

function text(name: string): string {
  return Array.from({ length: 8 }, (_, line) => `export const ${name}_${line} = "line ${line} of a file";`).join("\n");
}

/** A session of Claude Code with two compactions, behind each of which a file is read again. */
function compacted({
  title = "Mend the parser",
  tool = "Read",
  path = (name) => `src/${name}.ts`,
  ...words
}: Words = {}): string {
  const rows: object[] = [];
  let parentUuid: string | null = null;
  let input = 20_000;
  const add = (row: object): void => {
    const uuid: string = `00000000-0000-4000-8000-${String(rows.length).padStart(12, "0")}`;
    const timestamp = new Date(Date.UTC(2026, 0, 2, 3, rows.length)).toISOString();
    rows.push({ uuid, parentUuid, sessionId: "8f14e45f-ceea-4672-9d2a-3f2b1c0a7e11", timestamp, cwd: "/repo", ...row });
    parentUuid = uuid;
  };
  const say = (role: string, content: unknown, more: object = {}): void =>
    add({ type: role, message: { role, content, ...more } });
  const read = (name: string): void => {
    const id = `toolu_${rows.length}`;
    const usage = {
      input_tokens: 0,
      output_tokens: 20,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: input,
    };
    const call = { type: "tool_use", id, name: tool, input: { file_path: path(name) } };
    say("assistant", [call], { id: `msg_${rows.length}`, model, usage });
    say("user", [{ type: "tool_result", tool_use_id: id, content: text(name) }]);
    input += 200;
  };
  const compact = (): void => {
    const compactMetadata = { trigger: "auto", preTokens: input, postTokens: 500 };
    add({ type: "system", subtype: "compact_boundary", content: "Conversation compacted", compactMetadata });
    add({ type: "user", isCompactSummary: true, message: { role: "user", content: words.summary ?? summary } });
    input = 12_000;
  };
  say("user", "mend the parser");
  for (const name of ["first", "second"]) read(name);
  compact();
  for (const name of ["first", "third"]) read(name);
  compact();
  read("third");
  rows.push({ type: "summary", summary: title, leafUuid: parentUuid });
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

it("shows what each compaction dropped, what its summary keeps, and what was read again", async () => {
  const file = await put(await newFolder(), "session.jsonl", compacted());
  const { status, stdout, stderr } = await windrow(["view", file], {}, false, 0);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.split("\n").slice(0, 5)).toEqual([
    "Session: 8f14e45f-ceea-4672-9d2a-3f2b1c0a7e11",
    "Title: Mend the parser",
    `Written by: claude-code, ${model}`,
    "Messages: 11, 5 of the model",
    expect.stringMatching(/^Compactions: 2; read again since: 2 results, \d+ tokens, \$0\.09$/) as string,
  ]);
  const words = stdout.replaceAll(/\s+/g, " ");
  expect(words).toContain("Compaction 1, behind message 5: 5 messages of ");
  expect(words).toContain(
    "the window. Its requests, system prompt and tools among them, went from 20,200 to 12,000 tokens. By what the file holds the second was 12,000, within 0 %.",
  );
  expect(words).toContain("names 1 of 2 files, 1 of 16 names, and 0 of 0 numbers of what tools had shown.");
  expect(words).toMatch(/Read again: 1 result, \d+ tokens; 1 call was made for that alone, \$0\.05 in all\./);
  expect(stdout).toMatch(/\n +message +tool +read again +tokens\n +m7 +Read +src\/first\.ts +\d+\n/);
});

it("has no line that is longer than the terminal", async () => {
  const path = (name: string): string => `${"認証/".repeat(30)}${"folder/".repeat(10)}${name}.ts`;
  const title = "直して ".repeat(40);
  const file = await put(
    await newFolder(),
    "session.jsonl",
    compacted({ title, tool: "read_a_file_of_the_repository", path }),
  );
  for (const columns of [80, 120]) {
    const { stdout } = await windrow(["view", file], {}, false, columns);
    expect(stdout).toContain("m7");
    expect(stdout.split("\n").filter((line) => textWidth(line) > columns)).toEqual([]);
  }
});

it("gives the figures as one document", async () => {
  const file = await put(await newFolder(), "session.jsonl", compacted());
  const { sessions } = await json<{ sessions: { compactions: Compaction[] }[] }>(["view", file]);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({ format: "claude-code", model, title: "Mend the parser", messages: 11 });
  expect(sessions[0]?.compactions).toMatchObject([
    {
      ...{ after: 5, left: { messages: 5 }, summary: { text: summary }, calls: 1 },
      ...{ input: { before: 20_200, after: 12_000 }, window: 12_000 },
      again: [{ index: 6, tool: "Read", subject: "src/first.ts" }],
    },
    { after: 9, left: { messages: 4 }, again: [{ index: 10, subject: "src/third.ts" }], calls: 1 },
  ]);
});

it("reads a file that is compressed, and one of several sessions", async () => {
  const folder = await newFolder();
  const file = join(folder, "session.jsonl.gz");
  await writeFile(file, gzipSync(compacted()));
  const { stdout } = await windrow(["view", file]);
  expect(stdout).toContain("\nCompactions: 2; ");
  const two = JSON.parse(`[${chatLines(1).split("\n").join(",")}]`) as unknown[];
  const rows = ["one", "two"].map((id) => JSON.stringify({ id, messages: two }));
  const several = await windrow(["view", await put(folder, "several.jsonl", rows.join("\n"))]);
  expect(several.stdout.match(/^Session: .*$/gm)).toHaveLength(2);
});

it("says that a file tells of no compaction", async () => {
  const file = await put(await newFolder(), "chat.jsonl", chatLines(3));
  const { status, stdout } = await windrow(["view", file]);
  expect(status).toBe(0);
  expect(stdout).toContain("\nCompactions: none that the file tells of\n");
  expect(await json(["view", file])).toMatchObject({ sessions: [{ title: null, compactions: [] }] });
});

it.each([
  ["words", "no session at all\nbut two lines\n"],
  ["an object", '{"name": "windrow", "version": "1.0.0"}\n'],
  ["nothing", ""],
])("refuses a file of %s by its name", async (_name, content) => {
  const file = await put(await newFolder(), "notes.json", content);
  const { status, stdout, stderr } = await windrow(["view", file]);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("not-a-transcript");
  expect(stderr).toContain("notes.json");
});

it.each([["--window"], ["--html", "out.html"], ["--message", "m1"]])(
  "refuses %s, which is for sessions of a store",
  async (...flags) => {
    const file = await put(await newFolder(), "session.jsonl", compacted());
    const { status, stdout, stderr } = await windrow(["view", file, ...flags]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`${flags[0]} shows sessions of a store, and`);
    expect(stderr).toContain("session.jsonl");
    expect(stderr).toContain("windrow import");
  },
);

it("shows nothing that a terminal obeys", async () => {
  const hostile = "\u001b]0;PWNED\u0007\u001b[2J\r\nFORGED\u2028\u202e\u009b31m\u0000\u{e0041}";
  const path = (name: string): string => `src/${hostile}/${name}.ts`;
  const folder = await newFolder();
  const file = await put(folder, "session.jsonl", compacted({ title: hostile, tool: hostile, path, summary: hostile }));
  for (const [columns, isTTY] of [
    [80, true],
    [0, false],
  ] as const) {
    const { status, stdout, stderr } = await windrow(["view", file], {}, isTTY, columns);
    expect(status, stderr).toBe(0);
    expect(stdout).toContain("Compaction 2");
    expect(stdout.replaceAll(/\u001b\[(?:0|1|2|22|39|3[1-6])m/g, "")).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]|[\u{e0000}-\u{e007f}]|^FORGED/mu,
    );
  }
});
