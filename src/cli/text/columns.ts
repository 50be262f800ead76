/** Lines and tables of as many columns as a terminal has room for. */
import { oneLine } from "./text.ts";

/** A column of a table whose rows are of one kind. */
export interface FittedColumn<R> {
  readonly name: string;
  /** The columns with the smallest rank stay longest in a narrow terminal. */
  readonly rank: number;
  cell(row: R): string;
}

/** Columns of the terminal that text takes: characters of East Asian scripts take two. */
export function textWidth(text: string): number {
  return [...text].reduce((columns, point) => columns + (wide.test(point) ? 2 : 1), 0);
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** One line of a text in at most so many columns, or characters where `columns` is 0: `usual` of them. */
export function fittedLine(text: string, columns: number, usual: number): string {
  if (columns <= 0) return oneLine(text, usual);
  const line = oneLine(text, columns);
  if (textWidth(line) <= columns) return line;
  let [shown, room] = ["", columns - 1];
  for (const point of line) {
    room -= textWidth(point);
    if (room < 0) break;
    shown += point;
  }
  return `${shown}…`;
}

/** The columns of a cell's width, with the space before it. */
export function columnWidth<R>(column: FittedColumn<R>, rows: readonly R[]): number {
  return rows.reduce((width, row) => Math.max(width, textWidth(column.cell(row))), textWidth(column.name)) + 2;
}

/**
 * The columns that fit, by rank, in their order. The one with the smallest rank is always among them.
 *
 * @param width - columns of the terminal; 0 where there is no limit
 */
export function fittingColumns<R, C extends FittedColumn<R>>(
  columns: readonly C[],
  rows: readonly R[],
  width: number,
): readonly C[] {
  if (width <= 0) return columns;
  let room = width;
  const ranked = columns.toSorted((left, right) => left.rank - right.rank);
  const chosen = new Set(
    ranked.filter((column, place) => {
      room -= columnWidth(column, rows);
      return room >= 0 || place === 0;
    }),
  );
  return columns.filter((column) => chosen.has(column));
}

/**
 * Paths in at most so many columns. Whole folders go from a path's beginning, and only a name that is longer is cut. Of
 * several that would read the same, each shows a folder that the others do not have.
 */
export function shortPaths(paths: readonly string[], width: number): readonly string[] {
  const short = paths.map((path) => shortPath(path, width));
  return paths.map((path, place) => {
    const same = paths.filter((other, at) => other !== path && short[at] === short[place]);
    return same.length === 0 ? (short[place] ?? path) : (distinctPath(path, same, width) ?? short[place] ?? path);
  });
}

function shortPath(path: string, width: number): string {
  if (textWidth(path) <= width) return path;
  const parts = path.split("/");
  for (let from = 1; from < parts.length; from++) {
    const short = `…/${parts.slice(from).join("/")}`;
    if (textWidth(short) <= width) return short;
  }
  const points = [...path];
  while (points.length > 1 && textWidth(points.join("")) > width - 1) points.shift();
  return `…${points.join("")}`;
}

/** A path by the last of its folders that no other path has in that place. */
function distinctPath(path: string, others: readonly string[], width: number): string | undefined {
  const parts = path.split("/").toReversed();
  const all = others.map((other) => other.split("/").toReversed());
  const place = parts.findIndex((part, at) => all.every((other) => other[at] !== part));
  const shown = place < 0 ? undefined : `…/${parts[place]}${place === 0 ? "" : "/…"}`;
  return shown !== undefined && textWidth(shown) <= width ? shown : undefined;
}
