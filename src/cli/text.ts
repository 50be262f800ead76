/** Text for a terminal: numbers, times, one-line excerpts, plain tables. */
import Table from "cli-table3";
import type { HorizontalAlignment } from "cli-table3";

/** A number with thousands parted: `45,678`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** A time as people read it, UTC: `2024-01-15 10:30:00 UTC`. */
export function timeLabel(timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? timestamp : `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A duration: `15 min 23 s`, `2 h 5 min`, `0.4 s`. */
export function durationLabel(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** Text without what a terminal would obey; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}

/** One line of a text, at most so many characters. */
export function oneLine(text: string, length: number): string {
  const line = printable(
    text
      .slice(0, 4 * length)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  const points = [...line];
  return points.length > length || text.length > 4 * length ? `${points.slice(0, length - 1).join("")}…` : line;
}

/** A table without lines, two spaces in. */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string {
  const sides = ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"];
  const inner = ["left", "left-mid", "mid", "mid-mid", "right", "right-mid"];
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column): HorizontalAlignment => (right.includes(column) ? "right" : "left")),
    style: { "head": [], "border": [], "padding-left": 1, "padding-right": 0, "compact": true },
    chars: { ...Object.fromEntries([...sides, ...inner].map((place) => [place, ""])), middle: " " },
  });
  for (const row of rows) table.push([...row]);
  return table.toString().replaceAll(/ +$/gm, "");
}
