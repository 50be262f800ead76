/** Advice on a budget as text: the table of what was compared, the row to take, and the line that turns it on. */
import { enoughShare } from "../../replay/advice.ts";
import type { Advice } from "../../replay/advice.ts";
import type { ReplayTotal } from "../../replay/totals.ts";
import { colours } from "../terminal.ts";
import { wrapped } from "../text/paragraph.ts";
import { plainTable } from "../text/table.ts";
import { count, moneyLabel } from "../text/text.ts";
import { decimals, percent } from "./figures.ts";
import type { NamedSession } from "./view.ts";

/** The programs of the agents whose requests can go through a gateway, by the format of their sessions. */
const programs: Readonly<Record<string, string>> = {
  "claude-code": "claude",
  "codex": "codex",
  "gemini-cli": "gemini",
  "opencode": "opencode",
  "pi": "pi",
};

/** Columns of the longest bar. */
const barWidth = 20;

/** The budget to set for a row, and the line that sets it. */
export interface Chosen {
  /** For the program: with the system prompt and the tools of its requests, which replay counts apart. */
  readonly setting: string;
  readonly line: string;
}

/** How a row is turned on, for the agent that recorded the sessions. */
export function chosenOf(row: ReplayTotal, sessions: readonly Pick<NamedSession, "format" | "calibration">[]): Chosen {
  const besides = Math.max(0, ...sessions.map(({ calibration }) => calibration?.overhead ?? 0));
  const setting = isAuto(row) ? "auto" : `${Math.ceil(((row.budget ?? 0) + besides) / 1_000)}k`;
  const formats = new Set(sessions.map(({ format }) => format));
  const program = formats.size === 1 ? programs[[...formats][0] ?? ""] : undefined;
  const value = isAuto(row) ? '"auto"' : count((row.budget ?? 0) + besides).replaceAll(",", "_");
  return {
    setting,
    line:
      program === undefined
        ? `composeWindow({ budget: ${value}, … }), or npx windrow init for an agent of your own`
        : `npx windrow gateway run --budget ${setting} -- ${program}`,
  };
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
  const head = ["", "budget", "cost", "in view", "one recall", "epochs", "average", ""];
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
  const table = plainTable(
    head,
    [["", "before", priceOf(before), "", "", "", count(before.tokens.average), bar(before)], ...cells],
    [1, 2, 3, 4, 5, 6],
  );
  const paragraph = (...sentences: readonly string[]): string => wrapped([sentences.join(" ")], width).join("\n");
  const blocks = [bold(title), table, dim(paragraph(...legend(money))), paragraph(verdict(advice, priceOf))];
  if (advised) blocks.push(`  ${chosenOf(advised, sessions).line}`);
  return blocks.join("\n\n");
}

function legend(money: boolean): readonly string[] {
  return [
    "budget: tokens of the messages in a window; system prompt and tools come on top.",
    money ? "cost: input, cache and output at list prices." : "cost: million input tokens, cached ones at 0.1.",
    "in view: the share of what calls refer back to that was in the window. one recall: there, or one recall away.",
    "before: as recorded, or with everything sent.",
  ];
}

function verdict(
  { advised, before, rows, reason }: Advice,
  priceOf: (row: Pick<ReplayTotal, "cost">) => string,
): string {
  const label = (row: ReplayTotal): string =>
    isAuto(row) ? "The budget auto" : `A budget of ${count(row.budget ?? 0)}`;
  if (advised) {
    const share = Math.round(100 * (1 - ratio(advised, before)));
    return (
      `${label(advised)} is the cheapest that keeps ${enoughShare} % in view or one recall away: ${priceOf(advised)} instead of ` +
      `${priceOf(before)}, ${share} % less. To turn it on:`
    );
  }
  if (reason === "keeps-too-little")
    return `No budget here keeps ${enoughShare} % of what calls came back to in view or one recall away. Send everything.`;
  const [cheapest] = rows
    .filter(({ strategy }) => strategy !== "none")
    .toSorted((left, right) => ratio(left, right) - 1);
  const least = cheapest ? ` The cheapest, whatever it keeps, would have cost ${priceOf(cheapest)}.` : "";
  return `Managing these sessions does not pay: no budget that keeps enough is a twentieth cheaper than ${priceOf(before)}.${least}`;
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
