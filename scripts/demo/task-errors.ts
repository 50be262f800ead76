/** A new error code, and much later a change of mind about it: the second task works from what the first one saw. */
import { bash, call, edit, grep, hitsOf, lineOf, read, say, together, user, write } from "./moves.ts";
import type { Script } from "./moves.ts";

/** What the first task saw and did. */
export interface ErrorWork {
  readonly code: string;
  readonly tableLine: string;
  readonly documentRow: string;
  readonly check: string;
  readonly thrown: string;
  readonly guard: string;
  readonly throwsLine: string;
  readonly testLine: string;
}

const code = "history-empty";
const check = "check/errors-table.test.mjs";
const meaning = "There is no message to compose a window from.";
const advice = "Append the user's message first, then compose.";

/** Finds out how error codes are kept, adds one, and proves that table and document agree. */
export function* addErrorCode(): Script<ErrorWork> {
  yield* user(
    `composeWindow with an empty history should say so. Add an error code \`${code}\` for it: table, document, the place ` +
      "that throws, and something that proves table and document list the same codes. Look around first; I want it to fit in.",
  );
  yield* together(
    [{ name: "list", args: { path: "src" } }, read("package.json", 1, 60)],
    "I will look at the layout first.",
  );
  const table = yield* call("read", { path: "src/errors.ts", offset: 1, limit: 120 });
  const [document, tests] = yield* together(
    [read("docs/errors.md", 1, 80), read("test/package.test.ts", 1, 120)],
    "The table is in src/errors.ts. Its document and the test that compares them:",
  );
  yield* call("grep", { pattern: "new WindrowError\\(", path: "src" }, "Where errors are thrown, to copy the manner:");
  const hits = hitsOf(yield* call("grep", { pattern: '"(over-budget|budget-too-small)"', path: "src" }));
  for (const hit of hits.slice(0, 3)) {
    yield* call("read", { path: hit.path, offset: Math.max(1, hit.line - 15), limit: 35 });
  }
  const [compose, budget] = yield* together([read("src/window/compose.ts"), read("src/window/budget.ts")]);
  yield* call("read", { path: "src/window/epoch.ts", offset: 1, limit: 150 }, "compose.ts hands over to the composer.");
  yield* call("read", { path: "src/window/epoch.ts", offset: 151, limit: 200 });
  lineOf(budget ?? "", /export function checkBudget/);

  const before = lineOf(table, /"format-newer":/).text;
  const tableLine = `  "${code}": "${meaning}",`;
  yield* call(
    "edit",
    { path: "src/errors.ts", oldText: before, newText: `${before}\n${tableLine}` },
    "Codes stand in order of the alphabet.",
  );
  yield* together([write(check, tableCheck)], "Before the document, the proof; it should fail now.");
  yield* together([bash(`node --test ${check}`)]);
  const row = lineOf(document ?? "", /^\| `format-newer`/).text;
  const documentRow = `| \`${code}\` | ${meaning} | ${advice} |`;
  yield* together(
    [edit("docs/errors.md", row, `${row}\n${documentRow}`)],
    "It fails for the right reason. Now the document.",
  );
  yield* together([bash(`node --test ${check}`)]);

  const guard = lineOf(compose ?? "", /Array\.isArray\(input\.messages\)/).text;
  const throwsLine = lineOf(compose ?? "", /@throws WindrowError/).text;
  const thrown =
    `  if (input.messages.length === 0) {\n` +
    `    throw new WindrowError("${code}", "There is no message yet; append the user's message, then compose.");\n  }`;
  yield* together([edit("src/window/compose.ts", guard, `${guard}\n${thrown}`)]);
  yield* together([
    edit("src/window/compose.ts", throwsLine, throwsLine.replace("`bad-option`", `\`bad-option\`, \`${code}\``)),
  ]);
  yield* together([read("src/window/compose.ts", 1, 60), grep(code, ".")], "Both places once more, as they are now.");
  yield* say(
    `\`${code}\` is in src/errors.ts and docs/errors.md, composeWindow throws it for an empty history, and ${check} ` +
      "compares table and document; it failed before the document had the row and passes now.",
  );
  const testLine = lineOf(tests ?? "", /says for every code what to do/).text;
  return { code, tableLine, documentRow, check, thrown, guard, throwsLine, testLine };
}

/** Much later: the code gets another name and another message, in all places that were seen at the start. */
export function* improveErrorCode(work: ErrorWork): Script {
  const better = "history-missing";
  yield* user(
    `Back to the first thing. \`${work.code}\` is the wrong word: the history may be there and hold only system messages. Call ` +
      `it \`${better}\`, in the table, the document and the place that throws, and give test/package.test.ts a case that ` +
      "the code is documented. Then run the check again.",
  );
  yield* together(
    [edit("src/errors.ts", work.tableLine, work.tableLine.replace(work.code, better))],
    "The lines are known from before; I change them where they stand.",
  );
  // From memory, and a word off: what an agent does whose window has lost the line.
  const misremembered = `| \`${work.code}\` | There is no message to make a window from. | ${advice} |`;
  const corrected = `| \`${better}\` | ${meaning} | ${advice} |`;
  yield* together([edit("docs/errors.md", misremembered, corrected)]);
  yield* together(
    [grep(work.code, ".")],
    "The row reads differently from what I remember. I look where the word stands.",
  );
  yield* together([edit("docs/errors.md", work.documentRow, corrected)]);
  const renamed = work.thrown.replace(work.code, better).replace("no message yet", "nothing but system messages yet");
  const condition = 'input.messages.every((message) => message.role === "system")';
  yield* together([
    edit("src/window/compose.ts", work.thrown, renamed.replace("input.messages.length === 0", condition)),
  ]);
  const declared = work.throwsLine.replace("`bad-option`", `\`bad-option\`, \`${work.code}\``);
  yield* together([edit("src/window/compose.ts", declared, declared.replace(work.code, better))]);
  const added = `  it("documents ${better}", () => {\n    expect(read("docs/errors.md")).toContain("\`${better}\`");\n  });\n\n`;
  yield* together([edit("test/package.test.ts", work.testLine, added + work.testLine)]);
  yield* together(
    [bash(`node --test ${work.check}`), grep(better, ".")],
    "The check, and every place that has the new name:",
  );
  yield* say(
    `Renamed to \`${better}\` in src/errors.ts, docs/errors.md and src/window/compose.ts, which now also refuses a history of ` +
      `nothing but system messages; test/package.test.ts has the case, and ${work.check} passes.`,
  );
}

const tableCheck = `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const table = readFileSync("src/errors.ts", "utf8");
const document = readFileSync("docs/errors.md", "utf8");

test("docs/errors.md lists the codes of src/errors.ts", () => {
  const codes = [...table.matchAll(/^  "([a-z-]+)": "/gm)].map((match) => match[1]);
  const rows = [...document.matchAll(/^\\| \`([a-z-]+)\` \\|/gm)].map((match) => match[1]);
  assert.ok(codes.length > 20, "the table was not found");
  assert.deepEqual(rows, codes);
});
`;
