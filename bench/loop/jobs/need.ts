/** The way of an agent to a value: its notes of this turn, the window, recall, the tools once more, and then giving up. */
import type { Call, Turn } from "./job.ts";
import type { Finding, Statement, View } from "./view.ts";

/** A value that the agent needs before it can act. */
export interface Need {
  /** The value's name in the agent's notes. */
  readonly key: string;
  /** Reads the value from a statement; the newest one that has it counts. */
  readonly read: (statement: Statement) => string | undefined;
  /** Reads it from what counts only where nothing else says it. */
  readonly otherwise?: (statement: Statement) => string | undefined;
  /** The words to recall it by, the best first. */
  readonly queries: readonly string[];
  /** Calls whose results may say it. */
  readonly again?: readonly Call[];
}

/** The value an agent uses after it gave up. */
export const unknown = "unknown";

/** Values that were found, and the window of the call after which the last one was. */
export interface Gathered {
  readonly values: readonly string[];
  readonly view: View;
}

/**
 * Finds values one after the other. What was found stands in the agent's own words beside each further call, so that it
 * is in the window when the last one is found.
 *
 * @param known - values found before, for the same action
 */
export function* gather(
  start: View,
  needs: readonly Need[],
  known: readonly (readonly [key: string, value: string])[] = [],
): Turn<Gathered> {
  let view = start;
  const found = new Map<string, string>(known);
  for (const need of needs) {
    const tries: (readonly [Finding["where"], Call])[] = [
      ...(view.hasRecall ? need.queries : []).map((query) => ["recall", { tool: "recall", args: { query } }] as const),
      ...(need.again ?? []).map((call) => ["tools", call] as const),
    ];
    let finding = look(view, need);
    for (const [where, call] of tries) {
      if (finding.value !== undefined) break;
      view.findings.push(finding);
      view = yield { ...(found.size > 0 && { say: soFar(found) }), calls: [call] };
      finding = look(view, need);
      if (finding.value !== undefined) finding = { ...finding, where };
    }
    view.findings.push(finding);
    found.set(need.key, finding.value ?? unknown);
  }
  return { values: needs.map(({ key }) => found.get(key) ?? unknown), view };
}

function soFar(found: ReadonlyMap<string, string>): string {
  return `So far: ${[...found].map(([key, value]) => `${key} = ${value}`).join("; ")}.`;
}

function look(view: View, { key, read, otherwise }: Need): Finding {
  const noted = view.ownWords
    .toReversed()
    .map((words) =>
      /^So far: (.*)\.$/s
        .exec(words)?.[1]
        ?.split("; ")
        .find((note) => note.startsWith(`${key} = `)),
    )
    .find((note) => note !== undefined);
  if (noted !== undefined) return { key, where: "notes", value: noted.slice(key.length + 3) };
  const said = view.newest(read) ?? (otherwise && view.newest(otherwise));
  return said ? { key, where: "window", ...said } : { key, where: "nowhere", value: undefined };
}

/** The last match of patterns in the lines of a statement, their first group. */
export function lineWith(statement: Statement, patterns: readonly RegExp[]): string | undefined {
  for (const line of statement.lines.toReversed()) {
    for (const pattern of patterns) {
      const value = pattern.exec(line)?.[1];
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

/**
 * A field of the record with this id, in JSON as it is printed or in an excerpt of it. A line without its record's id
 * beside it is read only where the label says whose it is.
 */
export function fieldOf({ lines, about, who }: Statement, id: string, key: string): string | undefined {
  const text = lines.join("\n");
  const field = new RegExp(String.raw`(?:"${key}"|^\s*(?:[\w.]+\.)?${key}):\s*(?:"([^"\n]*)"|([^",}\n]+))`, "m");
  for (const [record] of text.matchAll(/\{[^{}]*\}/g)) {
    if (!record.includes(id)) continue;
    const match = field.exec(record);
    if (match) return match[1] ?? match[2];
  }
  const isTheirs = about.split(/[\s/]+|\.(?=\w+$)/).includes(id);
  const records = who === "user" || who === "agent" ? [] : lines;
  const short = records
    .map((line) => shortField(line, isTheirs ? undefined : id, key))
    .find((found) => found !== undefined);
  if (short !== undefined || !isTheirs) return short ?? partOf(lines, id, field);
  const match = field.exec(text);
  return match ? (match[1] ?? match[2]) : undefined;
}

/** A field of a record that is told in a line, `name value, name value`, where the record's id is one of the values. */
function shortField(line: string, id: string | undefined, key: string): string | undefined {
  const pieces = line.replace(/^[\w.]+: /, "").split(", ");
  if (id !== undefined && !pieces.some((piece) => piece.split(" ").length === 2 && piece.endsWith(` ${id}`)))
    return undefined;
  const found = pieces.find((piece) => piece.startsWith(`${key} `));
  return found?.slice(key.length + 1);
}

/** A field behind the line with its record's id, where no brace stands between the two. */
function partOf(lines: readonly string[], id: string, field: RegExp): string | undefined {
  let isTheirs = false;
  for (const line of lines) {
    if (/^\s*[{}]/.test(line)) isTheirs = false;
    else if (line.includes(`"${id}"`)) isTheirs = true;
    const match = isTheirs ? field.exec(line) : null;
    if (match) return match[1] ?? match[2];
  }
  return undefined;
}
