import { describe, expect, it } from "vitest";
import type { JsonValue } from "../kit/inside/message.ts";
import { actionsOf, outputOf } from "../kit/inside/window.ts";
import type { FileAction } from "../kit/inside/window.ts";

/** The effects of a command line whose output is known. */
function run(command: JsonValue, output?: string): readonly FileAction[] {
  return actionsOf("bash", { command }, {}, output === undefined ? undefined : outputOf(output));
}

const touch = (command: string, wide = false): FileAction => ({ kind: "touch", command, wide });
const read = (path: string, from: number, whole = false): FileAction => ({ kind: "read", path, from, whole });
const search = (path: string): FileAction => ({ kind: "search", path });
const write = (path: string, text: string): FileAction => ({ kind: "write", path, text });
const move = (path: string, to: string): FileAction => ({ kind: "move", path, to });
const remove = (path: string): FileAction => ({ kind: "delete", path });
const look = (path: string): FileAction => ({ kind: "look", path });

describe("a command that shows one file", () => {
  it.each<[string, FileAction]>([
    ["cat src/a.ts", read("src/a.ts", 1, true)],
    ["cat 'src/my file.ts'", read("src/my file.ts", 1, true)],
    ["cat src/a.ts 2>/dev/null | head -40", read("src/a.ts", 1)],
    ["nl -ba src/a.ts | sed -n '17,165p'", read("src/a.ts", 17)],
    ["sed -n '20,40p' src/a.ts", read("src/a.ts", 20)],
    ["sed -n '1,80p' ~/notes.md | head -5", read("~/notes.md", 1)],
    ["sed -n '100,200p' src/a.ts | sed -n '5,9p'", read("src/a.ts", 104)],
    ["sed -n '/start/,/end/p' src/a.ts", search("src/a.ts")],
    ["head -20 src/a.ts", read("src/a.ts", 1)],
    ["head -n 20 src/a.ts", read("src/a.ts", 1)],
    ["tail -n +30 src/a.ts", read("src/a.ts", 30)],
    ["tail -20 src/a.ts", search("src/a.ts")],
    ["awk 'NR>=8 && NR<=12' src/a.ts", read("src/a.ts", 8)],
    ["awk 'NR>=8 && NR<=12 {printf \"%d: %s\\n\", NR, $0}' src/a.ts", search("src/a.ts")],
    ["awk '/start/,/end/ {print NR\": \"$0}' src/a.ts", search("src/a.ts")],
    ["grep -n 'needle|thread' src/a.ts", search("src/a.ts")],
    ['rg -n -A 3 "fn main" src/a.rs', search("src/a.rs")],
    ["cd repo && cat a.ts", read("repo/a.ts", 1, true)],
    ["cat src/a.ts | tail -n +30 | head -5", read("src/a.ts", 30)],
    ["sed -n '20,40p' src/a.ts | grep needle", search("src/a.ts")],
    ["FORCE=1 cat < a.ts", read("a.ts", 1, true)],
  ])("%s", (command, action) => expect(run(command)).toEqual([action]));

  it.each<[string, JsonValue]>([
    ["a list of words", { command: ["cat", "src/a.ts"] }],
    ["a shell's line", { command: ["bash", "-lc", "cat src/a.ts"] }],
    ["a line and the folder it runs in", { cmd: "cat src/a.ts", workdir: "/home/dev/repo", yield_time_ms: 1000 }],
  ])("given as %s", (_, args) => {
    expect(actionsOf("exec_command", args)).toEqual([read("src/a.ts", 1, true)]);
  });

  it("names a file without a folder by the one the command runs in", () => {
    const args = { cmd: "cat Cargo.toml", workdir: "/home/dev/repo" };
    expect(actionsOf("exec_command", args)).toMatchObject([{ path: "/home/dev/repo/Cargo.toml" }]);
  });

  it("is found in a script that calls tools", () => {
    const input =
      'const r = await tools.exec_command({cmd:"sed -n \'4,6p\' src/a.ts",workdir:"/repo"}); text(r.output);';
    expect(actionsOf("exec", { input })).toEqual([read("src/a.ts", 4)]);
    const two = 'await Promise.all([tools.exec_command({cmd:"cat a/b.ts"}), tools.exec_command({cmd:"cat a/c.ts"})]);';
    expect(actionsOf("exec", { input: two }).map(({ kind }) => kind)).toEqual(["look", "look"]);
  });

  it.each([
    "cat *.ts",
    "cat $FILE",
    "cat src/a.ts | wc -l",
    "cat src/a.ts | python3 -c 'print(1)'",
    "grep -c needle src/a.ts",
    "rg -l needle src",
    "rg --files src",
    "curl -s https://example.com/a.ts | sed -n '1,9p'",
    "git show HEAD:src/a.ts",
    "git diff -- src/a.ts",
    "head -c 100 src/a.ts",
    "awk '{print $2}' src/a.ts",
    "wc -l src/a.ts",
    "echo src/a.ts",
    "cat > /dev/null",
    "true || cat src/a.ts",
    "bash -c 'cat src/a.ts'",
    "sed -n '20,40p' src/a.ts | grep -n needle",
    "sed -n 's/a/b/p' src/a.ts",
    "awk '{gsub(/a/, \"b\"); print}' src/a.ts",
    "awk '{print toupper($0)}' src/a.ts",
    "cat -A src/a.ts",
  ])("is not %s", (command) => expect(run(command)).toEqual([]));
});

describe("a command that shows several files", () => {
  const part = (path: string, from: number, text: string, whole = false): FileAction => {
    return { kind: "read", path, from, whole, part: text };
  };

  it.each<[string, string, string, ...FileAction[]]>([
    [
      "by the headings between them",
      "cat a.ts; echo '--- b'; sed -n '3,9p' b.ts && printf '\\n=== end\\n' && git status",
      "one\ntwo\n--- b\nthree\n\n=== end\nnothing to commit\n",
      part("a.ts", 1, "one\ntwo", true),
      part("b.ts", 3, "three\n"),
    ],
    [
      "by ranges that are all as long as they can be",
      "sed -n '1,2p' a.ts\nsed -n '7,9p' b.ts",
      "1\n2\n7\n8\n9\n",
      part("a.ts", 1, "1\n2"),
      part("b.ts", 7, "7\n8\n9"),
    ],
    [
      "where ranges of one file follow on each other",
      "sed -n '1,2p' a.ts && sed -n '3,9p' a.ts",
      "1\n2\n3\n4\n",
      part("a.ts", 1, "1\n2"),
      part("a.ts", 3, "3\n4"),
    ],
  ])("is told apart %s", (_, command, output, ...parts) => expect(run(command, output)).toEqual(parts));

  it("looks at the files that the lines of a search name", () => {
    const output = "one\n--- b\nsrc/a.ts:3:port = 1\ndocs/b.md:9:a port: 2\nsrc/a.ts:8:port\n";
    expect(run("cat a.ts; echo '--- b'; rg -n port", output)).toEqual([
      part("a.ts", 1, "one", true),
      look("src/a.ts"),
      look("docs/b.md"),
    ]);
  });

  it.each([
    ["a range may be shorter than it can be", "sed -n '1,3p' a.ts\nsed -n '7,9p' b.ts", "1\n2\n3\n7\n8\n"],
    ["nothing says where the second begins", "cat a.ts b.ts", "1\n2\n"],
    ["the heading stands in a file, too", "cat a.ts; echo '--- b'; cat b.ts", "1\n--- b\n2\n--- b\n3\n"],
    [
      "a part is missing",
      "cat a.ts; echo '--- b'; cat b.ts",
      "Exit code: 0\nTotal output lines: 900\nOutput:\n1\n…7 tokens truncated…\n--- b\n3\n",
    ],
  ])("is only looked at where %s", (_, command, output) => {
    expect(run(command, output)).toEqual([look("a.ts"), look("b.ts")]);
  });
});

describe("a command that changes files", () => {
  it.each<[string, ...FileAction[]]>([
    ["cat > src/a.ts <<'EOF'\none\ntwo\nEOF", write("src/a.ts", "one\ntwo")],
    ["cd repo && cat <<EOF >a.ts\none\nEOF\n", write("repo/a.ts", "one")],
    ["tee src/a.ts <<'EOF'\none\nEOF", write("src/a.ts", "one")],
    ["cat <<'EOF' | tee a.ts >/dev/null\none\nEOF", write("a.ts", "one")],
    ["echo 'one two' > a.txt", write("a.txt", "one two")],
    ["echo three >> a.txt", { kind: "edit", path: "a.txt", changes: [{ before: "", after: "three", hunk: {} }] }],
    ["mv src/a.ts src/b.ts", move("src/a.ts", "src/b.ts")],
    ["git mv src/a.ts lib/", move("src/a.ts", "lib/a.ts")],
    ["rm -f a.ts b.ts", remove("a.ts"), remove("b.ts")],
    ["cp a.ts b.ts", touch("cp a.ts b.ts")],
    ["sed -i 's/a/b/' src/a.ts", touch("sed -i s/a/b/ src/a.ts")],
    ["sed s/a/b/ -i src/a.ts", touch("sed s/a/b/ -i src/a.ts")],
    ["sort a.txt -o a.txt", touch("sort a.txt -o a.txt")],
    ["echo one | tee a.ts b.ts", write("a.ts", "one"), write("b.ts", "one")],
    ["gh pr checkout 12", touch("gh pr checkout 12", true)],
    ["node -e \"fs.copyFileSync('b.ts', 'a.ts')\"", touch("node -e fs.copyFileSync('b.ts', 'a.ts')")],
    ["bash -c 'sed -i s/a/b/ a.ts'", touch("bash -c sed -i s/a/b/ a.ts\n")],
    ["make 2>&1 > log.txt", touch("make log.txt")],
    ["git -C repo checkout -- src/a.ts", touch("git -C repo checkout -- src/a.ts", true)],
    ["git stash pop", touch("git stash pop", true)],
    ["cargo fmt", touch("cargo fmt", true)],
    ["npx prettier --write src", touch("npx prettier --write src", true)],
    ["ruff check --fix .", touch("ruff check --fix .", true)],
    ["for f in *.ts; do sed -i s/a/b/ $f; done", touch("for f in *.ts; do sed -i s/a/b/ $f; done")],
    ["python - <<'EOF'\nopen('a.txt', 'w').write('x')\nEOF", touch("python - open('a.txt', 'w').write('x')")],
  ])("%j", (command, ...actions) => expect(run(command)).toEqual(actions));

  it.each([
    "cargo fmt --check",
    "git stash list",
    "git status",
    "npm test",
    "python3 -c 'print(1)'",
    "ls > /dev/null 2>&1",
  ])("is not %s", (command) => expect(run(command)).toEqual([]));

  it("makes what the same line showed before it uncertain, and not what it showed after", () => {
    expect(run("cat a.ts && sed -i s/a/b/ a.ts", "x\n")).toEqual([touch("sed -i s/a/b/ a.ts"), look("a.ts")]);
    expect(run("sed -i s/a/b/ a.ts && cat a.ts", "x\n")).toEqual([touch("sed -i s/a/b/ a.ts"), read("a.ts", 1, true)]);
  });

  it("may come behind a patch", () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch";
    expect(run(`cd repo && apply_patch <<'EOF'\n${patch}\nEOF\ncargo fmt`)).toMatchObject([
      { kind: "edit", path: "repo/a.ts" },
      { kind: "touch", wide: true },
    ]);
  });
});

it.each<[string, string, object]>([
  [
    "Codex' exec_command",
    "Chunk ID: bb0a67\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\nx\n",
    { text: "x\n", exit: 0, cut: false },
  ],
  ["Codex' shell", "Exit code: 2\nWall time: 0 seconds\nOutput:\nx\n", { text: "x\n", exit: 2, cut: false }],
  ["Codex' scripts", "Script completed\nWall time 0.1 seconds\nOutput:\n\nx\n", { text: "x\n", cut: false }],
  ["JSON", '{"output":"x\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}', { text: "x\n", exit: 1, cut: false }],
  ["none", "Output:\nx\n", { text: "Output:\nx\n", cut: false }],
  [
    "a shortened one",
    "Exit code: 0\nTotal output lines: 9\nOutput:\nx\n…5 tokens truncated…\ny",
    { text: "x\n…5 tokens truncated…\ny", exit: 0, cut: true },
  ],
])("an output in the frame of %s is peeled", (_, result, output) => expect(outputOf(result)).toEqual(output));
