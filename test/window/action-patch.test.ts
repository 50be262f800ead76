import { describe, expect, it } from "vitest";
import type { JsonValue } from "../kit/inside/message.ts";
import { actionsOf } from "../kit/inside/window.ts";
import { digestAfter, historyOf } from "./digests.ts";

const old = 'export const retryLimit = 3; // "three" of `many` costs $1 \\ it';
const fresh = 'export const retryLimit = 17; // "three" of `many` costs $1 \\ it';
const patch = `*** Begin Patch\n*** Update File: src/a.ts\n@@\n-${old}\n+${fresh}\n*** End Patch`;
const edit = { kind: "edit", path: "src/a.ts", changes: [{ before: old, after: fresh, hunk: {} }] };
const diff = `--- a/src/a.ts\n+++ b/src/a.ts\n@@ -7,2 +7,2 @@ class Retry\n first line\n-${old}\n+${fresh}\n`;

const inTemplate = patch.replaceAll(/[`\\$]/g, "\\$&");
const quoted = (end: RegExp): readonly string[] => patch.split(end).map((line) => JSON.stringify(line));
const spellings: readonly (readonly [string, string, JsonValue])[] = [
  ["an argument of Codex", "apply_patch", { input: patch }],
  ["an argument of OpenCode", "apply_patch", { patchText: patch }],
  ["an argument named patch", "patch", { patch }],
  ["an argument beside a title", "edit", { i: "Raise the limit", input: patch }],
  ["text instead of arguments", "apply_patch", patch],
  ["arguments that are JSON in a text", "apply_patch", JSON.stringify({ input: patch })],
  ["a here-document", "bash", { command: `apply_patch <<'EOF'\n${patch}\nEOF` }],
  ["a here-document that expands", "bash", { command: `apply_patch <<EOF\n${inTemplate}\nEOF` }],
  ["a command in words", "shell", { command: ["apply_patch", patch] }],
  ["a shell's line in words", "shell", { command: ["bash", "-lc", `apply_patch <<'EOF'\n${patch}\nEOF`] }],
  ["single quotes", "shell", { cmd: `apply_patch '${patch}'` }],
  ["double quotes", "shell", { cmd: `apply_patch "${patch.replaceAll(/["`\\$]/g, "\\$&")}"` }],
  [
    "a program's constant",
    "exec",
    { input: `const it = ${JSON.stringify(patch)};\ntext(await tools.apply_patch(it));` },
  ],
  ["a program's argument", "exec", { input: `const r = await tools.apply_patch(${JSON.stringify(patch)}); text(r);` }],
  ["a template", "exec", { input: `await tools.apply_patch(\`${inTemplate}\`);` }],
  ["strings that are joined", "exec", { input: `await tools.apply_patch(${quoted(/(?<=\n)/).join(" +\n  ")});` }],
  ["lines of a list", "exec", { input: `await tools.apply_patch([${quoted(/\n/).join(",\n  ")}].join("\\n"));` }],
];

describe("a patch", () => {
  it.each(spellings)("is read from %s", (_, name, args) => expect(actionsOf(name, args)).toEqual([edit]));

  it("is read from a raw template, whose backslashes are its own", () => {
    const source = "await tools.apply_patch(String.raw`*** Begin Patch\n*** Add File: a\n+a\\nb\n*** End Patch`);";
    expect(actionsOf("exec", { input: source })).toEqual([{ kind: "write", path: "a", text: "a\\nb" }]);
  });

  it("of several files does what each part says, in order", () => {
    const input = [
      "*** Begin Patch",
      "*** Add File: new.txt",
      "+one",
      "+",
      "+three",
      "*** Update File: a.py",
      "*** Move to: b.py",
      "@@ class A:",
      "     def f(self):",
      "-        return 1",
      "+        return 2",
      "",
      "@@",
      "+# end",
      "*** End of File",
      "*** Delete File: gone.py",
      "*** End Patch",
    ].join("\n");
    expect(actionsOf("apply_patch", { input })).toEqual([
      { kind: "write", path: "new.txt", text: "one\n\nthree" },
      {
        kind: "edit",
        path: "a.py",
        changes: [
          {
            before: "    def f(self):\n        return 1\n",
            after: "    def f(self):\n        return 2\n",
            hunk: { under: "class A:" },
          },
          { before: "", after: "# end", hunk: {} },
        ],
      },
      { kind: "move", path: "a.py", to: "b.py" },
      { kind: "delete", path: "gone.py" },
    ]);
  });

  it.each<[string, string, JsonValue]>([
    ["git apply", "bash", { command: `git apply <<'EOF'\n${diff}EOF` }],
    ["patch", "bash", { command: `cd repo && patch -p1 <<'EOF'\n${diff}EOF` }],
    ["an argument", "apply_diff", { diff }],
  ])("in the unified form is a doubt about the files it names, from %s", (_, name, args) => {
    const [touch, ...more] = actionsOf(name, args);
    expect(more).toEqual([]);
    expect(touch).toMatchObject({ kind: "touch", wide: false, command: expect.stringContaining("src/a.ts") as string });
  });

  it("says the place of a hunk by a number, too", () => {
    const input = patch.replace("@@", "@@ -7,2 +7,2 @@ class Retry");
    const change = { before: old, after: fresh, hunk: { under: "class Retry", at: 7 } };
    expect(actionsOf("apply_patch", { input })).toMatchObject([{ kind: "edit", changes: [change] }]);
  });

  it("that depends on what runs is a doubt about the files it names", () => {
    const input =
      "await tools.apply_patch(`*** Begin Patch\n*** Update File: src/a.ts\n@@\n-${line}\n+b\n*** End Patch`)";
    expect(actionsOf("exec", { input })).toEqual([{ kind: "touch", command: input, wide: false }]);
  });

  it.each<[string, string, JsonValue]>([
    ["a file's text", "write", { path: "notes.md", content: `Use apply_patch:\n${patch}` }],
    ["a search", "grep", { pattern: "*** Begin Patch", path: "docs" }],
  ])("in %s patches nothing", (_, name, args) => {
    expect(actionsOf(name, args).filter(({ kind }) => kind === "edit")).toEqual([]);
  });
});

const file = [
  "import { readConfiguration } from './configuration';",
  "export const retryLimitForUploads = 3;",
  "export function startServer(options) {",
  "  return listen(options);",
  "}",
  "export function stopServer(handle) {",
  "  return listen(options);",
  "}",
].join("\n");

/** What a window shows of the files long after the first one was read and a patch came. */
function shownAfter(input: string, answer = "Success.", from = 1): string {
  const args = { path: "src/server.ts", ...(from > 1 && { offset: from, limit: 8 }) };
  return digestAfter(historyOf(["read", args, file], ["apply_patch", { input }, answer]));
}

const update = (...lines: readonly string[]): string =>
  ["*** Begin Patch", "*** Update File: src/server.ts", ...lines, "*** End Patch"].join("\n");
const raise = [
  "@@",
  " import { readConfiguration } from './configuration';",
  "-export const retryLimitForUploads = 3;",
  "+export const retryLimitForUploads = 17;",
];

describe("a digest after a patch", () => {
  it("shows the new line in the place of the old one", () => {
    const text = shownAfter(update(...raise));
    expect(text).not.toContain("retryLimitForUploads = 3;");
    expect(text).toContain(
      "\n import { readConfiguration } from './configuration';\n export const retryLimitForUploads = 17;\n export function start",
    );
  });

  it("finds the place of a hunk by the line above it", () => {
    const text = shownAfter(
      update("@@ export function stopServer", "-  return listen(options);", "+  return handle.close();"),
    );
    expect(text).toContain("\n export function startServer(options) {\n   return listen(options);\n }");
    expect(text).toContain("\n export function stopServer(handle) {\n   return handle.close();\n }");
  });

  it("never shows the old text of a hunk that runs over the edge of what is known", () => {
    const above = update(
      "@@",
      " // a line nobody read",
      "-import { readConfiguration } from './configuration';",
      "+import config;",
    );
    const text = shownAfter(above, "Success.", 5);
    expect(text).not.toContain("readConfiguration");
    expect(text).toContain("import config;");
  });

  it("says that a file which a hunk contradicts may have changed, and shows the new line", () => {
    const text = shownAfter(update("@@", " // not what stands there", ...raise.slice(2)));
    expect(text).not.toContain("retryLimitForUploads = 3;");
    expect(text).toContain("retryLimitForUploads = 17;");
    expect(text).toMatch(/^--- src\/server\.ts \(m3; m5 may have changed it since\)$/m);
  });

  it("changes nothing where the patch failed", () => {
    for (const answer of [
      "Failed to find expected lines in src/server.ts",
      "Exit code: 1\nWall time: 0 seconds\nOutput:\nverification failed",
      '{"output":"apply_patch verification failed: no such lines","metadata":{"exit_code":1,"duration_seconds":0.0}}',
    ]) {
      const text = shownAfter(update(...raise), answer);
      expect(text).toContain("export const retryLimitForUploads = 3;");
      expect(text).not.toMatch(/^ export const retryLimitForUploads = 17;$/m);
    }
  });

  it("shows a moved file under its new name alone, and nothing of a deleted one", () => {
    const moved = shownAfter(update("*** Move to: src/service.ts", ...raise));
    expect(moved).toContain("--- src/service.ts (");
    expect(moved).not.toContain("--- src/server.ts");
    expect(moved).toContain("retryLimitForUploads = 17;");
    const deleted = shownAfter("*** Begin Patch\n*** Delete File: src/server.ts\n*** End Patch");
    expect(deleted).not.toContain("--- src/server.ts");
    expect(deleted).not.toContain("retryLimitForUploads");
  });
});
