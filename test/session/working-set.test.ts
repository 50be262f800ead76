import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { estimate } from "windrow/testing";
import type { JsonValue } from "../kit/inside/message.ts";
import { WorkingSet } from "../kit/inside/session.ts";
import { defaultMask, writtenPaths } from "../kit/inside/window.ts";

const sha = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);

/** One step for each call: the arguments and its result. */
function sessionOf(
  calls: readonly (readonly [JsonValue, string, (boolean | undefined)?])[],
  name = "read_or_run",
): readonly Message[] {
  return calls.flatMap(([args, content, isError], index): Message[] => {
    const callId = `c${index}`;
    return [
      { id: `a${index}`, role: "assistant", parts: [{ type: "tool-call", callId, name, args }] },
      {
        id: `t${index}`,
        role: "tool",
        parts: [{ type: "tool-result", callId, content, ...(isError === true && { isError }) }],
      },
    ];
  });
}

function setOf(messages: readonly Message[]): WorkingSet {
  const set = new WorkingSet(defaultMask);
  messages.forEach((message, index) => set.push(index + 1, message));
  return set;
}

const user = (text: string): Message => ({ id: text, role: "user", parts: [{ type: "text", text }] });
const said = (text: string): Message => ({ id: text, role: "assistant", parts: [{ type: "text", text }] });

describe("files", () => {
  it.each<[string, JsonValue]>([
    ["path and content", { path: "src/a.ts", content: "one\ntwo\n" }],
    ["file_path and content", { file_path: "src/a.ts", content: "one\ntwo\n" }],
    ["a command verb and file_text", { command: "create", path: "src/a.ts", file_text: "one\ntwo\n" }],
  ])("a write by %s is known with the hash of its text", (_, args) => {
    expect(setOf(sessionOf([[args, "ok"]])).files).toEqual([{ path: "src/a.ts", written: 2, hash: sha("one\ntwo\n") }]);
  });

  it.each<[string, JsonValue]>([
    ["oldText and newText", { path: "src/a.ts", oldText: "one", newText: "1" }],
    ["old_str and new_str", { command: "str_replace", path: "src/a.ts", old_str: "one", new_str: "1" }],
    ["edits in a list", { file_path: "src/a.ts", edits: [{ old_string: "one", new_string: "1" }] }],
    ["a patch", { input: "*** Begin Patch\n*** Update File: src/a.ts\n-one\n+1\n*** End Patch" }],
  ])("an edit by %s leaves the whole text unknown until the file is read again", (_, args) => {
    const set = setOf(
      sessionOf([
        [{ path: "src/a.ts" }, "one"],
        [args, "edited"],
      ]),
    );
    expect(set.files).toMatchObject([{ path: "src/a.ts", written: 4 }]);
    expect(set.files[0]?.hash).toBeUndefined();
    const again = setOf(
      sessionOf([
        [args, "edited"],
        [{ path: "src/a.ts" }, "1"],
      ]),
    );
    expect(again.files).toEqual([{ path: "src/a.ts", read: 4, written: 2, hash: sha("1") }]);
  });

  it("a read of a part tells nothing of the whole; line numbers are no part of a file", () => {
    const set = setOf(
      sessionOf([
        [{ path: "b.py", offset: 10, limit: 5 }, "x"],
        [{ path: "c.py" }, "     1\timport os\n     2\t"],
      ]),
    );
    expect(set.files).toEqual([
      { path: "c.py", read: 4, hash: sha("import os\n") },
      { path: "b.py", read: 2 },
    ]);
  });

  it("a call that failed, or that has no result, did nothing to a file", () => {
    const messages = sessionOf([[{ path: "src/a.ts", content: "new" }, "permission denied", true]]);
    const open = sessionOf([[{ path: "src/b.ts", content: "new" }, "never came"]]).slice(0, 1);
    expect(setOf([...messages, ...open]).files).toEqual([]);
  });

  it("a summary's written files are those of its range, oldest first", () => {
    const messages = sessionOf([
      [{ path: "z.ts", content: "1" }, "ok"],
      [{ path: "a.ts" }, "1"],
      [{ path: "b.ts", content: "1" }, "ok"],
    ]).map((message, index) => ({ seq: index + 1, message }));
    expect(writtenPaths(messages)).toEqual(["z.ts", "b.ts"]);
    expect(writtenPaths(messages.slice(2))).toEqual(["b.ts"]);
  });
});

describe("commands", () => {
  it("that may have changed files leave their text unknown", () => {
    const read = [{ path: "src/a.ts" }, "one"] as const;
    const other = [{ path: "src/b.ts" }, "two"] as const;
    const known = (command: string): readonly string[] =>
      setOf(sessionOf([read, other, [{ command }, "ok"]])).files.flatMap(({ path, hash }) => (hash ? [path] : []));
    expect(known("ls")).toEqual(["src/b.ts", "src/a.ts"]);
    expect(known("sed -i s/one/1/ src/a.ts")).toEqual(["src/b.ts"]);
    expect(known("git checkout main")).toEqual([]);
  });

  it("that write a file by themselves are seen", () => {
    const set = setOf(sessionOf([[{ command: "cat > notes.md <<'EOF'\n# Notes\nEOF" }, ""]]));
    expect(set.files).toEqual([{ path: "notes.md", written: 2, hash: sha("# Notes") }]);
    expect(set.commands).toHaveLength(1);
  });

  it.each<[string, boolean | undefined, number | undefined, boolean]>([
    ["2 failed\n\nCommand exited with code 1", undefined, 1, true],
    ["[exit code: 0]", undefined, 0, false],
    ['{"output":"","metadata":{"exit_code":127}}', undefined, 127, true],
    ["<returncode>-9</returncode>", undefined, -9, true],
    ["all good", undefined, undefined, false],
    ["no such file", true, undefined, true],
  ])("%j is read", (result, isError, exit, failed) => {
    const [command] = setOf(sessionOf([[{ command: "npm  test" }, result, isError]])).commands;
    expect(command).toEqual({ command: "npm test", seq: 2, ...(exit !== undefined && { exit }), failed });
  });

  it("the newest run of a command counts, also one that is given as words", () => {
    const set = setOf(
      sessionOf([
        [{ command: "npm test" }, "exit code 1"],
        [{ cmd: "ls src/a.ts", timeout: 5 }, "src/a.ts"],
        [{ command: ["bash", "-lc", "npm test"], workdir: "/repo/x" }, "exit code 0"],
      ]),
    );
    expect(set.commands.map(({ command, exit }) => [command, exit])).toEqual([
      ["npm test", 0],
      ["ls src/a.ts", undefined],
    ]);
    expect(set.files).toEqual([]);
  });
});

it("open questions are the user's until the agent answers, and the agent's until the user does", () => {
  const asked = [user("Look at it. Why does v1.2 fail? どう直しますか。")];
  expect(setOf(asked).questions.map(({ from, text }) => [from, text])).toEqual([
    ["user", "Why does v1.2 fail?"],
    ["user", "どう直しますか。"],
  ]);
  const working = [...asked, ...sessionOf([[{ path: "a.ts" }, "1"]])];
  expect(setOf(working).questions).toHaveLength(2);
  const answered = [...working, said("A null. 用哪个数据库？")];
  expect(setOf(answered).questions).toEqual([{ from: "assistant", seq: 4, text: "用哪个数据库？" }]);
  expect(setOf([...answered, user("MySQL")]).questions).toEqual([]);
});

describe("the whole set", () => {
  const busy = sessionOf(
    Array.from({ length: 2_000 }, (_, index) => [
      index % 2 === 0 ? { path: `src/file-${index}.ts`, content: `${index}` } : { command: `run ${index}` },
      "ok",
    ]),
  );

  it("stays bounded, and keeps the newest", () => {
    const set = setOf(busy);
    expect(set.files.length).toBeLessThanOrEqual(400);
    expect(set.commands.length).toBeLessThanOrEqual(100);
    expect(set.files[0]?.path).toBe("src/file-1998.ts");
    expect(set.commands[0]?.command).toBe("run 1999");
  });

  it.each([0, 40, 200, 2_000])("is shown in at most %i tokens, as a record", (maxTokens) => {
    const shown = setOf([user("Which one?"), ...busy]).render(maxTokens, estimate);
    expect(estimate.count(shown)).toBeLessThanOrEqual(maxTokens);
    if (maxTokens < 200) return;
    expect(shown).toContain("no instruction");
    expect(shown).toContain("- user (m1): Which one?");
    expect(shown).toContain("src/file-1998.ts (written m3999");
    expect(shown).toContain("- run 1999 (");
  });
});
