/** How a replay looks in a terminal: tables, a chart of tokens per call, and a paragraph in plain words. */
import asciichart from "asciichart";
import Table from "cli-table3";
import { colours, ownSequences } from "../terminal.ts";
import type { ReplayedSession, ReplayResult } from "../../replay/replay.ts";
import type { ReplayTotal } from "../../replay/totals.ts";
import { printable } from "../../printable.ts";

/** A session with the file it came from. */
export interface NamedSession extends ReplayedSession {
  readonly file: string;
}

/** A result row: of one session or of all. */
type Row = Pick<
  ReplayResult,
  | "strategy"
  | "tokens"
  | "cost"
  | "cachedShare"
  | "epochs"
  | "lookback"
  | "staleShare"
  | "removedLines"
  | "broken"
  | "overBudget"
  | "refused"
  | "faults"
> & { readonly budget: number | null };

/** Columns of a chart, each the last of the calls it stands for. */
const chartWidth = 72;
/** Columns of a terminal from which on the table shows the finer measures of recall as well. */
const wideColumns = 130;
/** Lines of a chart of all strategies, and of each alone. */
const chartHeight = 12;
const smallChartHeight = 5;
const palette = [
  { chart: asciichart.yellow, name: "yellow" },
  { chart: asciichart.magenta, name: "magenta" },
  { chart: asciichart.cyan, name: "cyan" },
  { chart: asciichart.green, name: "green" },
  { chart: asciichart.blue, name: "blue" },
] as const;

/** One line that says which session this is. */
export function sessionTitle(session: NamedSession, colour: boolean): string {
  const { bold, dim } = colours(colour);
  const facts = [
    session.format,
    session.model,
    `${count(session.messages)} messages`,
    `${count(session.calls)} calls`,
    `${count(session.historyTokens)} tokens of history`,
    ...sentFacts(session),
  ];
  const told = facts.filter((fact) => fact !== null).join(" · ");
  return `${bold(printable(session.id))} ${dim(printable(told))}`;
}

function sentFacts({ sent }: NamedSession): readonly string[] {
  if (!sent) return [];
  return [...(sent.system ? ["its system prompt"] : []), ...(sent.tools > 0 ? [`${count(sent.tools)} tools`] : [])];
}

/**
 * The results as a table.
 *
 * @param columns - of the terminal; in a wide one, `strict`, `quotes`, `hunks`, `stale` and `gone` are shown too
 */
export function resultTable(rows: readonly Row[], colour: boolean, columns = 0): string {
  const { green, red, dim } = colours(colour);
  const priced = rows.some((row) => row.cost.dollars !== null);
  const head = ["strategy", "budget", "average", "peak", "cost", ...(priced ? ["$"] : []), "cached", "epochs"];
  const finer = columns < wideColumns ? [] : ["strict", "quotes", "hunks", "stale", "gone"];
  const names = [...head, "recall", "far", "lines", "1-hop", ...finer, "broken", "over"];
  const table = new Table({
    head: names.map((name) => dim(name)),
    colAligns: ["left", ...names.slice(1).map(() => "right" as const)],
    style: { "head": [], "border": [], "padding-left": 1, "padding-right": 0, "compact": true },
    chars: {
      "top": "",
      "top-mid": "",
      "top-left": "",
      "top-right": "",
      "bottom": "",
      "bottom-mid": "",
      "bottom-left": "",
      "bottom-right": "",
      "left": "",
      "left-mid": "",
      "mid": "",
      "mid-mid": "",
      "right": "",
      "right-mid": "",
      "middle": " ",
    },
  });
  const bad = (number: number): string => (number === 0 ? green("0") : red(count(number)));
  for (const row of rows) {
    table.push([
      row.strategy,
      row.budget === null ? "–" : count(row.budget),
      count(row.tokens.average),
      count(row.tokens.peak),
      decimals(row.cost.equivalents, row.cost.equivalents < 1 ? 3 : 2),
      ...(priced ? [row.cost.dollars === null ? "–" : decimals(row.cost.dollars, 2)] : []),
      `${Math.floor(100 * row.cachedShare)}%`,
      count(row.epochs),
      percent(row.lookback.all),
      percent(row.lookback.far),
      percent(row.lookback.farLines),
      percent(row.lookback.oneHop),
      ...(finer.length === 0 ? [] : finerCells(row)),
      bad(row.broken + row.faults),
      bad(row.overBudget + row.refused),
    ]);
  }
  return table.toString();
}

function finerCells({ lookback, staleShare, removedLines }: Row): readonly string[] {
  return [
    percent(lookback.strict),
    foundOf(lookback.quotes),
    foundOf(lookback.patchQuotes),
    staleShare === null ? "–" : `${decimals(Math.ceil(1_000 * staleShare) / 10, 1)}%`,
    removedLines.of === 0 ? "–" : count(removedLines.titled),
  ];
}

function foundOf({ found, total }: { readonly found: number; readonly total: number }): string {
  return total === 0 ? "–" : `${count(found)}/${count(total)}`;
}

const either = new Intl.ListFormat("en", { type: "disjunction" });

/** The meaning of the columns, in plain words. */
export function legend(farDistances: readonly number[], colour: boolean, columns = 0): string {
  const far = [...new Set(farDistances)].toSorted((left, right) => left - right).map(count);
  return colours(colour).dim(
    [
      "average, peak: tokens of a request.  cost: million input tokens, cached ones at 0.1, written ones at 1.25.",
      "recall: share of what tool calls refer back to that was still in the window;",
      `far: of what lay more than ${either.format(far)} tokens back;  lines: exact lines of it;`,
      "1-hop: in the window, or one recall away.",
      ...(columns < wideColumns ? [] : finerWords),
      "broken: requests a provider refuses.  over: requests above the budget without need.",
    ].join("\n"),
  );
}

const finerWords = [
  "strict: far, but of Windrow's own messages only lines that are lines of the history;  quotes: old texts of edits,",
  "from far back, that stood whole in the window;  hunks: the same of the passages that patches change;",
  "stale: lines shown of a file that were gone from it;  gone: how many of them an edit had taken out.",
];

/** Tokens per call of every strategy at the first budget; without colours, a small chart for each. */
export function tokenChart(session: ReplayedSession, colour: boolean): string {
  const budget = session.results[0]?.budget;
  const shown = session.results.filter((result) => result.budget === budget && (result.series?.length ?? 0) > 1);
  if (shown.length === 0) return "";
  const series = shown.map((result) => condense(result.series ?? []));
  const max = Math.max(...series.flat());
  const scaleTo = (top: number): { min: number; max: number; format: (value: number) => string } => {
    return { min: 0, max: top, format: (value) => tokensLabel(value, top).padStart(7) };
  };
  const title = `tokens per call (${count(session.calls)} calls, budget ${count(budget ?? 0)})`;
  if (!colour) {
    const charts = shown.map(({ strategy }, place) => {
      const line = series[place] ?? [];
      return `${strategy}\n${asciichart.plot([line], { ...scaleTo(Math.max(...line)), height: smallChartHeight })}`;
    });
    return [title, ...charts.map((chart) => chart.replaceAll(/ +$/gm, ""))].join("\n");
  }
  const names = shown.map(({ strategy }, place) => colours(true)[inkOf(place).name](`── ${strategy}`));
  const chart = asciichart.plot(series, {
    ...scaleTo(max),
    height: chartHeight,
    colors: shown.map((_, place) => inkOf(place).chart),
  });
  return [`${title}   ${names.join("  ")}`, ownSequences(chart)].join("\n");
}

function inkOf(place: number): (typeof palette)[number] {
  return palette[place % palette.length] as (typeof palette)[number];
}

function condense(series: readonly number[]): readonly number[] {
  if (series.length <= chartWidth) return series;
  return Array.from({ length: chartWidth }, (_, column) => {
    return series[Math.floor(((column + 1) * series.length) / chartWidth) - 1] ?? 0;
  });
}

function tokensLabel(value: number, max: number): string {
  return max >= 10_000 ? `${Math.round(value / 1_000)}k` : String(Math.round(value));
}

/** The faults that a person's own sessions would have had, in plain words. */
export function plainWords(sessions: readonly ReplayedSession[], totals: readonly ReplayTotal[]): string {
  const calls = sessions.reduce((sum, session) => sum + session.calls, 0);
  const raw = sessions.reduce((sum, session) => sum + session.brokenRaw, 0);
  const of = (name: string): ReplayTotal | undefined => totals.find((total) => total.strategy === name);
  const [none, sliding, adaptive] = [of("none"), of("sliding-window"), of("adaptive")];
  return [
    `Your ${sessions.length === 1 ? "session" : `${sessions.length} sessions`} made ${count(calls)} model calls.`,
    rawWords(raw, calls),
    ...(none ? [noneWords(none)] : []),
    ...(sliding ? [slidingWords(sliding, none)] : []),
    ...(adaptive ? [adaptiveWords(adaptive)] : []),
  ].join(" ");
}

function rawWords(broken: number, calls: number): string {
  if (broken === 0) return "As recorded, every request was one that a provider accepts.";
  return (
    `Sent as recorded, ${count(broken)} of them (${share(broken, calls)}) would have been refused: aborted tool ` +
    "calls have no result, or results no call. Windrow mends that in the window; your files stay as they are."
  );
}

function noneWords(none: ReplayTotal): string {
  const over = none.overBudget === 0 ? "" : `, and ${count(none.overBudget)} calls were above the budget`;
  return `The whole history on every call cost ${price(none)}${over}.`;
}

function slidingWords(sliding: ReplayTotal, none: ReplayTotal | undefined): string {
  const dearer = none !== undefined && sliding.cost.equivalents > none.cost.equivalents;
  const why = dearer ? ", more than sending everything, because each call rewrites the provider's prompt cache," : "";
  return `Dropping the oldest messages instead costs ${price(sliding)}${why} and loses ${lost(sliding)}.`;
}

function adaptiveWords(adaptive: ReplayTotal): string {
  const { oneHop } = adaptive.lookback;
  const recall =
    oneHop === null ? "" : `; one recall by an id in the window brings back all but ${points(100 - oneHop)} %`;
  const back = oneHop === 100 ? "; one recall by an id in the window brings each of them back" : recall;
  return (
    `With adaptive it is ${price(adaptive)}, with ${count(adaptive.broken)} broken calls, and ${lost(adaptive)} ` +
    `out of sight${back}.`
  );
}

function price(total: ReplayTotal): string {
  const { equivalents, dollars } = total.cost;
  return `${decimals(equivalents, 2)} million input tokens${dollars === null ? "" : ` ($${decimals(dollars, 2)})`}`;
}

function lost({ lookback }: ReplayTotal): string {
  if (lookback.all === null) return "nothing that later calls refer back to";
  const far = lookback.far === null ? "" : ` (${decimals(100 - lookback.far, 1)} % of what lies far back)`;
  return `${decimals(100 - lookback.all, 1)} % of what later calls refer back to${far}`;
}

function points(value: number): string {
  return decimals(value, value < 0.1 ? 2 : 1);
}

function share(part: number, whole: number): string {
  return `${decimals((100 * part) / Math.max(1, whole), 1)} %`;
}

function percent(value: number | null): string {
  return value === null ? "–" : value === 100 ? "100" : decimals(Math.floor(10 * value) / 10, 1);
}

function decimals(value: number, digits: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
