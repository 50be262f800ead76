/** Old texts in the digest: however a file is spelled and shown, a text that an edit took out never stands as current. */
import { describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import type { JsonObject } from "../kit/inside/message.ts";
import { digestAfter, filesIn, historyOf } from "./digests.ts";
import type { Call } from "./digests.ts";

const done = "The file has been updated successfully.";
const text = "const alphaValue = 1;\nconst betaValue = 900;\nconst gammaValue = 3;\nconst deltaValue = 4;";
const change = { old_string: "betaValue = 900", new_string: "betaValue = 600" };

/** The lines that a digest shows of files: those that stand for certain, and all. */
function filesAfter(...calls: readonly Call[]): { readonly sure: string; readonly all: string } {
  const { sure, doubtful } = filesIn(digestAfter(historyOf(...calls), 6_000, 40));
  return { sure, all: `${sure}\n${doubtful}` };
}

function readAs(path: string, shown = text): Call {
  return ["Read", { file_path: path }, shown];
}

function editAs(path: string, args: JsonObject = change): Call {
  return ["Edit", { file_path: path, ...args }, done];
}

describe("a file under two spellings", () => {
  it.each([
    ["C:\\w\\src\\a.ts", "src\\a.ts"],
    ["C:\\w\\src\\a.ts", "src/a.ts"],
    ["C:\\w\\src\\a.ts", "c:/w/src/a.ts"],
    ["/c/w/src/a.ts", "C:\\w\\src\\a.ts"],
    ["src\\a.ts", "C:\\w\\src\\a.ts"],
    ["C:\\w\\my docs\\a.ts", "my docs\\a.ts"],
    [".\\src\\a.ts", "src\\a.ts"],
    ["/w/src/./a.ts", "/w/src/a.ts"],
    ["/w/lib/../src/a.ts", "/w//src/a.ts"],
    ["~/w/src/a.ts", "/home/u/w/src/a.ts"],
    ["src/a b.ts", "/w/src/a b.ts"],
  ])("is one file: %s, then %s", (read, edit) => {
    const { sure, all } = filesAfter(readAs(read), editAs(edit));
    expect(sure).toContain("const betaValue = 600;");
    expect(sure).toContain("const alphaValue = 1;");
    expect(all).not.toContain("betaValue = 900");
    // A path with a space is several words to recall.
    if (edit.includes(" ")) return;
    const { messages } = historyOf(readAs(read), editAs(edit));
    const recalled = recallFrom(messages, { query: edit }, { maxTokens: 600, counter: estimate }).text;
    expect(recalled.slice(recalled.indexOf("as it stands"))).toMatch(
      /^as it stands[^\n]*\n const alpha.*\n const betaValue = 600;/,
    );
  });

  it.each([
    ["/w/a.ts", "a.ts"],
    ["a.ts", "/w/a.ts"],
  ])("is doubtful where the folder is not known: %s, then %s", (read, edit) => {
    const { sure, all } = filesAfter(readAs(read), editAs(edit));
    expect(sure).not.toContain("betaValue = 900");
    expect(sure).toContain("betaValue = 600");
    expect(all).toContain("betaValue = 900");
  });

  it("leaves a file in peace whose path says that it is another", () => {
    const { sure } = filesAfter(readAs("packages/b/a.ts"), readAs("a.ts"), editAs("a.ts"));
    expect(sure).toContain("betaValue = 900");
    expect(sure).toContain("betaValue = 600");
  });

  it("is the one with the old text, where a relative path may be of two; the other is doubtful", () => {
    const other = readAs("/w/p1/src/a.ts", "const firstValue = 1;\nconst sharedName = 2;\nexport { firstValue };");
    const { sure, all } = filesAfter(other, readAs("/w/p2/src/a.ts"), editAs("src/a.ts"));
    expect(sure).not.toContain("betaValue = 900");
    expect(sure.slice(sure.indexOf("/w/p2"))).toContain("betaValue = 600");
    expect(all).toMatch(/\/w\/p1\/src\/a\.ts \(m3; m\d+ may have changed it since\)/);
  });

  it.each([
    "sed -i 's/900/600/' src/*.ts",
    "(Get-Content src\\a.ts) -replace '900','600' | Set-Content src\\a.ts",
    "Set-Content -Path C:\\w\\src\\a.ts -Value 'const betaValue = 600;'",
    "del C:\\w\\src\\a.ts",
  ])("is doubtful behind a command that names it: %s", (command) => {
    const { sure, all } = filesAfter(readAs("C:\\w\\src\\a.ts"), ["shell", { command }, ""]);
    expect(sure).not.toContain("betaValue = 900");
    expect(all).toContain("betaValue = 900");
  });
});

describe("an old text that is not known whole", () => {
  const part: Call = ["Read", { file_path: "/w/a.ts", offset: 2, limit: 2 }, text.split("\n").slice(1, 3).join("\n")];
  const elsewhere = { old_string: "omegaValue", new_string: "psiValue" };
  const long = `const table = { ${Array.from({ length: 60 }, (_, at) => `key${at}: ${at * 7}`).join(", ")} };`;

  it.each([
    [
      "ends behind the last known line",
      readAs("/w/a.ts"),
      { old_string: "Value = 4;\n", new_string: "Value = 5;\n" },
      "deltaValue = 4",
    ],
    [
      "begins before the first known line and ends within it",
      part,
      {
        old_string: "const alphaValue = 1;\nconst betaValue = 9",
        new_string: "const alphaValue = 1;\nconst betaValue = 6",
      },
      "betaValue = 900",
    ],
    [
      "reaches into the cut of a long line",
      readAs("/w/a.ts", `${text}\n${long}`),
      { old_string: long.slice(60, 300), new_string: "x" },
      "key6: 42",
    ],
    ["stands nowhere, though all of the file was read", readAs("/w/a.ts"), elsewhere, "betaValue = 900"],
  ] as const)("makes what stands doubtful: it %s", (_, read, args, stale) => {
    const { sure, all } = filesAfter(read, editAs("/w/a.ts", args));
    expect(sure).not.toContain(stale);
    expect(all).toContain(stale);
  });

  it("leaves what stands in peace where it is elsewhere in a file that is known in part", () => {
    const { sure } = filesAfter(part, editAs("/w/a.ts", elsewhere));
    expect(sure).toContain("betaValue = 900");
  });
});

describe("a notebook", () => {
  const source = "import numpy as np\nlearning_rate = 0.1\nmodel = build(learning_rate)";
  const fresh = source.replace("0.1", "0.05");
  const cells = `<cell id="c1">${source}</cell id="c1">`;
  const raw = JSON.stringify({ cells: [{ id: "c1", source: source.split("\n").map((line) => `${line}\n`) }] }, null, 1);

  it.each([
    ["NotebookEdit", { notebook_path: "/w/a.ipynb", cell_id: "c1", new_source: fresh }],
    ["edit_notebook_file", { filePath: "/w/a.ipynb", cellId: "c1", newCode: fresh, editType: "edit" }],
    ["edit_notebook", { target_notebook: "/w/a.ipynb", cell_idx: 0, old_string: source, new_string: fresh }],
    ["overwrite_cell", { path: "/w/a.ipynb", cell_index: 0, content: fresh }],
  ])("shows the text that %s put into a cell, and the rest as doubtful", (name, args) => {
    for (const shown of [cells, raw, raw.replaceAll("\n", "\r\n")]) {
      const { sure, all } = filesAfter(readAs("/w/a.ipynb", shown), [name, args, "Updated cell."]);
      expect(sure).not.toContain("learning_rate = 0.1");
      expect(sure).toContain("learning_rate = 0.05");
      expect(all).toContain("learning_rate = 0.1");
    }
  });

  it("is doubtful where a cell was deleted", () => {
    const args = { notebook_path: "/w/a.ipynb", cell_id: "c1", new_source: "gone_text = 1", edit_mode: "delete" };
    const { sure, all } = filesAfter(readAs("/w/a.ipynb", cells), ["NotebookEdit", args, "Deleted cell."]);
    expect(sure).not.toContain("learning_rate");
    expect(all).not.toContain("gone_text");
  });
});
