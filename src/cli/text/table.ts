/** Plain tables. They are a file of their own: their package takes as long to load as a small command runs. */
import Table from "cli-table3";
import type { HorizontalAlignment } from "cli-table3";
import { printable } from "../../printable.ts";

const sides = ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"];
const inner = ["left", "left-mid", "mid", "mid-mid", "right", "right-mid"];

/** The looks of a table without lines, two spaces between its columns. */
export const plainStyle = {
  style: { "head": [], "border": [], "padding-left": 1, "padding-right": 0, "compact": true },
  chars: { ...Object.fromEntries([...sides, ...inner].map((place) => [place, ""])), middle: " " },
};

/** A table without lines, two spaces in; a cell is one line. */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column): HorizontalAlignment => (right.includes(column) ? "right" : "left")),
    ...plainStyle,
  });
  for (const row of rows) table.push(row.map(printable));
  return table.toString().replaceAll(/ +$/gm, "");
}
