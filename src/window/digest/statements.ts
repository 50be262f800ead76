/**
 * Statements: the lines that a choice begins with. What the user laid down for good comes before all else, and what
 * changes a text that stands in the window stands with it.
 */
import type { Work } from "../../turns.ts";
import { splitSentences } from "../../message/sentences.ts";
import type { Candidates } from "./candidate.ts";
import type { LineTable } from "./line-table.ts";
import { NewerLines } from "./newer.ts";
import { isRule } from "./requests.ts";

/** The lines that a choice begins with, by their rows. */
export interface FirstChoices {
  /** The user's lines that change a text which stands in the window whatever is chosen, newest first. */
  readonly amendments: readonly number[];
  /** The newest lines that speak of the same as what stands, the most often named first. */
  readonly later: readonly number[];
  /** The user's rules, and short messages of the user's whole: newest messages first, rules before the rest. */
  readonly instructions: readonly (readonly number[])[];
  /** The newest lines that speak of the same as one, which never stands without them. */
  readonly newerOf: (row: number) => readonly number[];
}

/** Most tokens of a message of the user's that is kept whole; of a longer one, its rules. */
const shortMessage = 160;

/**
 * Finds what candidates change, and the newest lines that speak of the same as each.
 *
 * @param standing - texts that stand in the window before all candidates: the task, the system block, pins
 */
export function* readStatements(
  { table, blocks, whole }: Pick<Candidates, "table" | "blocks" | "whole">,
  standing: readonly string[],
): Work<FirstChoices> {
  const newer = yield* NewerLines.among(table, [...blocks, ...whole]);
  const { lines, seqs } = table;
  const changing: number[] = [];
  for (const text of standing.flatMap((text) => splitSentences(text))) {
    changing.push(...newer.than(text));
    yield;
  }
  const isUsers = (row: number): boolean => lines[row]?.kind === "user";
  const after = whole.flatMap(({ from, to }) => rowsOf(from, to).flatMap((row) => newer.of(row)));
  yield;
  return {
    amendments: [...new Set(changing.filter(isUsers))].sort((one, other) => seqs[other]! - seqs[one]! || one - other),
    later: oftenest([...after, ...changing.filter((row) => !isUsers(row))]),
    instructions: instructionsIn(
      table,
      blocks.filter(({ passage }) => passage.lines[0]?.kind === "user").flatMap(({ from, to }) => rowsOf(from, to)),
    ),
    newerOf: (row) => newer.of(row),
  };
}

function rowsOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Rows, those first that are named most often; of equals the first. */
function oftenest(named: readonly number[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const one of named) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left).map(([one]) => one);
}

/** The user's messages, newest first: the rules of all, then those short enough to stand whole. */
function instructionsIn(
  { lines, seqs, tokens, isDone }: LineTable,
  users: readonly number[],
): readonly (readonly number[])[] {
  const messages = new Map<number, number[]>();
  for (const row of users) {
    if (lines[row]!.key === "" || isDone[row] === 1) continue;
    const known = messages.get(seqs[row]!);
    if (known) known.push(row);
    else messages.set(seqs[row]!, [row]);
  }
  const newest = [...messages].toSorted(([left], [right]) => right - left).map(([, rows]) => rows);
  const whole = newest.filter((rows) => rows.reduce((sum, row) => sum + tokens[row]!, 0) <= shortMessage);
  return [...newest.map((rows) => rows.filter((row) => isRule(lines[row]!.text))), ...whole];
}
