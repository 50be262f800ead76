/** Charts of a replay: the tokens of every call, one small chart a strategy. */
import asciichart from "asciichart";
import type { ReplayedSession } from "../../replay/replay.ts";
import { colours, ownSequences } from "../terminal.ts";
import { count } from "../text/text.ts";

/** The most columns of a chart's line, each the last of the calls it stands for. */
const widest = 72;
/** Columns that the scale beside a line takes. */
const scaleWidth = 10;
const height = 5;
const palette = [
  { chart: asciichart.yellow, name: "yellow" },
  { chart: asciichart.magenta, name: "magenta" },
  { chart: asciichart.cyan, name: "cyan" },
  { chart: asciichart.green, name: "green" },
  { chart: asciichart.blue, name: "blue" },
] as const;

/**
 * Tokens per call of every strategy at the first budget. Strategies whose requests were the same share a chart.
 *
 * @param columns - of the terminal; 0 where it is not known
 */
export function tokenChart(session: ReplayedSession, colour: boolean, columns = 0): string {
  const budget = session.results[0]?.budget;
  const shown = session.results.filter((result) => result.budget === budget && result.series.length > 1);
  if (shown.length === 0) return "";
  const width = columns === 0 ? widest : Math.max(10, Math.min(widest, columns - scaleWidth));
  const series = new Map<string, string[]>();
  for (const { strategy, series: line } of shown) {
    const key = condense(line, width).join(" ");
    series.set(key, [...(series.get(key) ?? []), strategy]);
  }
  const charts = [...series].map(([key, strategies], place) => {
    const line = key.split(" ").map(Number);
    const { chart: ink, name } = palette[place % palette.length] as (typeof palette)[number];
    const top = Math.max(...line);
    const format = (value: number): string => tokensLabel(value, top).padStart(7);
    const plot = asciichart.plot([line], { min: 0, max: top, format, height, ...(colour && { colors: [ink] }) });
    return `${colours(colour)[name](strategies.join(", "))}\n${colour ? ownSequences(plot) : plot}`;
  });
  const title = `tokens per call (${count(session.calls)} calls, budget ${count(budget ?? 0)})`;
  return [title, ...charts.map((chart) => chart.replaceAll(/ +$/gm, ""))].join("\n");
}

function condense(series: readonly number[], width: number): readonly number[] {
  if (series.length <= width) return series;
  return Array.from({ length: width }, (_, column) => {
    return series[Math.floor(((column + 1) * series.length) / width) - 1] ?? 0;
  });
}

function tokensLabel(value: number, max: number): string {
  return max >= 10_000 ? `${Math.round(value / 1_000)}k` : String(Math.round(value));
}
