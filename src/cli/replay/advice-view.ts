/** Advice on a budget as text: the table of what was compared, the row to take, and the lines that turn it on. */
import { enoughShare } from "../../replay/advice.ts";
import type { Advice } from "../../replay/advice.ts";
import type { ReplayTotal } from "../../replay/totals.ts";
import { colours } from "../terminal.ts";
import { textWidth } from "../text/columns.ts";
import { commandLine, wrapped } from "../text/paragraph.ts";
import { plainTable } from "../text/table.ts";
import { count, moneyLabel } from "../text/text.ts";
import { decimals, percent } from "./figures.ts";
import type { NamedSession } from "./view.ts";

/** Columns of the longest bar. */
const barWidth = 20;
/** The columns of the table that a narrow terminal goes without, one after the other: the bar, the average, the epochs. */
const dispensable = [7, 6, 5];

/** How agents are started with a budget and recall, by the format of their sessions. opencode has recall by MCP alone. */
const starts: Readonly<Record<string, (budget: string) => string>> = {
  "claude-code": (budget) => `npx windrow gateway run --budget ${budget} --recall tool -- claude`,
  "codex": (budget) => `npx windrow gateway run --budget ${budget} --recall tool -- codex`,
  "gemini-cli": (budget) => `npx windrow gateway run --budget ${budget} --recall tool -- gemini`,
  "opencode": (budget) => `npx windrow gateway run --budget ${budget} -- opencode`,
  "pi": (budget) => `pi -e npm:windrow --windrow-budget ${budget.replace("k", "000")}`,
};

/** How agents that are not known here are given one. */
const ownStart = (budget: string): string =>
  `composeWindow({ budget: ${budget === "auto" ? '"auto"' : budget.replace("k", "_000")}, … })`;

/** The budget to set for a row, and the lines that set it. */
export interface Chosen {
  /** With the system prompt and the tools of requests, which replay counts apart: tokens as `48k`, or `auto`. */
  readonly setting: string;
  /** A line for each agent that recorded the sessions. */
  readonly lines: readonly string[];
}

/** How a row is turned on, for the agents that recorded the sessions. */
export function chosenOf(
  row: Pick<ReplayTotal, "strategy" | "budget">,
  sessions: readonly Pick<NamedSession, "format" | "calibration">[],
): Chosen {
  const setting = isAuto(row) ? "auto" : `${Math.ceil(((row.budget ?? 0) + besidesOf(sessions)) / 1_000)}k`;
  const formats = new Set(sessions.map(({ format }) => format));
  return { setting, lines: [...new Set([...formats].map((format) => (starts[format] ?? ownStart)(setting)))] };
}

/** The most tokens of a request beside its messages. */
function besidesOf(sessions: readonly Pick<NamedSession, "calibration">[]): number {
  return Math.max(0, ...sessions.map(({ calibration }) => calibration?.overhead ?? 0));
}

/** Advice as text for people. */
export function adviceText(advice: Advice, sessions: readonly NamedSession[], colour: boolean, width = 0): string {
  const { rows, advised, before } = advice;
  const { bold, dim } = colours(colour);
  const money = [before, ...rows].every(({ cost }) => cost.dollars !== null);
  const costOf = ({ cost }: Pick<ReplayTotal, "cost">): number => (money ? cost.dollars! : cost.equivalents);
  const priceOf = (row: Pick<ReplayTotal, "cost">): string =>
    money ? `$${moneyLabel(row.cost.dollars)}` : decimals(row.cost.equivalents, 2);
  const most = Math.max(...[before, ...rows].map(costOf));
  const bar = (row: Pick<ReplayTotal, "cost">): string => "█".repeat(Math.round((barWidth * costOf(row)) / most));
  const head = ["", "window", "cost", "in view %", "one recall %", "epochs", "a call", ""];
  const cells = rows.map((row) => [
    row === advised ? "→" : "",
    row.strategy === "none" ? "all sent" : isAuto(row) ? "auto" : count(row.budget ?? 0),
    priceOf(row),
    percent(row.lookback.all),
    percent(row.lookback.oneHop),
    count(row.epochs),
    count(row.tokens.average),
    bar(row),
  ]);
  const calls = rows[0]?.calls ?? 0;
  const title = `${count(sessions.length)} ${sessions.length === 1 ? "session" : "sessions"}, ${count(calls)} calls`;
  const first = ["", "before", priceOf(before), "", "", "", count(before.tokens.average), bar(before)];
  const table = fittingTable([head, first, ...cells], width);
  const paragraph = (...sentences: readonly string[]): string => wrapped([sentences.join(" ")], width).join("\n");
  const blocks = [
    bold(title),
    table,
    dim(
      paragraph(
        ...legend(
          money,
          rows.some((row) => row === before),
        ),
      ),
    ),
    paragraph(verdict(advice, priceOf, money ? "" : " million input tokens")),
  ];
  if (advised) {
    const { setting, lines } = chosenOf(advised, sessions);
    const besides = setting === "auto" ? 0 : besidesOf(sessions);
    const added =
      besides === 0
        ? ""
        : ` (${count(advised.budget ?? 0)} for messages, ${count(besides)} for system prompt and tools)`;
    blocks.push(paragraph(`To turn it on${added}:`), lines.map((line) => commandLine(line, width)).join("\n"));
  }
  return blocks.join("\n\n");
}

/** A table without the columns that the terminal has no room for; the first row is its head. */
function fittingTable(rows: readonly (readonly string[])[], width: number): string {
  for (let taken = 0; ; taken += 1) {
    const gone = dispensable.slice(0, taken);
    const [head = [], ...body] = rows.map((row) => row.filter((_, column) => !gone.includes(column)));
    const right = head.flatMap((name, column) => (name === "" ? [] : [column]));
    const table = plainTable(head, body, right);
    const widest = Math.max(...table.split("\n").map(textWidth));
    if (width === 0 || widest <= width || taken === dispensable.length) return table;
  }
}

function legend(money: boolean, isWhole: boolean): readonly string[] {
  return [
    "window: most tokens of its messages, not counting system prompt and tools; auto: it sizes itself.",
    money ? "cost: input, cache and output at list prices." : "cost: million input tokens, cached ones at 0.1.",
    "The bars show it; calls in which an agent recalls are not in it.",
    "in view: of what calls refer back to, the share that was still in the window. one recall: there, or brought back by one",
    "call of the recall tool. epochs: how often the window's beginning was rewritten. a call: tokens of the mean request.",
    isWhole ? "before: with everything sent, as a session does not report its usage." : "before: as recorded.",
  ];
}

function verdict(
  { advised, before, rows, reason }: Advice,
  priceOf: (row: Pick<ReplayTotal, "cost">) => string,
  unit: string,
): string {
  const label = (row: ReplayTotal): string =>
    isAuto(row) ? "A window that sizes itself" : `A window of ${count(row.budget ?? 0)} tokens`;
  if (rows.every(({ calls }) => calls === 0)) return "No model was called here: there is nothing to compare.";
  if (advised) {
    const share = Math.round(100 * (1 - ratio(advised, before)));
    return (
      `${label(advised)} is the cheapest that keeps ${enoughShare} % in view or one recall away: ${priceOf(advised)} instead of ` +
      `${priceOf(before)}${unit}, ${share} % less.`
    );
  }
  if (reason === "keeps-too-little")
    return `No window here keeps ${enoughShare} % of what calls came back to in view or one recall away. Send everything.`;
  const [cheapest] = rows
    .filter(({ strategy }) => strategy !== "none")
    .toSorted((left, right) => ratio(left, right) - 1);
  const least = cheapest ? ` The cheapest, whatever it keeps, would have cost ${priceOf(cheapest)}${unit}.` : "";
  return `Managing these sessions does not pay: no window that keeps enough is a twentieth cheaper than ${priceOf(before)}${unit}.${least}`;
}

function ratio(row: Pick<ReplayTotal, "cost">, before: Pick<ReplayTotal, "cost">): number {
  const [one, other] = [row.cost, before.cost];
  return one.dollars !== null && other.dollars !== null
    ? one.dollars / other.dollars
    : one.equivalents / other.equivalents;
}

/** Whether a row is of windows that size themselves. */
function isAuto({ strategy }: Pick<ReplayTotal, "strategy">): boolean {
  return strategy.endsWith(" auto");
}
