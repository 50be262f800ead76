/** Errors in the text of a task. Where a session met the same one, a single message of it has the whole line. */
import { termsOf } from "../../window/recall/terms.ts";
import { errorLine } from "./done.ts";

/** Lines of a text that count as errors, and terms of each. */
const mostLines = 4;
const mostLineTerms = 32;

/** Terms of a line below which it says nothing that others do not. */
const leastLineTerms = 2;

const fromErrorName = /\b\w*(?:Error|Exception)\b.*/u;

/** The terms of each line of a text that says an error; where it has an error's name, from there on. */
export function errorTerms(text: string): readonly ReadonlySet<string>[] {
  const lines = new Map<string, ReadonlySet<string>>();
  for (const line of text.split("\n")) {
    if (errorLine(line) === undefined) continue;
    const terms = new Set(termsOf(fromErrorName.exec(line)?.[0] ?? line).slice(0, mostLineTerms));
    if (terms.size >= leastLineTerms) lines.set([...terms].join(" "), terms);
    if (lines.size === mostLines) break;
  }
  return [...lines.values()];
}
