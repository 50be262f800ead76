/** Anthropic's memory tool: the texts of its commands, mistakes of the model, paths, versions, masks, a store that fails. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropicMemoryTool } from "windrow/anthropic";
import type { AnthropicMemoryTool } from "windrow/anthropic";
import { MemoryFiles } from "windrow/memory";
import type { MemoryFilesOptions } from "windrow/memory";
import { ramStore } from "../kit/inside/store.ts";

interface Stage extends AnthropicMemoryTool {
  readonly files: MemoryFiles;
  readonly run: (command: string, fields?: object) => Promise<string>;
}

function stage(options: MemoryFilesOptions & { readonly maxCharacters?: number } = {}): Stage {
  const { maxCharacters, ...more } = options;
  const files = new MemoryFiles(ramStore(), { user: "ann" }, more);
  const tool = anthropicMemoryTool(files, maxCharacters === undefined ? {} : { maxCharacters });
  return { ...tool, files, run: (command, fields = {}) => tool.execute({ command, ...fields }) };
}

const path = "/memories/notes.txt";

describe("the six commands answer in the words of Anthropic's documentation", () => {
  it("view of a folder", async () => {
    const { run } = stage();
    const head = (of: string): string =>
      `Here're the files and directories up to 2 levels deep in ${of}, excluding hidden items and node_modules:`;
    expect(await run("view", { path: "/memories" })).toBe(`${head("/memories")}\n0B\t/memories`);
    const made = {
      "b.txt": 1_536,
      "a/x.md": 10,
      "a/deep/y.md": 5,
      "a/deep/er/z.md": 1,
      ".hidden": 9,
      "node_modules/n": 9,
    };
    for (const [name, size] of Object.entries(made)) {
      await run("create", { path: `/memories/${name}`, file_text: "x".repeat(size) });
    }
    expect(await run("view", { path: "/memories" })).toBe(
      [
        head("/memories"),
        "1.5K\t/memories",
        "16B\t/memories/a/",
        "6B\t/memories/a/deep/",
        "10B\t/memories/a/x.md",
        "1.5K\t/memories/b.txt",
      ].join("\n"),
    );
    expect(await run("view", { path: "/memories/a/" })).toBe(
      `${head("/memories/a/")}\n16B\t/memories/a/\n6B\t/memories/a/deep/\n1B\t/memories/a/deep/er/\n` +
        "5B\t/memories/a/deep/y.md\n10B\t/memories/a/x.md",
    );
  });

  it("view of a file, and of some of its lines", async () => {
    const { run } = stage();
    await run("create", { path, file_text: "Hello World\nThis is line two\nthree" });
    const head = `Here's the content of ${path} with line numbers:`;
    expect(await run("view", { path })).toBe(`${head}\n     1\tHello World\n     2\tThis is line two\n     3\tthree`);
    expect(await run("view", { path, view_range: [2, 2] })).toBe(`${head}\n     2\tThis is line two`);
    expect(await run("view", { path, view_range: [2, -1] })).toBe(`${head}\n     2\tThis is line two\n     3\tthree`);
    expect(await run("view", { path, view_range: [3, 9] })).toBe(`${head}\n     3\tthree`);
    expect(await run("view", { path, view_range: null })).toContain("     1\tHello World");
    for (const range of [
      [0, 1],
      [4, 5],
      [3, 2],
    ]) {
      expect(await run("view", { path, view_range: range })).toBe(
        `Error: Invalid \`view_range\` parameter: [${range.join(", ")}]. It should be within the range of lines of the file: [1, 3]`,
      );
    }
  });

  it("create, str_replace and insert", async () => {
    const { run, files } = stage();
    expect(await run("create", { path, file_text: "a\nb\nc\nd\ne\nf" })).toBe(`File created successfully at: ${path}`);
    expect(await run("create", { path, file_text: "other" })).toBe(`Error: File ${path} already exists`);
    expect(await run("str_replace", { path, old_str: "d\n", new_str: "D\nDD\n" })).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" +
        "     2\tb\n     3\tc\n     4\tD\n     5\tDD\n     6\te\n     7\tf",
    );
    expect(await run("insert", { path, insert_line: 0, insert_text: "first\n" })).toBe(
      `The file ${path} has been edited.`,
    );
    await run("insert", { path, insert_line: 8, insert_text: "last" });
    expect(await files.read(path)).toBe("first\na\nb\nc\nD\nDD\ne\nf\nlast");
    const range = "It should be within the range of lines of the file: [0, 9]";
    for (const line of [-1, 10, 1.5]) {
      expect(await run("insert", { path, insert_line: line, insert_text: "x" })).toBe(
        `Error: Invalid \`insert_line\` parameter: ${line}. ${range}`,
      );
    }
  });

  it("str_replace wants a text that is there once", async () => {
    const { run, files } = stage();
    await run("create", { path, file_text: "one\ntwo one\nthree\nfour three" });
    const refused = "No replacement was performed";
    expect(await run("str_replace", { path, old_str: "five", new_str: "" })).toBe(
      `${refused}, old_str \`five\` did not appear verbatim in ${path}.`,
    );
    const many = (words: string, lines: string): string =>
      `${refused}. Multiple occurrences of old_str \`${words}\` in lines: ${lines}. Please ensure it is unique`;
    expect(await run("str_replace", { path, old_str: "three", new_str: "" })).toBe(many("three", "3, 4"));
    expect(await run("str_replace", { path, old_str: "e", new_str: "" })).toBe(many("e", "1, 2, 3, 4"));
    expect(await run("str_replace", { path, old_str: "", new_str: "x" })).toMatch(/^Error: `old_str` is empty\./);
    // A pattern of String.replace is text like any other.
    await run("str_replace", { path, old_str: "two", new_str: "$& $1" });
    expect(await files.read(path)).toBe("one\n$& $1 one\nthree\nfour three");
  });

  it("delete and rename, of files and of folders", async () => {
    const { run, files } = stage();
    for (const name of ["a/x", "a/y/z", "b"]) await run("create", { path: `/memories/${name}`, file_text: name });
    const to = "/memories/c/d";
    expect(await run("rename", { old_path: "/memories/a", new_path: to })).toBe(
      `Successfully renamed /memories/a to ${to}`,
    );
    expect(await run("rename", { old_path: "/memories/b", new_path: `${to}/x` })).toBe(
      `Error: The destination ${to}/x already exists`,
    );
    expect(await run("rename", { old_path: "/memories/b", new_path: to })).toBe(
      `Error: The destination ${to} already exists`,
    );
    expect(await run("delete", { path: `${to}/y` })).toBe(`Successfully deleted ${to}/y`);
    expect((await files.list()).map((file) => file.path)).toEqual(["/memories/b", `${to}/x`]);
  });

  it("what is not there", async () => {
    const { run } = stage();
    await run("create", { path: "/memories/folder/file", file_text: "x" });
    const gone = `The path ${path} does not exist`;
    expect(await run("view", { path })).toBe(`${gone}. Please provide a valid path.`);
    expect(await run("str_replace", { path, old_str: "a", new_str: "b" })).toBe(
      `Error: ${gone}. Please provide a valid path.`,
    );
    expect(await run("insert", { path, insert_line: 0, insert_text: "b" })).toBe(`Error: ${gone}`);
    expect(await run("delete", { path })).toBe(`Error: ${gone}`);
    expect(await run("rename", { old_path: path, new_path: "/memories/b" })).toBe(`Error: ${gone}`);
    const folder = { path: "/memories/folder" };
    expect(await run("insert", { ...folder, insert_line: 0, insert_text: "b" })).toMatch(/does not exist/);
    expect(await run("str_replace", { ...folder, old_str: "x", new_str: "b" })).toMatch(/does not exist/);
  });

  it("a file with more than 999,999 lines", async () => {
    const { run } = stage({ maxBytes: 2_000_000 });
    await run("create", { path, file_text: "\n".repeat(999_999) });
    expect(await run("view", { path })).toBe(`File ${path} exceeds maximum line limit of 999,999 lines.`);
  });
});

it("shows a large file in parts, and tells where the next one begins", async () => {
  const { run } = stage({ maxCharacters: 100 });
  const text = Array.from({ length: 50 }, (_, at) => `line ${at + 1} ${"x".repeat(20)}`).join("\n");
  await run("create", { path, file_text: `${text}\n${"y".repeat(5_000)}` });
  const seen: string[] = [];
  for (let next = 1; ;) {
    const lines = (await run("view", { path, view_range: [next, -1] })).split("\n").slice(1);
    const more = /^\[Lines (\d+) to (\d+) of 51; `view_range` shows the ones behind them\.\]$/.exec(lines.at(-1) ?? "");
    const shown = more ? lines.slice(0, -1) : lines;
    expect(shown.join("\n").length).toBeLessThan(200);
    seen.push(...shown.map((line) => line.slice(7)));
    if (!more) break;
    expect(Number(more[1])).toBe(next);
    next = Number(more[2]) + 1;
  }
  expect(seen.slice(0, 50).join("\n")).toBe(text);
  expect(seen.slice(50)).toEqual([`${"y".repeat(100)} [cut]`]);
});

it.each([
  [null, /^Error: `command` is missing; it should be one of view, create, /],
  ["view", /^Error: `command` is missing/],
  [{ command: "__proto__" }, /^Error: `command` is "__proto__"; it should be one of view/],
  [{ command: "toString" }, /^Error: `command` is "toString"/],
  [{ command: "view" }, /^Error: `path` is missing; it should be a text\. The command view takes `path`, and/],
  [
    { command: "view", path, view_range: "1-5" },
    /^Error: `view_range` is "1-5"; it should be a list of two line numbers/,
  ],
  [{ command: "view", path: 5 }, /^Error: `path` is 5; it should be a text/],
  [{ command: "create", path }, /^Error: `file_text` is missing/],
  [{ command: "create", path, file_text: { a: 1 } }, /^Error: `file_text` is an object; it should be a text/],
  [
    { command: "insert", path, insert_line: "1", insert_text: "x" },
    /^Error: `insert_line` is "1"; it should be a number/,
  ],
  [{ command: "rename", old_path: path }, /^Error: `new_path` is missing.* takes `old_path` and `new_path`\.$/],
  [{ command: "rename", old_path: "/memories", new_path: "/memories/a" }, /^Error: \/memories itself is always there/],
  [{ command: "delete", path: "/memories" }, /^Error: \/memories itself is always there/],
  [{ command: "create", path: "/memories", file_text: "x" }, /^Error: \/memories itself is always there/],
  [{ command: "create", path: "/memories/full/a", file_text: "x" }, /^Error: \/memories\/full is a file, so /],
  [{ command: "rename", old_path: "/memories/dir", new_path: "/memories/dir/b" }, /cannot be moved into itself/],
  [{ command: "create", path, file_text: "x".repeat(300_000) }, /^Error: .* has at most 262144\. Split it/],
] as const)("a mistake is told, and changes nothing: %j", async (command, told) => {
  const { execute, files } = stage();
  await files.create("/memories/full", "kept");
  await files.create("/memories/dir/file", "kept");
  const before = await files.list();
  expect(await execute(command as never)).toMatch(told);
  expect(await files.list()).toEqual(before);
});

it("takes the arguments as JSON, too", async () => {
  const { execute } = stage();
  expect(await execute(JSON.stringify({ command: "create", path, file_text: "x" }) as never)).toMatch(/^File created/);
});

it("no path leads out of the memory, whatever the command", async () => {
  const piece = fc.constantFrom(
    ..."/ .. . %2e%2e %2E%2e%2f ..%2f \\ ..\\ memories /memories etc passwd ~ C: file: \u0000 \u2215 a a.md // ... %00".split(
      " ",
    ),
  );
  const hostile = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
    fc.array(piece, { maxLength: 8 }).map((pieces) => `/memories/${pieces.join("/")}`),
    fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => `/memories${text}`),
  );
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (one, other) => {
      const { run, files } = stage();
      await files.create("/memories/a", "text");
      const answers = [
        await run("create", { path: one, file_text: "new" }),
        await run("rename", { old_path: one, new_path: other }),
        await run("insert", { path: other, insert_line: 0, insert_text: "x" }),
        await run("view", { path: one }),
        await run("rename", { old_path: "/memories/a", new_path: other }),
      ];
      expect(answers.every((answer) => typeof answer === "string" && answer !== "")).toBe(true);
      const everything = await files.list();
      for (const file of everything) {
        expect(file.path).toMatch(/^\/memories\/[^\\]+$/);
        expect(file.path.split("/").slice(1)).not.toContain("..");
        expect(file.path.split("/").slice(1)).not.toContain("");
        // What is kept is found again under its own path.
        expect(await run("view", { path: file.path })).toMatch(/^Here's the content/);
      }
      // No file is made or lost but by the commands: one at first, and one that may have been created.
      expect([1, 2]).toContain(everything.length);
      await run("delete", { path: other });
      expect((await files.list()).every((file) => file.path.startsWith("/memories/"))).toBe(true);
    }),
  );
});

it("answers a loop of one's own with blocks, and marks mistakes as errors", async () => {
  const { answer, tool, run } = stage();
  expect(tool).toEqual({ type: "memory_20250818", name: "memory" });
  await run("create", { path, file_text: "x" });
  const use = (input: unknown): object => ({ type: "tool_use", id: "toolu_1", name: "memory", input });
  expect(await answer(use({ command: "delete", path }))).toEqual({
    type: "tool_result",
    tool_use_id: "toolu_1",
    content: `Successfully deleted ${path}`,
  });
  expect(await answer(use({ command: "delete", path }))).toMatchObject({ is_error: true });
  expect(await answer({ ...use({}), name: "other" })).toBeUndefined();
  expect(await answer({ type: "text", text: "memory" })).toBeUndefined();
});

it("a store that fails is the host's to hear, and a loop's answer tells it", async () => {
  const store = ramStore();
  const failing = new Proxy(store, {
    get: (target, name) =>
      name === "info" ? () => Promise.reject(new Error("EIO")) : (Reflect.get(target, name) as unknown),
  });
  const { execute, handlers, answer } = anthropicMemoryTool(new MemoryFiles(failing, {}));
  await expect(execute({ command: "view", path: "/memories" })).rejects.toThrow("EIO");
  await expect(handlers.view({ command: "view", path: "/memories" })).rejects.toThrow("EIO");
  const block = { type: "tool_use", id: "t", name: "memory", input: { command: "view", path: "/memories" } };
  expect(await answer(block)).toMatchObject({ is_error: true, content: "Error: EIO" });
});

it("refuses what are no files, and unknown options", () => {
  expect(() => anthropicMemoryTool({} as never)).toThrow(/takes new MemoryFiles/);
  const files = new MemoryFiles(ramStore(), {});
  expect(() => anthropicMemoryTool(files, { maxCharacter: 5 } as never)).toThrow(/no option "maxCharacter"/);
});
