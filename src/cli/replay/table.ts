/** The table of a replay: as many columns as the terminal has room for, and none that says nothing. */
import Table from "cli-table3";
import type { RecordedUse } from "../../replay/recorded.ts";
import type { ReplayResult } from "../../replay/replay.ts";
import { colours } from "../terminal.ts";
import { count } from "../text/text.ts";
import { decimals, percent } from "./figures.ts";
import { fittingColumns } from "../text/columns.ts";
import type { FittedColumn } from "../text/columns.ts";
import { wrapped } from "../text/paragraph.ts";
import { plainStyle } from "../text/table.ts";

/** A result row: of one session or of all. */
export type Row = Pick<
  ReplayResult,
  | "strategy"
  | "tokens"
  | "cost"
  | "cachedShare"
  | "epochs"
  | "lookback"
  | "named"
  | "broken"
  | "overBudget"
  | "refused"
  | "faults"
> & { readonly budget: number | null };

/** A row of the table: a strategy's, or the recording's own, which has no window to measure. */
type Shown = Row | (Pick<Row, "tokens" | "cost" | "cachedShare"> & { readonly strategy: string });

interface Column extends FittedColumn<Shown> {
  /** Whether the column is left out where every row has this. */
  readonly dull?: (row: Shown) => boolean;
}

const nothing = "–";

function measured(value: (row: Row) => string): (row: Shown) => string {
  return (row) => ("lookback" in row ? value(row) : nothing);
}

const plain: readonly Column[] = [
  { name: "strategy", rank: 0, cell: ({ strategy }) => strategy },
  { name: "budget", rank: 5, cell: measured(({ budget }) => (budget === null ? nothing : count(budget))) },
  { name: "average", rank: 1, cell: ({ tokens }) => count(tokens.average) },
  { name: "peak", rank: 9, cell: ({ tokens }) => count(tokens.peak) },
  { name: "cost", rank: 8, cell: ({ cost }) => decimals(cost.equivalents, cost.equivalents < 1 ? 3 : 2) },
  {
    name: "$",
    rank: 2,
    cell: ({ cost }) => (cost.dollars === null ? nothing : decimals(cost.dollars, 2)),
    dull: ({ cost }) => cost.dollars === null,
  },
  { name: "cached", rank: 6, cell: ({ cachedShare }) => `${Math.floor(100 * cachedShare)}%` },
  { name: "epochs", rank: 10, cell: measured(({ epochs }) => count(epochs)) },
  { name: "recall", rank: 3, cell: measured(({ lookback }) => percent(lookback.all)) },
  { name: "far", rank: 7, cell: measured(({ lookback }) => percent(lookback.far)) },
  { name: "lines", rank: 11, cell: measured(({ lookback }) => percent(lookback.farLines)), dull: hasNoLines },
  { name: "1-hop", rank: 4, cell: measured(({ lookback }) => percent(lookback.oneHop)) },
];

const namedFiles: Column = {
  name: "named",
  rank: 14,
  cell: measured(({ named: { named, total } }) => (total === 0 ? nothing : `${Math.floor((100 * named) / total)}%`)),
  dull: (row) => !("lookback" in row) || row.named.total === 0,
};

const faults: readonly Column[] = [
  {
    name: "broken",
    rank: 12,
    cell: measured((row) => count(row.broken + row.faults)),
    dull: (row) => !("lookback" in row) || row.broken + row.faults === 0,
  },
  {
    name: "over",
    rank: 13,
    cell: measured((row) => count(row.overBudget + row.refused)),
    dull: (row) => !("lookback" in row) || row.overBudget + row.refused === 0,
  },
];

function hasNoLines(row: Shown): boolean {
  return !("lookback" in row) || row.lookback.farLines === null;
}

/** A table, with what it left out. */
export interface ResultTable {
  readonly text: string;
  /** The names of its columns. */
  readonly columns: readonly string[];
}

/**
 * The results as a table, the recording's own use above them. Rows with the same figures become one, columns that say
 * nothing are left out, and so are those that a narrow terminal has no room for.
 *
 * @param width - columns of the terminal; 0 where the table may be as wide as it is
 */
export function resultTable(
  rows: readonly Row[],
  recorded: RecordedUse | undefined,
  colour: boolean,
  width = 0,
): ResultTable {
  const { dim, red } = colours(colour);
  const { distinct, same } = distinctRows(rows);
  const shown: readonly Shown[] = [...(recorded ? [{ ...recorded, strategy: "as recorded" }] : []), ...distinct];
  const telling = [...plain, namedFiles, ...faults].filter(({ dull }) => !dull || !shown.every(dull));
  const columns = fittingColumns<Shown, Column>(telling, shown, width);
  const table = new Table({
    head: columns.map(({ name }) => dim(name)),
    colAligns: columns.map((_, place) => (place === 0 ? "left" : "right")),
    ...plainStyle,
  });
  for (const row of shown)
    table.push(columns.map((column) => (faults.includes(column) ? painted(column.cell(row), red) : column.cell(row))));
  const missing = telling.filter((column) => !columns.includes(column)).map(({ name }) => name);
  const notes = [
    ...same,
    ...(missing.length === 0 ? [] : [`For ${missing.join(", ")} the terminal is too narrow; --json has them.`]),
  ];
  return {
    text: [table.toString().replaceAll(/ +$/gm, ""), ...notes.flatMap((note) => wrapped([note], width)).map(dim)].join(
      "\n",
    ),
    columns: columns.map(({ name }) => name),
  };
}

function painted(cell: string, red: (text: string) => string): string {
  return cell === "0" || cell === nothing ? cell : red(cell);
}

/** Rows without those whose figures an earlier one has, and a line on each of these. */
function distinctRows(rows: readonly Row[]): { readonly distinct: readonly Row[]; readonly same: readonly string[] } {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const { strategy: _strategy, budget: _budget, ...figures } = row;
    const key = JSON.stringify([figures.tokens, figures.cost, figures.lookback, figures.broken, figures.overBudget]);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  const named = ({ strategy, budget }: Row): string => `${strategy}${budget === null ? "" : ` at ${count(budget)}`}`;
  const all = [...groups.values()];
  return {
    distinct: all.map(([first]) => first as Row),
    same: all
      .filter((group) => group.length > 1)
      .map(([first, ...others]) => `The same as ${(first as Row).strategy}: ${others.map(named).join(", ")}.`),
  };
}
