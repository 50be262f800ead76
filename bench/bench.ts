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
