import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import type { JsonValue } from "../kit/inside/message.ts";
import { MessageTokens } from "../kit/inside/replay.ts";
import { findQuotes, patchedFiles, patchQuotes, QuoteReader, QuoteTally, StaleTally } from "../kit/lab.ts";
import { calls, characters, result, user } from "../replay/histories.ts";

const before = 'const limitOfUploads = 3; // `so` "many" \\ $1';
const after = 'const limitOfUploads = 17; // `so` "many" \\ $1';
const kept = "function startServer(options) {";
const patch = `*** Begin Patch\n*** Update File: src/a.ts\n@@\n ${kept}\n-${before}\n+${after}\n*** End Patch`;
const template = patch.replaceAll(/[`\\$]/g, "\\$&");
const diff = `--- a/src/a.ts\n+++ b/src/a.ts\n@@ -4,2 +4,2 @@ head\n ${kept}\n-${before}\n+${after}\n`;
const hunk = { old: [kept, before], fresh: [kept, after] };

describe("the files of a patch", () => {
  it.each<[string, JsonValue]>([
    ["an argument", { input: patch }],
    ["a here-document", { command: ["bash", "-lc", `apply_patch <<'EOF'\n${patch}\nEOF`] }],
    ["a program's string", { input: `text(await tools.apply_patch(${JSON.stringify(patch)}));` }],
    ["a template", { input: `await tools.apply_patch(\`${template}\`);` }],
    ["a raw template", { input: `await tools.apply_patch(String.raw\`${patch}\`);` }],
    ["a unified diff", { command: `git apply <<'EOF'\n${diff}EOF` }],
  ])("are found in %s", (_, args) => {
    expect(patchedFiles(args)).toEqual([{ path: "src/a.ts", kind: "update", hunks: [hunk] }]);
  });

  it("can be added, deleted and moved", () => {
    const parts = "*** Add File: a\n+1\n*** Delete File: b\n*** Update File: c\n*** Move to: d";
    expect(patchedFiles({ patchText: `*** Begin Patch\n${parts}` })).toEqual([
      { path: "a", kind: "add", hunks: [{ old: [], fresh: ["1"] }] },
      { path: "b", kind: "delete", hunks: [] },
      { path: "c", kind: "update", to: "d", hunks: [] },
    ]);
  });

  it("are none where a file's text has the marks", () => {
    expect(patchedFiles({ path: "notes.md", content: `Write this:\n${patch}` })).toEqual([]);
  });
});

const file = `first line of the file\n${kept}\n${before}\n}`;
const did = (name: string, args: JsonValue, answer: string): Message[] => [calls("c", name, args), result("c", answer)];
const read = did("read", { path: "src/a.ts" }, file);
const patched = did("apply_patch", { input: patch }, "Success.");

describe("patch quotes", () => {
  it.each<[string, string, number]>([
    ["stand whole in a message", file, 1],
    ["stand there without the removed line", kept, 0],
    ["stand there with a gap between", `${kept}\n…\n${before}`, 0],
  ])("%s", (_, shown, found) => {
    const reader = new QuoteReader();
    const messages = [user("go"), ...read, user("x".repeat(200)), ...patched];
    const quotes = findQuotes(messages, new MessageTokens(characters), reader, patchQuotes).get(4) ?? [];
    const tally = new QuoteTally(reader, 100);
    tally.add(quotes, [user(shown)]);
    expect(tally.result()).toEqual({ found, total: 1 });
  });

  it("are no shorter than 24 characters, and none of a new file", () => {
    expect(patchQuotes({ input: "*** Begin Patch\n*** Update File: a\n-short one\n+x" })).toEqual([]);
    expect(patchQuotes({ input: `*** Begin Patch\n*** Add File: a\n+${"x".repeat(40)}` })).toEqual([]);
  });
});

const put = did("apply_patch", { patch: `*** Begin Patch\n*** Update File: src/a.ts\n-${after}\n+${before}` }, "");
const write = (content: string): Message[] => did("write", { path: "src/a.ts", content }, "ok");
const ran = (command: string, printed: string): Message[] => did("bash", { command }, printed);
const removal = { input: "*** Begin Patch\n*** Delete File: src/a.ts" };

describe("removed lines", () => {
  it.each<[string, readonly Message[], string, number]>([
    ["none before a patch", read, "--- src/a.ts (m2)", 0],
    ["one that a patch took out", [...read, ...patched], "--- src/a.ts (m2)", 1],
    ["one of a file that was never read", patched, "--- /repo/src/a.ts", 1],
    ["none where it failed", [...read, ...did("apply_patch", { input: patch }, "Exit code: 1\n")], "--- src/a.ts", 0],
    ["none of another file", [...read, ...patched], "--- src/other.ts", 0],
    ["none that a patch put back", [...read, ...patched, ...put], "--- src/a.ts", 0],
    ["none that a later result shows", [...read, ...patched, ...ran("cat a", file)], "--- src/a.ts", 0],
    ["none that a search found", [...read, ...patched, ...ran("rg", `a/b.ts:3:${before}`)], "--- src/a.ts", 0],
    ["one that a diff shows as taken", [...read, ...patched, ...ran("git diff", `-${before}`)], "--- src/a.ts", 1],
    ["one that a write replaced", [...read, ...write(kept)], "--- src/a.ts", 1],
    ["none that a write kept", [...read, ...write(file)], "--- src/a.ts", 0],
    ["all of a deleted file", [...read, ...did("apply_patch", removal, "")], "--- src/a.ts", 2],
  ])("are %s", (_, history, title, titled) => {
    const tally = new StaleTally();
    for (const message of history) tally.push(message);
    tally.add([{ ...user(`[Windrow]\n${title}\n ${kept}\n ${before}\n }`), status: "synthetic" }]);
    expect(tally.removed.titled).toBe(titled);
  });

  it("are counted apart where a digest quotes what was printed", () => {
    const tally = new StaleTally();
    for (const message of [...read, ...patched]) tally.push(message);
    tally.add([
      { ...user(`[Windrow]\n--- what was said and printed, in order\n[m3 bash]\n ${before}`), status: "synthetic" },
    ]);
    expect(tally.removed).toEqual({ titled: 0, of: 0, elsewhere: 1 });
  });
});
