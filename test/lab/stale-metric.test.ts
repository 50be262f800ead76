import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import type { JsonValue } from "../kit/inside/message.ts";
import { StaleTally } from "../kit/lab.ts";
import { calls, result, user } from "../replay/histories.ts";

const [one, two, three] = ["const first = readFirst();", "const second = readSecond();", "const third = readThird();"];
const text = [one, two, three].join("\n");

type Call = readonly [name: string, args: JsonValue, answer: string, failed?: "failed"];

/** Share and count of stale lines where a digest shows these lines of `src/a.ts` after these calls. */
function after(history: readonly Call[], lines: readonly string[], title = "--- from src/a.ts"): object {
  const tally = new StaleTally();
  history.forEach(([name, args, answer, failed], at) => {
    tally.push(calls(`${at}`, name, args));
    const message = result(`${at}`, answer);
    const parts = message.parts.map((part) => (failed ? { ...part, isError: true } : part)) as Message["parts"];
    tally.push({ ...message, parts });
  });
  const digest = ["[Windrow: a record]", "read src/a.ts m1", title, "[m1]", ...lines].join("\n");
  tally.add([user(lines.join("\n")), { ...user(digest), status: "synthetic" }]);
  return { share: tally.result(), lines: tally.lines };
}

const read: Call = ["read", { path: "src/a.ts" }, text];
const edit: Call = ["edit", { path: "src/a.ts", oldText: two, newText: "const second = 2;" }, "done"];

describe("the stale share", () => {
  it("is null where nothing is known of the file", () => {
    expect(after([], [one])).toEqual({ share: null, lines: 0 });
    expect(after([read], [one], "--- from src/b.ts")).toEqual({ share: null, lines: 0 });
    expect(after([read], ["a line nobody has ever read"])).toEqual({ share: null, lines: 0 });
  });

  it("is 0 where the file holds what is shown", () => {
    expect(after([read], [one, "…", `  ${three}`])).toEqual({ share: 0, lines: 2 });
  });

  it.each<[string, readonly Call[], number]>([
    ["an edit took it out", [read, edit], 0.5],
    ["a failed edit did not", [read, [...edit.slice(0, 3), "failed"] as unknown as Call], 0],
    [
      "an edit of one of several took it out",
      [read, ["edit", { path: "src/a.ts", edits: [{ old_str: `${two}\n${three}`, new_str: three }] }, "done"]],
      0.5,
    ],
    [
      "an edit inside the line took it out",
      [read, ["edit", { path: "src/a.ts", oldText: "readSecond", newText: "read" }, ""]],
      0.5,
    ],
    ["a write replaced the file", [read, ["write", { path: "src/a.ts", content: `${one}\nother` }, "done"]], 0.5],
    ["a read showed another text", [read, ["read", { path: "src/a.ts" }, one]], 0.5],
    ["a read of a part did not", [read, ["read", { path: "src/a.ts", offset: 1, limit: 1 }, one]], 0],
    ["a shortened read did not", [read, ["read", { path: "src/a.ts" }, `${one}\n[2 more lines]`]], 0],
    ["an edit of a part that was read", [["read", { path: "src/a.ts", offset: 2 }, text], edit], 0.5],
    ["an edit of what was never read", [["read", { path: "src/a.ts", limit: 1 }, one], edit], 0.5],
    [
      "an edit whose old text looks like a path",
      [read, ["edit", { oldText: "source.ts", newText: "b", path: "src/b.ts" }, ""], edit],
      0.5,
    ],
    [
      "it was put back",
      [read, edit, ["edit", { path: "src/a.ts", oldText: "const second = 2;", newText: two }, ""]],
      0,
    ],
    [
      "a listing with numbers",
      [read, ["view", { file_path: "src/a.ts" }, `   1\t${one}\n   2\t${three}\n\n<note>`]],
      0.5,
    ],
    [
      "the file by its whole path",
      [read, ["edit", { file_path: "/repo/src/a.ts", old_string: two, new_string: "" }, ""]],
      0.5,
    ],
    ["another file of that name", [read, ["edit", { path: "lib/src/a.ts", oldText: two, newText: "" }, ""]], 0],
  ])("%s", (_, history, share) => expect(after(history, [one, two])).toMatchObject({ share }));

  it.each([
    ["sed -i s/first/last/ src/a.ts", null],
    ["python fix.py a.ts && npm test", null],
    ["git checkout .", null],
    ["grep -n first src/a.ts > a.ts", null],
    ["cat src/a.ts | head -3; git diff src/a.ts 2>/dev/null", 0],
    ["npm test", 0],
  ])("after `%s` is %s", (command, share) => {
    expect(after([read, ["bash", { command }, ""]], [one])).toMatchObject({ share });
  });

  it("knows a file by the end of its path, and by a title with more in it", () => {
    expect(after([read, edit], [one, two], "--- from …c/a.ts")).toEqual({ share: 0.5, lines: 2 });
    expect(after([read, edit], [one, two], "--- read (src/a.ts): lines 1–3")).toEqual({ share: 0.5, lines: 2 });
  });
});
