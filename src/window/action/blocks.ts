/** Blocks: replacements that stand in one text between marks, as Cline, Roo and Aider spell them. */
import type { Change } from "./action.ts";

const searchMark = /^(?:<{5,9}|-{5,9}) ?SEARCH>?\s*$/;
const middleMark = /^={5,9}\s*$/;
const replaceMark = /^(?:>{5,9}|\+{5,9}) ?REPLACE>?\s*$/;

/** The replacements of a text; none where it has no marks. */
export function blockChanges(text: string): readonly Change[] {
  const changes: Change[] = [];
  let old: string[] | undefined;
  let fresh: string[] | undefined;
  let at: number | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (searchMark.test(line)) {
      old = [];
      fresh = undefined;
      at = undefined;
    } else if (old && !fresh && middleMark.test(line)) fresh = [];
    else if (old && fresh && replaceMark.test(line)) {
      const hunk = at === undefined ? {} : { at };
      changes.push({ before: old.join("\n"), after: fresh.join("\n"), hunk });
      old = fresh = undefined;
    } else if (fresh) fresh.push(line);
    else if (old?.length === 0 && /^:start_line:\s*\d+\s*$/.test(line)) at = Number(/\d+/.exec(line)?.[0]);
    else if (old && !(old.length === 0 && /^(?::end_line:.*|-{5,9})$/.test(line))) old.push(line);
  }
  return changes;
}
