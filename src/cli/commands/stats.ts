/** `windrow stats`: a store's sessions in numbers, by folder, day, month and user. */
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import type { Goal } from "../../ops/stats/goals.ts";
import type { DiskReport, DiskUse, StatsReport } from "../../ops/stats/stats.ts";
import { sessionStatuses } from "../../store/statuses.ts";
import { printable } from "../../printable.ts";
import { reportUnreadable, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import type { Words } from "../text/words.ts";
import { count, sizeLabel } from "../text/text.ts";

interface StatsFlags {
  readonly store: string;
  readonly user?: string;
  readonly from?: string;
  readonly to?: string;
  readonly status?: string;
  readonly lang?: string;
  readonly json?: boolean;
}

/** Users, days and months that are shown; `--json` has all. */
const shown = { users: 20, days: 7, months: 6, largest: 3 };

/** Gives the command its options and its action. */
export function addStats(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Counts sessions: totals, disk by folder, session, day and month, averages, users, the share that failed, and the\n" +
        "goals beside what was reached. Nothing is written.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--user <name>", "only sessions of this user")
    .option("--from <day>", "only sessions begun on this day (UTC) or later: 2024-01-01")
    .option("--to <day>", "only sessions begun on this day or before it")
    .option("--status <status>", `only sessions that are ${sessionStatuses.join(", ")}`)
    .addOption(languageOption())
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow stats\n  windrow stats --status failed --from 2024-01-01 --to 2024-01-31\n",
    )
    .action(async (flags: StatsFlags) => finish(await runStats(flags, io, signal)));
}

async function runStats(flags: StatsFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const words = await wordsFor(flags.lang, io);
  const status = sessionStatuses.find((known) => known === flags.status);
  if (flags.status !== undefined && !status) {
    throw new WindrowError("bad-option", `--status is one of ${sessionStatuses.join(", ")}, not "${flags.status}".`);
  }
  const { stats } = await import("../../ops/stats/stats.ts");
  return onStore(io, { store: flags.store }, async (store, _scope, progress) => {
    const report = await stats(
      store,
      {
        ...(flags.user !== undefined && { scope: { user: flags.user } }),
        ...(status && { status }),
        ...(flags.from !== undefined && { from: flags.from }),
        ...(flags.to !== undefined && { to: flags.to }),
        onProgress: (done) => progress.update("counting", done, done),
      },
      signal,
    );
    progress.end();
    writeReport(io, flags, report, () => `${statsText(report, words)}\n`);
    return reportUnreadable(io, report.unreadable);
  });
}

/** Statistics as text for a terminal. */
export function statsText(report: StatsReport, words: Words): string {
  const { stats: labels } = words;
  const filters = Object.entries(report.filter).map(([name, value]) => `${name} ${value}`);
  const blocks = [
    [labels.title, "=".repeat(columnsOf(labels.title))],
    ...(filters.length > 0 ? [[`${labels.filter}: ${filters.join(", ")}`]] : []),
    list(`${labels.total}: ${count(report.total)}`, [
      `${labels.running}: ${count(report.running)}`,
      `${labels.completed}: ${count(report.completed)}`,
    ]),
    diskLines(report.disk, words),
    averageLines(report, words),
    list(`${labels.byUser}:`, userLines(report, words)),
    resultLines(report, words),
    list(
      `${labels.goals}:`,
      report.goals.map((goal) => goalLine(goal, words)),
    ),
  ];
  return blocks.map((lines) => lines.map(printable).join("\n")).join("\n\n");
}

function list(head: string, items: readonly string[]): readonly string[] {
  return [head, ...items.map((item) => `  - ${item}`)];
}

function diskLines(disk: DiskReport | null, { stats: labels }: Words): readonly string[] {
  if (!disk) return [`${labels.disk}: ${labels.noDisk}`];
  const use = ({ bytes, plainBytes }: DiskUse): string =>
    sizeLabel(plainBytes) + (plainBytes > bytes ? labels.compressed(sizeLabel(bytes)) : "");
  const dated = (uses: DiskReport["byDay"], most: number): readonly string[] =>
    Object.entries(uses)
      .slice(-most)
      .map(([date, of]) => `    - ${date}: ${sizeLabel(of.bytes)}, ${labels.sessions(count(of.sessions))}`);
  const largest = disk.largest
    .slice(0, shown.largest)
    .map(({ sessionId, bytes }) => `${sessionId.slice(0, 8)} ${sizeLabel(bytes)}`);
  return [
    ...list(`${labels.disk}:`, [
      `${labels.running}: ${use(disk.running)}`,
      `${labels.completed}: ${use(disk.completed)}`,
      `${labels.perTask}: ${sizeLabel(disk.perTask)}`,
    ]),
    ...(largest.length > 0 ? [`  - ${labels.largest}: ${largest.join(", ")}`] : []),
    ...(largest.length > 0 ? [`  - ${labels.byDay}:`, ...dated(disk.byDay, shown.days)] : []),
    ...(largest.length > 0 ? [`  - ${labels.byMonth}:`, ...dated(disk.byMonth, shown.months)] : []),
  ];
}

function averageLines({ average }: StatsReport, { stats: labels, duration }: Words): readonly string[] {
  const whole = (value: number | null): string => (value === null ? "–" : count(Math.round(value)));
  return list(`${labels.average}:`, [
    `${labels.messages}: ${whole(average.messages)}`,
    `${labels.tokens}: ${whole(average.tokens)}`,
    `${labels.duration}: ${average.durationMs === null ? "–" : duration(average.durationMs)}`,
    `${labels.compressions}: ${average.compressions === null ? "–" : average.compressions.toFixed(1)}`,
  ]);
}

function userLines({ users }: StatsReport, { stats: labels, duration }: Words): readonly string[] {
  const lines = users.slice(0, shown.users).map(({ user, sessions, share, tokens, averageDurationMs }) => {
    const more = [labels.userTokens(count(tokens))];
    if (averageDurationMs !== null) more.push(labels.userDuration(duration(averageDurationMs)));
    const name = user === null ? labels.noUser : user;
    return `${name}: ${labels.tasks(count(sessions), percent(share))}, ${more.join(", ")}`;
  });
  return users.length > shown.users ? [...lines, labels.more(count(users.length - shown.users))] : lines;
}

function resultLines({ completed, failed, summaries, byStatus }: StatsReport, words: Words): readonly string[] {
  const { stats: labels } = words;
  const share = (value: number | null, part: number, whole: number): string =>
    value === null ? "–" : `${percent(value, 1)} (${labels.of(count(part), count(whole))})`;
  const tried = summaries.made + summaries.failed;
  return list(`${labels.results}:`, [
    ...Object.entries(byStatus).map(([status, sessions]) => `${status}: ${count(sessions)}`),
    `${labels.failedShare}: ${share(failed.share, failed.sessions, completed)}`,
    `${labels.summarySuccess}: ${share(summaries.share, summaries.made, tried)}`,
  ]);
}

function goalLine({ name, side, target, value, met }: Goal, { stats: labels }: Words): string {
  const show = (amount: number): string => (name === "disk-per-month" ? sizeLabel(amount) : percent(amount, 1));
  const whole = name === "disk-per-month" ? sizeLabel(target).replace(".0 ", " ") : percent(target);
  const goal = labels.target(`${{ "at-least": "≥", "above": ">", "below": "<" }[side]} ${whole}`);
  const verdict = met === null ? "" : `, ${met ? labels.met : labels.missed}`;
  return `${labels.goalNames[name]}: ${value === null ? labels.unknown[name] : show(value)} (${goal}${verdict})`;
}

function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)}%`;
}

/** Columns of a terminal that a text takes: characters of East Asian scripts take two. */
function columnsOf(text: string): number {
  return [...text].reduce((columns, point) => columns + (/[\u2e80-\u9fff\uff00-\uff60]/.test(point) ? 2 : 1), 0);
}
