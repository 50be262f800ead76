/** What a digest makes of edits that failed, of commands that change files, and of results that show no file. */
import { describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import type { HistoryBuilder } from "../kit/inside/message.ts";
import { digestAfter, filesIn, historyOf } from "./digests.ts";
import type { Call } from "./digests.ts";

const path = "src/server.ts";
const known = "export const retryLimit = 3;";
const wanted = "export const retryLimit = 17;";
const file = `import { listen } from "./net.ts";\n${known}\nexport const startServer = () => listen(retryLimit);`;

/** A session in which the file was read and some calls followed. */
function sessionOf(...calls: readonly Call[]): HistoryBuilder {
  return historyOf(["read", { path }, file], ...calls);
}

/** The lines that the digest shows of a file, those of which it is sure and those that may have changed. */
function shownOf(history: HistoryBuilder, of = path): ReturnType<typeof filesIn> {
  const text = digestAfter(history, 3_000, 20);
  expect(text).not.toBe("");
  return filesIn(text, of);
}

const edit = { path, oldText: known, newText: wanted };
const diff = `--- a/${path}\n+++ b/${path}\n@@ -2,1 +2,1 @@\n-${known}\n+${wanted}\n`;

describe("an edit whose result speaks of a failure", () => {
  it.each([
    "<tool_use_error>String to replace not found in file.</tool_use_error>",
    "The edit was not applied: the old text is not in the file.",
    "The tool execution failed with the following error:\n<error>\nno match\n</error>",
    "<error_details>No sufficiently similar match found</error_details>",
    "# 1 SEARCH/REPLACE block failed to match!",
    "Your proposed edit has introduced new syntax error(s). Please read this message and retry.",
    "EACCES: permission denied, open src/server.ts",
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "Found 2 matches of the string to replace, but replace_all is false.",
    '{"success":false,"message":"no match"}',
    "Operation cancelled by user",
  ])("is not taken for done: %s", (result) => {
    const { sure, doubtful } = shownOf(sessionOf(["edit", edit, result]));
    expect(sure + doubtful).not.toContain(wanted);
    expect(sure).not.toContain(known);
    expect(doubtful).toContain(known);
  });

  it.each([
    "The file src/server.ts has been updated. 2 errors were found by the linter.",
    "Edit applied successfully.\n\nLSP errors detected in this file, please fix:",
    "\nThis file has errors, please fix\n<file_diagnostics>",
    "The file has been edited. Here's the result of running `cat -n` on a snippet:\n     2\texport const retryLimit = 17;",
    "",
  ])("is done where it speaks of success: %s", (result) => {
    expect(shownOf(sessionOf(["edit", edit, result])).sure).toContain(wanted);
  });

  it.each([
    [`patch -p1 <<'EOF'\n${diff}EOF`, `patching file ${path}\nHunk #1 FAILED at 2.\n1 out of 1 hunk FAILED`],
    [`git apply --check <<'EOF'\n${diff}EOF`, ""],
    [`patch -p1 --dry-run <<'EOF'\n${diff}EOF`, `checking file ${path}`],
  ])("or is a trial, as of %s", (command, result) => {
    const { sure, doubtful } = shownOf(sessionOf(["bash", { command }, result]));
    expect(sure + doubtful).toContain(known);
    expect(sure + doubtful).not.toContain(wanted);
  });

  it.each(["git apply", "git apply -R", "patch -p1"])("is not asked of a diff that %s reads", (how) => {
    const command = `${how} <<'EOF'\n${diff}EOF`;
    expect(shownOf(sessionOf(["bash", { command }, ""])).sure).not.toContain(known);
  });
});

describe("a command that may have changed a file", () => {
  it.each([
    "sed -i '2s/3/17/' src/*.ts",
    "find src -name '*.ts' | xargs sed -i 's/= 3/= 17/'",
    'find src -name "*.ts" -exec sed -i "s/= 3/= 17/" {} +',
    "find src -type f -exec sed -i 's/= 3/= 17/' {} +",
    "for f in src/*.ts; do sed -i 's/= 3/= 17/' $f; done",
    "python3 - <<'E'\nfor f in glob('src/*.ts'):\n  Path(f).write_text('')\nE",
    "rm -f src/*.ts",
    "rm -rf src",
    "mv src lib",
    "patch -p1 < fix.diff",
    "apply_patch < fix.patch",
    `ed -s ${path} <<'E'\n2s/3/17/\nw\nq\nE`,
    `vim -c '%s/= 3/= 17/' -c wq ${path}`,
    `jq . ${path} | sponge ${path}`,
    `sd '= 3' '= 17' ${path}`,
    "unzip -o src.zip",
    "tar xf src.tgz",
    "rsync -a build/ src/",
    "npx biome check --apply .",
  ])("makes its lines doubtful: %s", (command) => {
    const history = sessionOf(["bash", { command }, ""]);
    expect(shownOf(history).sure).not.toContain(known);
    const { text } = recallFrom(history.messages, { query: path }, { counter: estimate, maxTokens: 400 });
    const isSure = text.includes("as it stands") && !text.includes("may have changed it since");
    expect(isSure).toBe(false);
  });

  it("makes them doubtful in recall, too, where another line was read since", () => {
    const change = `perl -pi -e 's/= 3/= 17/' ${path}`;
    const [first = ""] = file.split("\n");
    const history = sessionOf(
      ["bash", { command: change }, ""],
      ["bash", { command: `head -1 ${path}` }, `${first}\n`],
    );
    const { text } = recallFrom(history.messages, { query: path }, { counter: estimate, maxTokens: 400 });
    expect(text).toContain(known);
    expect(text).toContain("may have changed it since");
  });

  it.each([
    "rm -rf /tmp/build-*",
    "find src -name '*.ts'",
    "find src -name '*.ts' | xargs grep retryLimit",
    "unzip -l src.zip",
    "git apply --check fix.diff",
    "patch -p1 --dry-run < fix.diff",
    "sed -i 's/= 3/= 17/' lib/*.js",
    "rm -rf dist",
  ])("is none that names others or only looks: %s", (command) => {
    expect(shownOf(sessionOf(["bash", { command }, ""])).sure).toContain(known);
  });

  it("is read in time that its length allows, also where it is no pattern that a path could have", () => {
    const commands = [
      `sed -i s/a/b/ ${"**/".repeat(60)}x`,
      `sed -i s/a/b/ ${"a*".repeat(90)}`,
      `git ${"-c ".repeat(60)}log`,
      `base64 -d > out.bin <<'E'\n${"QUJD".repeat(100_000)}*\nE\ntee other.txt`,
    ];
    for (const command of commands) expect(shownOf(sessionOf(["bash", { command }, ""])).sure).toContain(known);
  });

  it("leaves nothing of a file in whose place another was moved", () => {
    const { sure, doubtful } = shownOf(sessionOf(["bash", { command: `mv src/unknown.ts ${path}` }, ""]));
    expect(sure + doubtful).not.toContain(known);
  });
});

describe("a result that shows a file", () => {
  it("is none where it says that there is no file", () => {
    const history = sessionOf(["bash", { command: `cat ${path}` }, `cat: ${path}: No such file or directory`]);
    const { sure } = shownOf(history);
    expect(sure).not.toContain("No such file");
    expect(sure).toContain(known);
  });

  it.each([
    ["read", { path, offset: 2, limit: 1 }, `     2\t${known}`],
    ["bash", { command: `nl -ba ${path} | sed -n '2,2p'` }, `     2\t${known}`],
    [
      "str_replace_editor",
      { command: "view", path, view_range: [2, 2] },
      `Here's the result of running \`cat -n\` on ${path}:\n     2\t${known}\n`,
    ],
    [
      "read_file",
      { absolute_path: path, offset: 1, limit: 1 },
      `IMPORTANT: The file content has been truncated.\nStatus: Showing lines 2-2 of 3 total lines.\nAction: To read more of the file, use offset: 2.\n\n--- FILE CONTENT (truncated) ---\n${known}`,
    ],
  ] as const)("gives its lines without what the tool put around them: %s %j", (tool, args, result) => {
    const { sure } = shownOf(sessionOf([tool, args, result]));
    expect(sure.split("\n").slice(1)).toEqual(file.split("\n").map((line) => ` ${line}`));
    const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-${known}\n+${wanted}\n*** End Patch`;
    const patched = shownOf(sessionOf([tool, args, result], ["apply_patch", { input: patch }, "Success"]));
    expect(patched.sure).toContain(wanted);
    expect(patched.sure + patched.doubtful).not.toContain(known);
  });

  it("loses a short line that a patch took out, though the patch names a place that is not known", () => {
    const patch = (from: string, to: string) =>
      `*** Begin Patch\n*** Update File: src/new.ts\n@@\n // a line that nothing showed before ${from}\n-${from}\n+${to}\n*** End Patch`;
    const history = sessionOf(
      ["apply_patch", { input: patch("const before = 1;", "x75") }, "Success"],
      ["apply_patch", { input: patch("x75", "const behind = 2;") }, "Success"],
    );
    const { sure, doubtful } = shownOf(history, "src/new.ts");
    expect(sure + doubtful).toContain("const behind = 2;");
    expect(`${sure}\n${doubtful}`).not.toMatch(/^ x75$/m);
  });
});
