/** A session as text for a terminal. */
import type { SessionView, Shown, ViewedEpoch, ViewedMessage, ViewedSummary, ViewedTool } from "../../ops/look/view.ts";
import { printable } from "../../printable.ts";
import { colours } from "../terminal.ts";
import { fittedLine, textWidth } from "../text/columns.ts";
import { hanging } from "../text/paragraph.ts";
import { changeText } from "../text/sent.ts";
import { count, moneyLabel, oneLine, timeLabel } from "../text/text.ts";
import type { Words } from "../text/words.ts";
import type { LayoutName, Look } from "./look.ts";
import { percent } from "./stats-coding-agent.ts";
import { modelNames } from "./stats-text.ts";
import { codingAgentHead, codingAgentMessage, lineLength } from "./view-coding-agent.ts";
import { windowLines } from "./view-whole.ts";

/** How a session is shown. */
export interface ViewLook extends Look {
  readonly layout: LayoutName;
  /** Whether its summaries are shown. */
  readonly summaries: boolean;
  readonly words: Words;
}

/** A session as text. */
export function viewText(view: SessionView, look: ViewLook): string {
  const { words, columns } = look;
  const isLiteral = look.layout === "coding-agent";
  const troubles = [...inDoubt(view, words), ...damageLines(view, words)];
  const head = isLiteral ? codingAgentHead(view, troubles, words) : headOf(view, troubles, look);
  const message = isLiteral
    ? (one: ViewedMessage): readonly string[] => [codingAgentMessage(one, words)]
    : (one: ViewedMessage): readonly string[] => messageLines(one, look);
  const line = (text: string): readonly string[] => (isLiteral ? [text] : hanging(text, Math.max(0, columns - 2)));
  const blocks = [
    ...head,
    ...(view.messages ? [section(words.view.messages, view.messages, message, look)] : []),
    ...(look.summaries ? [section(words.view.summaries, view.summaries, (one) => [summaryLine(one, look)], look)] : []),
    ...(view.tools ? [section(words.view.tools, view.tools, (one) => [toolLine(one, look)], look)] : []),
    ...(view.epochs ? [section(words.view.epochs, view.epochs, (one) => line(epochLine(one, words)), look)] : []),
    ...(view.window ? [windowLines(view.window, words)] : []),
  ];
  return blocks.map((lines) => lines.join("\n")).join("\n\n");
}

function headOf(view: SessionView, troubles: readonly string[], look: ViewLook): readonly (readonly string[])[] {
  const { statistics } = view;
  const { view: labels } = look.words;
  const { bold, red } = colours(look.colour);
  const lines = (texts: readonly string[]): readonly string[] =>
    texts.map(printable).flatMap((text) => hanging(text, look.columns));
  const error = view.error === null ? [] : [red(`${labels.error}: ${oneLine(view.error, lineLength)}`)];
  const [first = "", ...header] = headerOf(view, look.words);
  return [
    [bold(printable(first)), ...lines(header), ...error, ...lines(troubles)],
    [
      bold(`${labels.statistics}:`),
      ...lines([
        `  ${labels.modelCalls}: ${count(statistics.llmCalls)}`,
        `  ${labels.toolCalls}: ${count(statistics.toolCalls)}`,
        `  ${labels.messages}: ${count(statistics.messages)}`,
        `  ${labels.historyTokens}: ${count(statistics.historyTokens)}`,
        `  ${labels.usage}: ${usageText(view, look.words)}`,
        `  ${labels.epochs}: ${count(statistics.epochs)}`,
        `  ${labels.summaries}: ${count(statistics.summaries)}`,
      ]),
    ],
  ];
}

function headerOf(view: SessionView, words: Words): readonly string[] {
  const { view: labels } = words;
  const named = (text: string | null): string => (text === null || text === "" ? "–" : oneLine(text, lineLength));
  const settings = [
    ...(view.strategy === null ? [] : [named(view.strategy)]),
    ...(view.profile === null ? [] : [labels.profile(named(view.profile))]),
    ...(view.budget === null ? [] : [labels.budget(count(view.budget))]),
  ];
  const duration = words.duration(view.durationMs);
  return [
    `${labels.session}: ${view.id}`,
    `${labels.status}: ${view.status}`,
    `${labels.model}: ${named(view.model)}`,
    `${labels.strategy}: ${settings.join(", ") || "–"}`,
    `${labels.task}: ${named(view.taskName)}`,
    ...(view.user === null ? [] : [`${labels.user}: ${named(view.user)}`]),
    `${labels.started}: ${timeLabel(view.startedAt)}`,
    `${labels.ended}: ${view.completedAt === null ? labels.notYet : timeLabel(view.completedAt)}`,
    `${labels.duration}: ${view.completedAt === null ? labels.soFar(duration) : duration}`,
    `${labels.location}: ${view.location}`,
  ];
}

function usageText({ usage }: SessionView, { usage: labels }: Words): string {
  const { calls, input, output, cacheRead, dollars, unpriced, unpricedModels } = usage;
  if (calls === 0) return labels.none;
  return [
    labels.input(count(input), input === 0 ? "–" : percent(cacheRead / input)),
    labels.output(count(output)),
    ...(dollars === null ? [] : [`$${moneyLabel(dollars)}`]),
    ...(unpriced === 0 ? [] : [labels.unpriced(count(unpriced), modelNames(unpricedModels))]),
  ].join(", ");
}

function inDoubt({ openCalls, completedAt }: SessionView, { view: labels }: Words): readonly string[] {
  if (openCalls.length === 0) return [];
  return [
    `${labels.inDoubt}: ${labels.inDoubtWhy(count(openCalls.length), completedAt === null)}`,
    ...openCalls.map(({ callId, toolName, arguments: given, timestamp }) => {
      const call = `${toolName}(${JSON.stringify(given)})`;
      return `  [${oneLine(callId, 40)}] ${oneLine(call, lineLength)} ${labels.since(timeLabel(timestamp))}`;
    }),
  ];
}

/** Lines for records that the reader does not see: spans that were skipped, and records that are gone. */
function damageLines({ damage }: SessionView, { view: labels }: Words): readonly string[] {
  const gone = damage.filter(({ problem }) => problem === "missing");
  const spans = damage.length - gone.length;
  const records = gone.reduce((sum, { records: some = 0 }) => sum + some, 0);
  return [
    ...(spans === 0 ? [] : [`${labels.damaged}: ${labels.damagedSpans(count(spans))}`]),
    ...(records === 0 ? [] : [`${labels.missing}: ${labels.missingRecords(count(records))}`]),
  ];
}

function section<T>(
  name: string,
  { total, shown }: Shown<T>,
  lines: (item: T) => readonly string[],
  { words, layout, colour }: ViewLook,
): readonly string[] {
  const some = shown.length < total ? words.view.showingLast(count(shown.length)) : "";
  const head = `${name}: ${count(total)}${some}`;
  const items = shown.flatMap((item) => lines(item)).map((line) => `  ${line}`);
  return [layout === "coding-agent" ? head : colours(colour).bold(head), ...items];
}

/** Columns that a text has behind what stands before it on its line; 0 where they are not known. */
function room(before: string, columns: number): number {
  return columns <= 0 ? 0 : Math.max(leastRoom, columns - textWidth(before) - 2);
}

const leastRoom = 10;

/** A message on a line; each of its results on a line of its own. */
function messageLines({ seq, role, text, results }: ViewedMessage, look: ViewLook): readonly string[] {
  const { columns, words } = look;
  const head = `[${seq}] ${role}: `;
  if (results.length === 0) return [printable(head) + fittedLine(text, room(head, columns), lineLength)];
  const { red } = colours(look.colour);
  return results.map(({ tool, isError, text: result }, place) => {
    const end = isError ? `${words.view.failure}: ` : "";
    const before = `${place === 0 ? head : " ".repeat(textWidth(head))}${oneLine(tool, 60)} -> ${end}`;
    const first = result.split("\n").find((line) => line.trim() !== "") ?? "";
    const said = first === "" && !isError ? words.view.success : fittedLine(first, room(before, columns), lineLength);
    return isError ? red(printable(before) + said) : printable(before) + said;
  });
}

function toolLine(run: ViewedTool, { words, columns, layout, colour }: ViewLook): string {
  const { view: labels, duration } = words;
  const isError = run.status === "error";
  const head = `[${run.seq}] ${timeLabel(run.timestamp)} `;
  const isOpen = run.status === "open";
  const end = isError
    ? `${labels.failure}: ${oneLine(run.error ?? "", 60)}`
    : isOpen
      ? labels.noResult
      : labels.success;
  const tail = ` -> ${end}${run.durationMs === null ? "" : `, ${duration(run.durationMs)}`}`;
  const call = `${run.toolName}(${JSON.stringify(run.arguments)})`;
  const isLiteral = layout === "coding-agent";
  const shown = fittedLine(call, isLiteral ? 0 : room(head + tail, columns), lineLength);
  const whole = printable(head + shown + tail);
  const line = isLiteral || columns <= 0 ? whole : fittedLine(whole, columns - 2, lineLength);
  return isError && !isLiteral ? colours(colour).red(line) : line;
}

function summaryLine({ id, from, to, summary }: ViewedSummary, { columns, layout }: ViewLook): string {
  const head = `[${id}] seq ${from}-${to}: `;
  return head + fittedLine(summary, layout === "coding-agent" ? 0 : room(head, columns), lineLength);
}

function epochLine(epoch: ViewedEpoch, { view: labels }: Words): string {
  const edits = Object.entries(epoch.edits).map(([pass, edited]) => `${pass} ${count(edited)}`);
  const change = [count(epoch.tokensBefore), count(epoch.tokensAfter), edits.join(", ") || labels.noEdits] as const;
  return printable(
    `[${epoch.epoch}] ${timeLabel(epoch.timestamp)} ` +
      `${labels.epoch(epoch.reason, epoch.opened, ...change)}; prefix ${epoch.prefixHash}` +
      (epoch.changed ? `; ${changeText(epoch.changed)}` : ""),
  );
}
