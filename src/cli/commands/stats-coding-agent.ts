/** Statistics of a store in the layout of preset `coding-agent`, literally (docs/presets.md). */
import type { Goal } from "../../ops/stats/goals.ts";
import type { DiskReport, DiskUse, StatsReport } from "../../ops/stats/stats.ts";
import { printable } from "../../printable.ts";
import { textWidth } from "../text/columns.ts";
import type { Words } from "../text/words.ts";
import { count, sizeLabel } from "../text/text.ts";

/** Users that are shown; `--json` has all. */
export const mostUsers = 20;
/** Days, months and large sessions that are shown. */
const most = { days: 7, months: 6, largest: 3 };

/** Statistics as text for a terminal. */
export function codingAgentStats(report: StatsReport, words: Words): string {
  const { codingAgentStats: labels } = words;
  const filters = Object.entries(report.filter).map(([name, value]) => `${name} ${value}`);
  const blocks = [
    [labels.title, "=".repeat(textWidth(labels.title))],
    ...(filters.length > 0 ? [[`${labels.filter}: ${filters.join(", ")}`]] : []),
    list(`${labels.total}: ${count(report.total)}`, [
      `${labels.running}: ${count(report.running)}`,
      ...(report.closed > 0 ? [`${labels.closed}: ${count(report.closed)}`] : []),
      `${labels.completed}: ${count(report.completed)}`,
    ]),
    diskLines(report.disk, { ...labels, perSession: labels.perTask, sessionCount: labels.sessions }, labels),
    averageLines(report, words),
    list(`${labels.byUser}:`, userLines(report, words)),
    resultLines(report, words),
    list(
      `${labels.goals}:`,
      (report.goals ?? []).map((goal) => goalLine(goal, words)),
    ),
  ];
  return blocks.map((lines) => lines.map(printable).join("\n")).join("\n\n");
}

/** A head, and under it items. */
export function list(head: string, items: readonly string[]): readonly string[] {
  return [head, ...items.map((item) => `  - ${item}`)];
}

/** Labels of what lies on disk that differ between layouts. */
interface DiskLabels {
  readonly disk: string;
  readonly perSession: string;
  readonly sessionCount: (count: string) => string;
}

/** The space of sessions on disk, a line each. */
export function diskLines(
  disk: DiskReport | null,
  own: DiskLabels,
  labels: Words["codingAgentStats"],
  named = ({ sessionId }: DiskReport["largest"][number]): string => sessionId.slice(0, 8),
): readonly string[] {
  if (!disk) return [`${own.disk}: ${labels.noDisk}`];
  const use = ({ bytes, plainBytes }: DiskUse): string =>
    sizeLabel(plainBytes) + (plainBytes > bytes ? labels.compressed(sizeLabel(bytes)) : "");
  const dated = (uses: DiskReport["byDay"], shown: number): readonly string[] =>
    Object.entries(uses)
      .slice(-shown)
      .map(([date, of]) => `    - ${date}: ${sizeLabel(of.bytes)}, ${own.sessionCount(count(of.sessions))}`);
  const largest = disk.largest.slice(0, most.largest).map((one) => `${named(one)} ${sizeLabel(one.bytes)}`);
  return [
    ...list(`${own.disk}:`, [
      `${labels.running}: ${use(disk.running)}`,
      `${labels.completed}: ${use(disk.completed)}`,
      `${own.perSession}: ${sizeLabel(disk.perTask)}`,
    ]),
    ...(largest.length > 0 ? [`  - ${labels.largest}: ${largest.join(", ")}`] : []),
    ...(largest.length > 0 ? [`  - ${labels.byDay}:`, ...dated(disk.byDay, most.days)] : []),
    ...(largest.length > 0 ? [`  - ${labels.byMonth}:`, ...dated(disk.byMonth, most.months)] : []),
  ];
}

function averageLines({ average }: StatsReport, { codingAgentStats: labels, duration }: Words): readonly string[] {
  const whole = (value: number | null): string => (value === null ? "–" : count(Math.round(value)));
  return list(`${labels.average}:`, [
    `${labels.messages}: ${whole(average.messages)}`,
    `${labels.tokens}: ${whole(average.tokens)}`,
    `${labels.duration}: ${average.durationMs === null ? "–" : duration(average.durationMs)}`,
    `${labels.compressions}: ${average.compressions === null ? "–" : average.compressions.toFixed(1)}`,
  ]);
}

function userLines({ users }: StatsReport, { codingAgentStats: labels, duration }: Words): readonly string[] {
  const lines = users.slice(0, mostUsers).map(({ user, sessions, share, tokens, averageDurationMs }) => {
    const more = [labels.userTokens(count(tokens))];
    if (averageDurationMs !== null) more.push(labels.userDuration(duration(averageDurationMs)));
    const name = user === null ? labels.noUser : user;
    return `${name}: ${labels.tasks(count(sessions), percent(share))}, ${more.join(", ")}`;
  });
  return users.length > mostUsers ? [...lines, labels.more(count(users.length - mostUsers))] : lines;
}

function resultLines(report: StatsReport, words: Words): readonly string[] {
  const { codingAgentStats: labels } = words;
  return list(`${labels.results}:`, [
    ...Object.entries(report.byStatus).map(([status, sessions]) => `${status}: ${count(sessions)}`),
    ...shareLines(report, words),
  ]);
}

/** The share of sessions that failed, and of summaries that were made. */
export function shareLines({ completed, failed, summaries }: StatsReport, words: Words): readonly string[] {
  const { codingAgentStats: labels } = words;
  const share = (value: number | null, part: number, whole: number): string =>
    value === null ? "–" : `${percent(value, 1)} (${labels.of(count(part), count(whole))})`;
  return [
    `${labels.failedShare}: ${share(failed.share, failed.sessions, completed)}`,
    `${labels.summarySuccess}: ${share(summaries.share, summaries.made, summaries.made + summaries.failed)}`,
  ];
}

function goalLine({ name, side, target, value, met }: Goal, { codingAgentStats: labels }: Words): string {
  const show = (amount: number): string => (name === "disk-per-month" ? sizeLabel(amount) : percent(amount, 1));
  const whole = name === "disk-per-month" ? sizeLabel(target).replace(".0 ", " ") : percent(target);
  const goal = labels.target(`${{ "at-least": "≥", "above": ">", "below": "<" }[side]} ${whole}`);
  const verdict = met === null ? "" : `, ${met ? labels.met : labels.missed}`;
  return `${labels.goalNames[name]}: ${value === null ? labels.unknown[name] : show(value)} (${goal}${verdict})`;
}

/** A share of 1 in percent. */
export function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)}%`;
}
