import { describe, expect, it } from "vitest";
import type { JsonObject } from "../kit/inside/message.ts";
import { actionsOf, outputOf } from "../kit/inside/window.ts";
import type { FileAction } from "../kit/inside/window.ts";
import { digestAfter, historyOf } from "./digests.ts";

const path = "/r/a.ts";
const notebook = "/r/a.ipynb";
/** An edit of `a` to `b`. */
const edit = (more: object = {}): FileAction => ({
  kind: "edit",
  path,
  changes: [{ before: "a", after: "b", ...more }],
});
const everywhere = edit({ everywhere: true });
const read: FileAction = { kind: "read", path, whole: true };
const part = (from: number): FileAction => ({ kind: "read", path, from, whole: false });
const write: FileAction = { kind: "write", path, text: "x" };
const touch = (command: string): FileAction => ({ kind: "touch", command, wide: false });
const cell: FileAction = { kind: "edit", path: notebook, changes: [{ before: "", after: "x = 1", hunk: {} }] };
const [claude, opencode, pi] = [
  { old_string: "a", new_string: "b" },
  { oldString: "a", newString: "b" },
  { oldText: "a", newText: "b" },
];
const editor = "str_replace_editor";
const cline = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n";
const older = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE";

describe("a tool of an agent", () => {
  it.each<[string, string, JsonObject, ...FileAction[]]>([
    ["Claude Code", "Read", { file_path: path }, read],
    ["Claude Code", "Read", { file_path: path, offset: 9, limit: 3 }, part(9)],
    ["Claude Code", "Write", { file_path: path, content: "x" }, write],
    ["Claude Code", "Edit", { file_path: path, ...claude, replace_all: false }, edit()],
    ["Claude Code", "Edit", { file_path: path, ...claude, replace_all: true }, everywhere],
    ["Claude Code", "MultiEdit", { file_path: path, edits: [claude] }, edit()],
    ["Claude Code", "NotebookEdit", { notebook_path: notebook, new_source: "x = 1" }, touch(notebook), cell],
    ["Claude Code", "Grep", { pattern: "x", path: "/r/src", output_mode: "content" }],
    ["OpenCode", "edit", { filePath: path, ...opencode, replaceAll: true }, everywhere],
    ["Gemini CLI", "read_file", { absolute_path: path }, read],
    ["Gemini CLI", "replace", { file_path: path, instruction: "do", ...claude, expected_replacements: 2 }, everywhere],
    ["Gemini CLI", "write_file", { file_path: path, content: "x" }, write],
    ["Anthropic's editor", editor, { command: "view", path, view_range: [3, 9] }, part(3)],
    ["Anthropic's editor", editor, { command: "create", path, file_text: "x" }, write],
    ["Anthropic's editor", editor, { command: "str_replace", path, old_str: "a", new_str: "b" }, edit()],
    [
      "Anthropic's editor",
      editor,
      { command: "insert", path, insert_line: 4, new_str: "b" },
      { kind: "insert", path, after: 4, text: "b" },
    ],
    ["Anthropic's editor", editor, { command: "undo_edit", path }, touch(path)],
    ["pi", "edit", { path, edits: [pi] }, edit()],
    ["Oh My Pi", "read", { path: `${path}:183-480`, i: "Reading" }, part(183)],
    ["Oh My Pi", "read", { path: "pr://140", i: "Reading" }],
    ["Cline", "replace_in_file", { path, diff: cline }, edit({ hunk: {} })],
    ["Cline before 3.8", "replace_in_file", { path, diff: older }, edit({ hunk: {} })],
  ])("%s: %s %j", (_, name, args, ...actions) => expect(actionsOf(name, args)).toEqual(actions));

  it("that reads many files names each", () => {
    const args = { paths: ["a.ts", "b.ts"] };
    expect(actionsOf("read_many_files", args).map(({ kind }) => kind)).toEqual(["look", "look"]);
    const output = outputOf("--- a.ts ---\n\none\ntwo\n\n--- b.ts ---\n\nthree\n\n--- End of content ---");
    expect(actionsOf("read_many_files", args, {}, output)).toEqual([
      { kind: "read", path: "a.ts", from: 1, whole: true, part: "one\ntwo" },
      { kind: "read", path: "b.ts", from: 1, whole: true, part: "three" },
    ]);
  });
});

describe("a digest", () => {
  const file = "const alphaValue = oldName();\nconst betaValue = oldName();\nconst gammaValue = oldName(oldName());";
  /** The digest after a file was read and a call came. */
  const after = (shown: string, name: string, args: JsonObject, result = "done"): string =>
    digestAfter(historyOf(["read", { path: "src/a.ts" }, shown], [name, args, result]));

  it("shows an edit of every place at every place", () => {
    const change = { path: "src/a.ts", oldText: "oldName", replaceAll: true };
    const text = after(file, "edit", { ...change, newText: "freshName" });
    expect(text).not.toContain("oldName(");
    expect(text).toContain("const gammaValue = freshName(freshName());");
    const longer = after(file, "edit", { ...change, newText: "myoldNameToo" });
    expect(longer).toContain("const betaValue = myoldNameToo();");
    expect(longer).not.toMatch(/ oldName\(/);
  });

  it("shows the parts of one command's output as their files' text, and no heading as a line of them", () => {
    const command = "cat src/a.ts; echo '--- second ---'; sed -n '20,21p' src/b.ts";
    const output = `${file}\n--- second ---\nconst twenty = 20;\nconst next = 21;`;
    const text = digestAfter(historyOf(["bash", { command }, output]));
    expect(text).toMatch(/^--- src\/a\.ts \(m3\)\n const alphaValue/m);
    expect(text).toMatch(/^--- src\/b\.ts \(m3\)\n… 20\n const twenty = 20;\n const next = 21;/m);
  });

  it("says nothing certain of a file that a line changed behind showing it", () => {
    const text = after(file, "bash", { command: "cat src/a.ts && sed -i 's/oldName/freshName/' src/a.ts" }, file);
    expect(text).toMatch(/^--- src\/a\.ts \(m3; m5 may have changed it since\)$/m);
  });

  it("shows nothing of a long line that an edit took out", () => {
    const long = `const alphaValue = "${"many words ".repeat(40)}";\nconst betaValue = 2;`;
    const change = { path: "src/a.ts", oldText: long, newText: "const alphaValue = 1;" };
    const text = after(`${long}\nconst gammaValue = 3;`, "edit", change);
    expect(text).not.toContain("many words");
    expect(text).toContain("const alphaValue = 1;");
    expect(text).toContain("const gammaValue = 3;");
  });

  it("takes what a reader left out for a gap", () => {
    const shown = "import first from 'first';\n…\nexport function second() { … }\nexport const third = 3;";
    const text = digestAfter(historyOf(["read", { path: "src/a.ts" }, shown]));
    expect(text).toContain("\n import first from 'first';\n…\n export const third = 3;");
    expect(text).not.toContain("{ … }");
  });
});
