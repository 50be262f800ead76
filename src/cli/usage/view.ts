/** The overview of usage as text: tables that fit the terminal, and the words behind their figures. */
import type { Collected } from "../../ops/usage/collect.ts";
import { merged, usageParts } from "../../ops/usage/overview.ts";
import type { UsageOverview, UsagePart, UsageSum } from "../../ops/usage/overview.ts";
import { printable } from "../../printable.ts";
import { columnWidth, fittingColumns, shortPaths, textWidth } from "../text/columns.ts";
import type { FittedColumn } from "../text/columns.ts";
import { commandLine, wrapped } from "../text/paragraph.ts";
import { count, moneyLabel, oneLine } from "../text/text.ts";
import { colours } from "../terminal.ts";
import type { SpendingAdvice } from "./advice.ts";

/** The report of `windrow usage`. */
export interface UsageReport {
  /** The time from which on calls count, ISO 8601; null for all. */
  readonly since: string | null;
  /** The agents with calls, and how many files they keep them in. */
  readonly agents: readonly { readonly agent: string; readonly files: number }[];
  readonly overview: UsageOverview;
  readonly failed: Collected["failed"];
}

/** The terminal that a report is shown in. */
export interface UsageView {
  /** The home folder, which paths show as `~`. */
  readonly home: string;
  /** Columns of the terminal; 0 where there is no limit. */
  readonly columns: number;
  readonly colour: boolean;
  /** The only part to show, with every row. */
  readonly by?: UsagePart;
}

/** Rows of each table, where all are shown; what is left is one row more. */
const shownRows: Readonly<Record<UsagePart, number>> = { day: 14, project: 10, model: 10 };
/** Models without a price that are named, and the characters of each. */
const [namedModels, namedLength] = [5, 25];
/** Columns that names have at least, where they need them. */
const leastName = 22;

/** The agents for people. */
export const agentNames: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code",
  "codex": "Codex",
  "pi": "pi",
  "gemini-cli": "Gemini CLI",
  "opencode": "opencode",
  "windrow": "Windrow",
};

/** The report as text for people. */
export function usageText(report: UsageReport, view: UsageView): string {
  const { overview, agents } = report;
  if (overview.total.calls === 0) return `${wrapped([nothingWords(report)], view.columns).join("\n")}\n`;
  const { bold, dim } = colours(view.colour);
  const parts = usageParts.filter((part) => view.by === undefined || view.by === part);
  const tables = parts.map((part) => rowsOf(part, overview, view));
  const rows = tables.flat();
  const room = view.columns <= 0 ? 0 : Math.max(1, view.columns - Math.min(leastName, longest(rows)) - 1);
  const shown = fittingColumns<UsageSum, FittedColumn<UsageSum>>(figures, rows, room);
  const widths = shown.map((column) => columnWidth(column, rows));
  const taken = widths.reduce((sum, width) => sum + width, 1);
  const nameWidth = view.columns <= 0 ? longest(rows) : Math.min(longest(rows), view.columns - taken);
  const line = (name: string, cells: readonly string[]): string =>
    ` ${padded(name, nameWidth)}${cells.map((cell, place) => cell.padStart(widths[place] ?? 0)).join("")}`;
  const blocks = tables.map((table, place) => {
    const head = dim(
      line(
        `by ${parts[place]}`,
        shown.map(({ name }) => name),
      ),
    );
    const names = shortPaths(
      table.map(({ name }) => name),
      nameWidth,
    );
    const body = table.map((row, at) => {
      const text = line(
        names[at] ?? "",
        shown.map((column) => column.cell(row)),
      );
      return row === table.at(-1) && place === 0 ? bold(text) : text;
    });
    return [head, ...body].join("\n");
  });
  const missing = figures.filter((column) => !shown.includes(column)).map(({ name }) => name);
  const notes = [
    ...(missing.length === 0 ? [] : [`For ${missing.join(", ")} the terminal is too narrow; --json has them.`]),
    ...moneyWords(report),
  ];
  const title = `${agents.map(({ agent }) => agentNames[agent] ?? agent).join(", ")}: ${filesWords(report)}`;
  return `${[
    wrapped([printable(title)], view.columns).join("\n"),
    ...blocks,
    ...notes.map((note) => wrapped([printable(note)], view.columns).join("\n")),
  ].join("\n\n")}\n`;
}

function nothingWords({ since, agents }: UsageReport): string {
  const named = agents.length === 0 ? "No session here reports usage." : "No call reports usage";
  const from = agents.length === 0 ? "" : ` since ${(since ?? "").slice(0, 10)}.`;
  return `${named}${from} Looked where Claude Code, Codex, pi, Gemini CLI and opencode keep theirs (windrow usage --help).`;
}

function filesWords({ agents, overview }: UsageReport): string {
  const files = agents.reduce((sum, one) => sum + one.files, 0);
  const days = overview.by.day.map(({ name }) => name).filter((name) => name !== "");
  const [last, first] = [days[0], days.at(-1)];
  const span = first === undefined ? "" : first === last ? `, ${first}` : `, ${first} to ${last}`;
  return `${count(files)} ${files === 1 ? "file" : "files"}, ${count(overview.total.calls)} calls${span}`;
}

/** The columns beside the name. */
const figures: readonly FittedColumn<UsageSum>[] = [
  { name: "calls", rank: 4, cell: ({ calls }) => count(calls) },
  { name: "input", rank: 3, cell: ({ input }) => tokensLabel(input) },
  {
    name: "cached",
    rank: 5,
    cell: ({ input, cacheRead }) => (input === 0 ? "–" : `${Math.floor((100 * cacheRead) / input)}%`),
  },
  { name: "output", rank: 7, cell: ({ output }) => tokensLabel(output) },
  { name: "peak", rank: 6, cell: ({ peak }) => tokensLabel(peak) },
  { name: "$", rank: 1, cell: ({ dollars }) => moneyLabel(dollars) },
];

/** The rows of a part under the names that are shown. The first table ends with all calls together. */
function rowsOf(part: UsagePart, { by, total }: UsageOverview, view: UsageView): readonly UsageSum[] {
  const sums = by[part];
  const most = view.by === undefined ? shownRows[part] : Infinity;
  // One row that is left takes as much room as the row that would say so.
  const [shown, others] = sums.length <= most + 1 ? [sums, []] : [sums.slice(0, most), sums.slice(most)];
  const named = shown.map((sum) => ({ ...sum, name: nameOf(part, sum.name, view.home) }));
  const rest = others.length === 0 ? [] : [merged(`${count(others.length)} ${otherRows[part]}`, others)];
  const isFirst = view.by !== undefined || part === "day";
  return [...named, ...rest, ...(isFirst ? [{ ...total, name: "all" }] : [])];
}

const otherRows: Readonly<Record<UsagePart, string>> = {
  day: "earlier days",
  project: "other projects",
  model: "other models",
};

function nameOf(part: UsagePart, name: string, home: string): string {
  if (name === "") return { day: "without a time", project: "no folder named", model: "no model named" }[part];
  return printable(part === "project" ? shortPath(name, home) : name);
}

/** A path, with `~` for the home folder. */
export function shortPath(path: string, home: string): string {
  const isHome = home.length > 1 && (path === home || path.startsWith(`${home}/`));
  return isHome ? `~${path.slice(home.length)}` : path;
}

function longest(rows: readonly UsageSum[]): number {
  return rows.reduce((width, { name }) => Math.max(width, textWidth(name)), "by project".length);
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/** Tokens in three digits or four: `802`, `53.3k`, `14.9M`. */
function tokensLabel(tokens: number): string {
  let [value, unit] = [tokens, 0];
  while (value >= 999.5 && unit < tokenUnits.length - 1) [value, unit] = [value / 1_000, unit + 1];
  const text = unit > 0 && value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
  return `${text}${tokenUnits[unit]}`;
}

const tokenUnits: readonly string[] = ["", "k", "M", "B"];

/** What a line does that turns a window on. */
const lineWords =
  "Such a line starts the agent with a window of that many tokens, system prompt and tools among them; without it all is as " +
  "before. windrow advise compares windows, and docs/usage.md says what is measured.";

/** What is said where there is no line to turn on. */
const withoutLine: Readonly<Record<NonNullable<SpendingAdvice["reason"]>, string>> = {
  "keeps-too-little":
    "By a replay of one of its newest sessions, a managed window keeps too little in view to be worth it.",
  "saves-too-little": "By a replay of one of its newest sessions, a managed window saves too little to be worth it.",
  "not-replayed":
    "Not measured yet: each run measures what 15 seconds allow, and windrow advise --project FOLDER all of it.",
};

/** What would cost less: a sentence for each agent and project, and the line that turns it on. */
export function adviceText(advice: readonly SpendingAdvice[], { home, columns, colour }: UsageView): string {
  const blocks = advice.map(({ agent, project, dollars, managedDollars, oneRecall, line, reason }) => {
    const place = project === "" ? "" : ` in ${shortPath(project, home)}`;
    const begin = `${agentNames[agent] ?? agent}${place}: $${moneyLabel(dollars)}`;
    const paragraph = (text: string): string => wrapped([printable(text)], columns).join("\n");
    if (reason !== null) return paragraph(`${begin}. ${withoutLine[reason]}`);
    const kept =
      oneRecall === null
        ? ""
        : ` ${Math.floor(oneRecall)} % of what calls came back to was in view or one recall away.`;
    const text = `${begin}; with a managed window about $${moneyLabel(managedDollars)}, by the replay of one of its newest sessions.${kept}`;
    return `${paragraph(text)}\n${colours(colour).bold(commandLine(line ?? "", columns))}`;
  });
  const about = advice.some(({ line }) => line !== null) ? [wrapped([lineWords], columns).join("\n")] : [];
  return [...blocks, ...about].map((block) => `\n${block}\n`).join("");
}

/** The words behind the money: what it holds, and what is missing. */
function moneyWords({ overview }: UsageReport): readonly string[] {
  const { total, unpricedModels, copies } = overview;
  const { dollars, unpriced } = total;
  const names = unpricedModels.map((name) => (name === "" ? "one without a name" : oneLine(name, namedLength)));
  const others = names.length > namedModels ? [`${count(names.length - namedModels)} other models`] : [];
  const listed = [...names.slice(0, namedModels), ...others].join(", ");
  return [
    ...(dollars === null
      ? []
      : ["$ is input, cache and output at list prices; a subscription costs what it costs. Days are UTC."]),
    ...(unpriced === 0
      ? []
      : [
          `Without a price, and not in the money: ${count(unpriced)} ${unpriced === 1 ? "call" : "calls"} of ${listed}.`,
        ]),
    ...(copies === 0 ? [] : [`${count(copies)} calls are in more than one file and count once.`]),
  ];
}
