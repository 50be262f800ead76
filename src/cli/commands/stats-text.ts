/** Statistics of a store as text for a terminal. */
import type { SessionStanding, StatsReport, StatsUsage } from "../../ops/stats/stats.ts";
import { colours } from "../terminal.ts";
import type { Words } from "../text/words.ts";
import { printable } from "../../printable.ts";
import { hanging } from "../text/paragraph.ts";
import { count, moneyLabel, oneLine } from "../text/text.ts";
import type { Look } from "./look.ts";
import { diskLines, list, mostUsers, percent, shareLines } from "./stats-coding-agent.ts";

/** The order of the lines by standing. */
const standings: readonly SessionStanding[] = ["running", "died", "closed", "completed", "failed", "timeout"];

/** Statistics as text; the first line of each block is a heading. */
export function statsText(report: StatsReport, words: Words, { columns, colour }: Look): string {
  const { stats: labels } = words;
  const { bold } = colours(colour);
  const filters = Object.entries(report.filter).map(([name, value]) => `${name} ${value}`);
  const blocks = [
    ...(filters.length > 0 ? [[`${words.codingAgentStats.filter}: ${filters.join(", ")}`]] : []),
    list(`${labels.sessions}: ${count(report.total)}`, standingLines(report, words)),
    diskLines(report.disk, labels, words.codingAgentStats, ({ sessionId, title }) => {
      return `${sessionId.slice(0, 8)} ${oneLine(title, titleLength)}`;
    }),
    averageLines(report, words),
    usageLines(report.usage, words),
    ...(report.users.length > 0 ? [list(`${words.codingAgentStats.byUser}:`, userLines(report, words))] : []),
    list(`${words.codingAgentStats.results}:`, shareLines(report, words)),
    ...(report.memories.length > 0 ? [list(`${labels.memories}:`, memoryLines(report, words))] : []),
  ];
  const shown = blocks.map(([head = "", ...lines]) => {
    const fitted = lines.map(printable).flatMap((line) => hanging(line, columns));
    return [bold(printable(head)), ...fitted].join("\n");
  });
  return shown.join("\n\n");
}

function standingLines({ byStanding }: StatsReport, { stats: labels }: Words): readonly string[] {
  const names: Readonly<Partial<Record<SessionStanding, string>>> = labels.standings;
  return standings.flatMap((standing) => {
    const sessions = byStanding[standing];
    return sessions === undefined ? [] : [`${names[standing] ?? standing}: ${count(sessions)}`];
  });
}

function averageLines(
  { average }: StatsReport,
  { stats: labels, codingAgentStats: more, duration }: Words,
): readonly string[] {
  const whole = (value: number | null): string => (value === null ? "–" : count(Math.round(value)));
  const tenths = (value: number | null): string => (value === null ? "–" : value.toFixed(1));
  return list(`${labels.average}:`, [
    `${more.messages}: ${whole(average.messages)}`,
    `${labels.historyTokens}: ${whole(average.historyTokens)}`,
    `${labels.modelCalls}: ${tenths(average.llmCalls)}`,
    `${labels.toolCalls}: ${tenths(average.toolCalls)}`,
    `${more.duration}: ${average.durationMs === null ? "–" : duration(average.durationMs)}`,
    `${labels.epochs}: ${tenths(average.epochs)}`,
    `${labels.summaries}: ${tenths(average.summaries)}`,
  ]);
}

function usageLines(usage: StatsUsage, { stats: labels, usage: { none } }: Words): readonly string[] {
  const { calls, input, cacheRead, output, dollars, withoutUsage, unpricedSessions } = usage;
  const cached = input === 0 ? "" : labels.cached(percent(cacheRead / input));
  const some = (sessions: number): string | undefined => (sessions === 0 ? undefined : count(sessions));
  const lacks = withoutUsage > 0 || unpricedSessions > 0;
  const lacking = labels.lacking(some(withoutUsage), some(unpricedSessions), modelNames(usage.unpricedModels));
  return list(`${labels.usage}:`, [
    ...(calls === 0
      ? [none]
      : [
          `${labels.modelCalls}: ${count(calls)}`,
          `${labels.input}: ${count(input)}${cached}`,
          `${labels.output}: ${count(output)}`,
          `${labels.money}: ${dollars === null ? "–" : `$${moneyLabel(dollars)}${labels.listPrices}`}`,
        ]),
    ...(lacks ? [lacking] : []),
  ]);
}

function memoryLines({ memories }: StatsReport, { stats: labels }: Words): readonly string[] {
  return memories.map(({ memory, due, failing, reason }) => {
    const failed = failing === 0 ? undefined : count(failing);
    return `${memory}: ${labels.due(count(due), failed)}${reason === undefined ? "" : `: ${oneLine(reason, reasonLength)}`}`;
  });
}

/** Characters of why an engine failed, and of a large session's title. */
const [reasonLength, titleLength] = [60, 40];

/** Models that are named, and the characters of each. */
const [namedModels, namedLength] = [3, 25];

/** The names of models on a line; empty where none has one. */
export function modelNames(models: readonly string[]): string {
  const named = models.filter((name) => name !== "").map((name) => oneLine(name, namedLength));
  return named.length > namedModels ? `${named.slice(0, namedModels).join(", ")}, …` : named.join(", ");
}

function userLines(
  { users }: StatsReport,
  { stats: labels, codingAgentStats: more, duration }: Words,
): readonly string[] {
  const lines = users
    .slice(0, mostUsers)
    .map(({ user, sessions, share, historyTokens, dollars, averageDurationMs }) => {
      const about = [
        labels.userSessions(count(sessions), percent(share)),
        labels.userTokens(count(historyTokens)),
        ...(dollars === null ? [] : [`$${moneyLabel(dollars)}`]),
        ...(averageDurationMs === null ? [] : [more.userDuration(duration(averageDurationMs))]),
      ];
      return `${user ?? more.noUser}: ${about.join(", ")}`;
    });
  return users.length > mostUsers ? [...lines, more.more(count(users.length - mostUsers))] : lines;
}
