import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { readTranscripts } from "windrow/transcript";
import { HistoryBuilder, messageText, resultText, toolCalls, toolResults } from "../kit/inside/message.ts";
import type { JsonValue } from "../kit/inside/message.ts";
import { actionsOf, outputOf } from "../kit/inside/window.ts";
import type { FileAction } from "../kit/inside/window.ts";

const edit = (path: string, before: string, after: string, more: object = {}): FileAction => {
  return { kind: "edit", path, changes: [{ before, after, ...more }] };
};

describe("a tool of an agent", () => {
  it.each<[string, string, JsonValue, readonly FileAction[]]>([
    ["Claude Code", "Read", { file_path: "/r/a.ts" }, [{ kind: "read", path: "/r/a.ts", whole: true }]],
    [
      "Claude Code",
      "Read",
      { file_path: "/r/a.ts", offset: 9, limit: 3 },
      [{ kind: "read", path: "/r/a.ts", from: 9, whole: false }],
    ],
    ["Claude Code", "Write", { file_path: "/r/a.ts", content: "x" }, [{ kind: "write", path: "/r/a.ts", text: "x" }]],
    [
      "Claude Code",
      "Edit",
      { file_path: "/r/a.ts", old_string: "a", new_string: "b", replace_all: false },
      [edit("/r/a.ts", "a", "b")],
    ],
    [
      "Claude Code",
      "Edit",
      { file_path: "/r/a.ts", old_string: "a", new_string: "b", replace_all: true },
      [edit("/r/a.ts", "a", "b", { everywhere: true })],
    ],
    [
      "Claude Code",
      "MultiEdit",
      { file_path: "/r/a.ts", edits: [{ old_string: "a", new_string: "b" }] },
      [edit("/r/a.ts", "a", "b")],
    ],
    [
      "Claude Code",
      "NotebookEdit",
      { notebook_path: "/r/a.ipynb", cell_id: "3", new_source: "x = 1" },
      [
        { kind: "touch", command: "/r/a.ipynb", wide: false },
        { kind: "edit", path: "/r/a.ipynb", changes: [{ before: "", after: "x = 1", hunk: {} }] },
      ],
    ],
    ["Claude Code", "Grep", { pattern: "x", path: "/r/src", output_mode: "content" }, []],
    [
      "OpenCode",
      "edit",
      { filePath: "/r/a.ts", oldString: "a", newString: "b", replaceAll: true },
      [edit("/r/a.ts", "a", "b", { everywhere: true })],
    ],
    ["Gemini CLI", "read_file", { absolute_path: "/r/a.ts" }, [{ kind: "read", path: "/r/a.ts", whole: true }]],
    [
      "Gemini CLI",
      "replace",
      { file_path: "/r/a.ts", instruction: "do", old_string: "a", new_string: "b", expected_replacements: 2 },
      [edit("/r/a.ts", "a", "b", { everywhere: true })],
    ],
    [
      "Gemini CLI",
      "write_file",
      { file_path: "/r/a.ts", content: "x" },
      [{ kind: "write", path: "/r/a.ts", text: "x" }],
    ],
    [
      "OpenHands",
      "str_replace_editor",
      { command: "view", path: "/r/a.ts", view_range: [3, 9] },
      [{ kind: "read", path: "/r/a.ts", from: 3, whole: false }],
    ],
    [
      "OpenHands",
      "str_replace_editor",
      { command: "create", path: "/r/a.ts", file_text: "x" },
      [{ kind: "write", path: "/r/a.ts", text: "x" }],
    ],
    [
      "OpenHands",
      "str_replace_editor",
      { command: "str_replace", path: "/r/a.ts", old_str: "a", new_str: "b" },
      [edit("/r/a.ts", "a", "b")],
    ],
    [
      "OpenHands",
      "str_replace_editor",
      { command: "insert", path: "/r/a.ts", insert_line: 4, new_str: "b" },
      [{ kind: "insert", path: "/r/a.ts", after: 4, text: "b" }],
    ],
    [
      "OpenHands",
      "str_replace_editor",
      { command: "undo_edit", path: "/r/a.ts" },
      [{ kind: "touch", command: "/r/a.ts", wide: false }],
    ],
    ["pi", "edit", { path: "a.ts", edits: [{ oldText: "a", newText: "b" }] }, [edit("a.ts", "a", "b")]],
    [
      "Oh My Pi",
      "read",
      { path: "/r/a.rs:183-480", i: "Reading" },
      [{ kind: "read", path: "/r/a.rs", from: 183, whole: false }],
    ],
    ["Oh My Pi", "read", { path: "pr://140", i: "Reading" }, []],
    [
      "Cline",
      "replace_in_file",
      { path: "a.ts", diff: "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n" },
      [edit("a.ts", "a", "b", { hunk: {} })],
    ],
    [
      "Roo",
      "apply_diff",
      { path: "a.ts", diff: "<<<<<<< SEARCH\n:start_line:7\n-------\na\n=======\nb\n>>>>>>> REPLACE" },
      [edit("a.ts", "a", "b", { hunk: { at: 7 } })],
    ],
  ])("%s: %s %j", (_, name, args, actions) => expect(actionsOf(name, args)).toEqual(actions));

  it("that reads many files names each", () => {
    const args = { paths: ["a.ts", "b.ts"] };
    expect(actionsOf("read_many_files", args).map(({ kind }) => kind)).toEqual(["look", "look"]);
    const output = outputOf("--- a.ts ---\n\none\ntwo\n\n--- b.ts ---\n\nthree\n\n--- End of content ---");
    expect(actionsOf("read_many_files", args, {}, output).slice(2)).toEqual([
      { kind: "read", path: "a.ts", from: 1, whole: true, part: "one\ntwo" },
      { kind: "read", path: "b.ts", from: 1, whole: true, part: "three" },
    ]);
  });

  it("that shows the file it has open is read by the result", () => {
    const output = outputOf(
      "Text replaced.\n[File: /r/a.py (9 lines total)]\n(2 more lines above)\n3:one\n4:two\n(5 more lines below)",
    );
    expect(actionsOf("edit", { search: "a", replace: "b" }, {}, output)).toEqual([
      { kind: "touch", command: "/r/a.py", wide: false },
      { kind: "search", path: "/r/a.py", part: "3:one\n4:two" },
    ]);
  });
});

const filler = Array.from({ length: 30 }, (_, line) => `const filler_${line} = compute("${line}");`).join("\n");

/** The digest of a window long after these calls. */
function digestAfter(calls: readonly (readonly [string, Record<string, string>, string, object?])[]): string {
  const history = new HistoryBuilder().user("Mend the parser.");
  for (const [at, [name, args, answer, more]] of calls.entries()) {
    const call = { type: "tool-call" as const, callId: `c${at}`, name, args: { ...args, ...more } };
    history.add("assistant", [call]).result(`c${at}`, answer);
  }
  for (let step = 0; step < 14; step++)
    history.assistant("", [`f${step}`, "read", { path: `lib/other-${step}.ts` }]).result(`f${step}`, filler);
  const { messages } = composeWindow({ messages: history.user("Go on.").messages, budget: 4_000 });
  return messages.map(messageText).find((text) => text.startsWith("[Windrow: a record")) ?? "";
}

describe("a digest", () => {
  const file = "const alphaValue = oldName();\nconst betaValue = oldName();\nconst gammaValue = oldName(oldName());";

  it("shows an edit of every place at every place", () => {
    const change = { path: "src/a.ts", oldText: "oldName", newText: "freshName" };
    const text = digestAfter([
      ["read", { path: "src/a.ts" }, file],
      ["edit", change, "done", { replaceAll: true }],
    ]);
    expect(text).not.toContain("oldName(");
    expect(text).toContain("const gammaValue = freshName(freshName());");
    const longer = digestAfter([
      ["read", { path: "src/a.ts" }, file],
      ["edit", { ...change, newText: "myoldNameToo" }, "done", { replaceAll: true }],
    ]);
    expect(longer).toContain("const betaValue = myoldNameToo();");
    expect(longer).not.toMatch(/ oldName\(/);
  });

  it("shows the parts of one command's output as their files' text, and no heading as a line of them", () => {
    const command = "cat src/a.ts; echo '--- second ---'; sed -n '20,21p' src/b.ts";
    const text = digestAfter([["bash", { command }, `${file}\n--- second ---\nconst twenty = 20;\nconst next = 21;`]]);
    expect(text).toMatch(/^--- src\/a\.ts \(m3\)\n const alphaValue/m);
    expect(text).toMatch(/^--- src\/b\.ts \(m3\)\n… 20\n const twenty = 20;\n const next = 21;/m);
  });

  it("says nothing certain of a file that a line changed behind showing it", () => {
    const text = digestAfter([
      ["read", { path: "src/a.ts" }, file],
      ["bash", { command: "cat src/a.ts && sed -i 's/oldName/freshName/' src/a.ts" }, file],
    ]);
    expect(text).toMatch(/^--- src\/a\.ts \(m3; m5 may have changed it since\)$/m);
  });

  it("shows nothing of a long line that an edit took out", () => {
    const long = `const alphaValue = "${"many words ".repeat(40)}";`;
    const text = digestAfter([
      ["read", { path: "src/a.ts" }, `${long}\nconst betaValue = 2;\nconst gammaValue = 3;`],
      [
        "edit",
        { path: "src/a.ts", oldText: `${long}\nconst betaValue = 2;`, newText: "const alphaValue = 1;" },
        "done",
      ],
    ]);
    expect(text).not.toContain("many words");
    expect(text).toContain("const alphaValue = 1;");
    expect(text).toContain("const gammaValue = 3;");
  });

  it("takes what a reader left out for a gap", () => {
    const shown = "import first from 'first';\n…\nexport function second() { … }\nexport const third = 3;";
    const text = digestAfter([["read", { path: "src/a.ts" }, shown]]);
    expect(text).toContain("\n import first from 'first';\n…\n export const third = 3;");
    expect(text).not.toContain("{ … }");
  });
});

const open = "../shared/data/open";
const changing = /^(?:edit|multiedit|write|apply_patch|notebookedit|replace|write_file|replace_in_file|str_replace)$/i;
const reads = /^(?:read|view|open|read_file|read_many_files)$/i;
const readsLine = /(?:^|[;&\n]\s*)(?:cat|sed -n|nl|head|tail|rg -n|grep -n|grep -rn)\s+[^|;&\n]*\.\w/;
const changesLine =
  /(?:^|[;&\n]\s*)(?:sed -i|tee|mv|rm|git (?:checkout|restore|stash|reset)|apply_patch|cargo fmt(?! .*--check))\b|cat\s*>\s*\S+\s*<</;
const address = /"(?:pr|conflict|xd|https?|skill|agent):\/\//;

/** The share of calls that read or change a file, by their names or the words of a line, whose effect is understood. */
async function understoodIn(file: string): Promise<readonly (readonly [string, number, number])[]> {
  const transcripts = await readTranscripts(file);
  return transcripts.map(({ id, messages }) => {
    const results = new Map(messages.flatMap(toolResults).map((result) => [result.callId, resultText(result)]));
    const understood = messages.flatMap(toolCalls).flatMap(({ callId, name, args }): readonly boolean[] => {
      const texts = Object.values(args ?? {}).filter((value) => typeof value === "string");
      const line = texts.join("\n").replaceAll("\\n", "\n").replaceAll(/cmd:"/g, "\n");
      const verb = texts.find((text) => /^(?:view|create|str_replace|insert|undo_edit)$/.test(text)) ?? "view";
      const own = name === "str_replace_editor" ? verb : name;
      const changes = changing.test(own) || /^(?:create|insert|undo_edit)$/.test(own) || changesLine.test(line);
      if (address.test(JSON.stringify(args)) || !(changes || reads.test(own) || readsLine.test(line))) return [];
      const kinds = actionsOf(name, args, {}, outputOf(results.get(callId) ?? "")).map(({ kind }) => kind);
      const looks = kinds.some((kind) => kind === "read" || kind === "search" || kind === "look");
      return [changes ? kinds.some((kind) => !/^(?:read|search|look)$/.test(kind)) : looks || kinds.includes("touch")];
    });
    return [id, understood.filter(Boolean).length, understood.length];
  });
}

describe.skipIf(!existsSync(open))(`calls of recorded sessions (skipped where ${open} is absent)`, () => {
  it.each([
    ["long-sessions", 0.95],
    ["pi-sessions", 0.99],
    ["openhands", 0.8],
    ["swe-smith", 1],
  ])("of %s are understood, at least %d of them in each session", async (folder, least) => {
    const shares = await understoodIn(`${open}/${folder}/trajectories.jsonl.gz`);
    const low = shares.filter(([, good, all]) => good < least * all);
    expect(low).toEqual([]);
  });
});
