/** What a benchmark answers with: one row a thing measured, the units in the column's name. */

/** A row of a benchmark's table: column to value. */
export type BenchRow = Readonly<Record<string, string | number>>;

/** One benchmark's result. */
export interface BenchReport {
  readonly name: string;
  readonly rows: readonly BenchRow[];
  /** How the figures were taken, in one line. */
  readonly note?: string;
}

/** The middle of some figures; of an even number of them, the upper of the two in the middle. NaN for none. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}

/** What a figure should be: at least, or at most. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** A goal in words, with a mark that says whether a figure meets it; what could not be counted cannot be wrong. */
export function goalText(figure: unknown, goal: Goal): string {
  const [wanted, met] =
    "atLeast" in goal
      ? [`≥ ${goal.atLeast}`, typeof figure !== "number" || figure >= goal.atLeast]
      : [`≤ ${goal.atMost}`, typeof figure !== "number" || figure <= goal.atMost];
  return `${wanted} ${met ? "✓" : "✗"}`;
}

/** A row for one figure and its goal. */
export function goalRow(subject: string, figure: number, goal: Goal): BenchRow {
  return { subject: `goal: ${subject}`, figure: Number(figure.toPrecision(3)), goal: goalText(figure, goal) };
}
