/** The reader of the migration. */
import { matches } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";

/** The reader: a line of code is known by the old function that its tag names, a limit by its own name. */
export const migrationReading: Reading = (passage) => {
  if (passage.who === "assistant") return [];
  const found: Statement[] = [];
  if (passage.who === "call") {
    const [, before = "", after = ""] = /^old_line: (.*)\nnew_line: (.*)$/m.exec(passage.text) ?? [];
    const tag = tagOf(before);
    if (tag === undefined) return [];
    return [
      { key: `line ${tag}`, value: after, old: before },
      { key: `before ${tag}`, value: before },
    ];
  }
  for (const line of passage.text.split("\n")) {
    const code = line.replace(/^\s*(?:\d+\| ?)?\s*/, "");
    const tag = tagOf(code);
    if (tag !== undefined) {
      found.push({ key: `line ${tag}`, value: code });
      // A line that still calls the old function is the one before the move.
      if (code.includes(`${tag}(`)) found.push({ key: `before ${tag}`, value: code });
    }
    const limit = /^\/\/ (LIMIT_\w+) stays at (\d+)\b/.exec(code);
    if (limit) found.push({ key: limit[1] as string, value: limit[2] as string, yields: true });
    const row = /^\| `(\w+)` \| `(\w+)` \|/.exec(code);
    if (row) found.push({ key: `name ${row[1]}`, value: row[2] as string, yields: true });
    const entry = /^(?:[-*] )?`(\w+)` becomes `(\w+)`, no longer `(\w+)`/.exec(code);
    if (entry) found.push({ key: `name ${entry[1]}`, value: entry[2] as string, old: entry[3] as string });
  }
  found.push(
    ...matches(passage, /Call (\w+) by the name of (\w+) instead of (\w+)/g, ([old, value = "", was = ""]) => ({
      key: `name ${old}`,
      value,
      old: was,
    })),
    ...matches(passage, /(LIMIT_\w+) is not (\d+) but (\d+)/g, ([limit = "", old = "", value = ""]) => ({
      key: limit,
      value,
      old,
    })),
  );
  return found;
};

/** The tag at the end of a line of code. */
function tagOf(line: string): string | undefined {
  return /; \/\/ @(\w+)$/.exec(line)?.[1];
}
