/** Work about the house: figures of all files, a rename across the tree, the changelog. */
import type { EpochWork } from "./task-epochs.ts";
import type { ErrorWork } from "./task-errors.ts";
import { bash, call, edit, grep, hitsOf, lineOf, read, say, together, user, write } from "./moves.ts";
import type { Hit, Script } from "./moves.ts";

/** Long output, a look at the longest file, and a command that the user stops. */
export function* measureFiles(): Script {
  yield* user(
    "Which ten files of src are the longest, and what does each room export? I want to see whether something should be split.",
  );
  const sizes = yield* call("bash", { command: "find src -name '*.ts' | sort | xargs wc -l | sort -rn | head -60" });
  yield* call(
    "bash",
    { command: "grep -rn '^export ' src --include='*.ts' | sort" },
    "And everything that is exported:",
  );
  const longest = sizes.split("\n").flatMap((line) => /^\s*(\d+) (src\/\S+)$/.exec(line)?.slice(1, 3).reverse() ?? []);
  const [first, lines, second] = longest;
  if (first === undefined || lines === undefined || second === undefined) throw new Error(`no sizes in: ${sizes}`);
  yield* call("read", { path: first, offset: 1, limit: 110 }, `${first} is the longest with ${lines} lines.`);
  yield* call("read", { path: second, offset: 1, limit: 80 });
  yield* call("bash", {
    command: "node --version && grep -c '' src/index.ts && grep -rLE '^/\\*\\*' src --include='*.ts' | head",
  });
  yield* say(
    `The longest is ${first} with ${lines} lines, then ${second}. Both hold one idea; I would split neither yet.`,
  );
  yield* user("Good. Then make sure that every file at least parses.");
  yield { calls: [bash("find src test -name '*.ts' | sort | xargs -n 1 node --check")], aborted: true };
}

/** What the rename changed. */
export interface RenameWork {
  readonly from: string;
  readonly to: string;
  readonly hits: readonly Hit[];
}

/** Finds every place of a name, looks at each, changes each line, and proves that none is left. */
export function* renameBudgetCheck(): Script<RenameWork> {
  const [from, to] = ["checkBudget", "checkedBudget"];
  yield* user(
    `Stop, that takes one process for each file. Something else: \`${from}\` returns what it checked, so call it \`${to}\`, ` +
      "everywhere. Look at each place before you change it.",
  );
  const hits = hitsOf(yield* call("grep", { pattern: `\\b${from}\\b`, path: "." }));
  const inCode = hits.filter(({ path }) => path.startsWith("src/"));
  for (const { path, line } of inCode) {
    yield* call("read", { path, offset: Math.max(1, line - 8), limit: 18 });
  }
  for (const { path, text } of inCode) {
    yield* together([edit(path, text, text.replaceAll(from, to))]);
  }
  yield* together(
    [grep(`\\b${from}\\b`, "src"), grep(`\\b${to}\\b`, "src")],
    "None may be left, and all must be there.",
  );
  const check = "check/names.test.mjs";
  yield* together([write(check, namesCheck(from, to, inCode.length))]);
  yield* together([bash(`node --test ${check}`)]);
  yield* say(`\`${to}\` stands in ${inCode.length} places, \`${from}\` in none; ${check} keeps it so.`);
  return { from, to, hits: inCode };
}

/** The last task names what all others did. */
export function* writeChangelog({
  errors,
  epochs,
  renamed,
}: {
  readonly errors: ErrorWork;
  readonly epochs: EpochWork;
  readonly renamed: RenameWork;
}): Script {
  yield* user(
    "Last: put all of this into CHANGELOG.md under Unreleased, with the names as they are now, and show me what changed where.",
  );
  const changes = yield* call("read", { path: "CHANGELOG.md", offset: 1, limit: 40 });
  const heading = lineOf(changes, /^## \[?Unreleased/).text;
  const files = [...new Set(renamed.hits.map(({ path }) => path))].join(", ");
  const entries = [
    heading,
    "",
    "### Added",
    "",
    "- Error code `history-missing`: `composeWindow` refuses a history without a message of the user or the model.",
    `- ${epochs.target}: when an epoch opens (\`${epochs.decided.text.trim()}\`), and how it comes back after a crash.`,
    "",
    "### Changed",
    "",
    `- \`${renamed.from}\` is \`${renamed.to}\`, in ${files}.`,
  ].join("\n");
  yield* together([edit("CHANGELOG.md", heading, entries)]);
  yield* together([read("CHANGELOG.md", 1, 30), read(epochs.target, 1, 40), { name: "list", args: { path: "check" } }]);
  yield* together([bash(`node --test ${errors.check} check/names.test.mjs`)], "Both checks a last time:");
  yield* say("CHANGELOG.md has the three entries; both checks pass.");
}

function namesCheck(from: string, to: string, places: number): string {
  return `import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const sources = readdirSync("src", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
  .join("\\n");

test("the budget's check has one name", () => {
  assert.equal(sources.match(/\\b${from}\\b/g), null);
  assert.ok((sources.match(/\\b${to}\\b/g) ?? []).length >= ${places});
});
`;
}
