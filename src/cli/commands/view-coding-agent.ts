/** The parts of `windrow view` in the layout of preset `coding-agent`, literally (docs/presets.md). */
import type { SessionView, ViewedMessage } from "../../ops/look/view.ts";
import { printable } from "../../printable.ts";
import { count, oneLine, timeLabel } from "../text/text.ts";
import type { Words } from "../text/words.ts";

/** Characters of a text on its line. */
export const lineLength = 100;

/** The session and its statistics: a block each. `troubles` are the lines below the header. */
export function codingAgentHead(
  view: SessionView,
  troubles: readonly string[],
  words: Words,
): readonly (readonly string[])[] {
  const { statistics } = view;
  const { view: labels, codingAgentView: own } = words;
  return [
    [...headerOf(view, words), ...troubles].map(printable),
    [
      `${labels.statistics}:`,
      `  ${own.llmCalls}: ${count(statistics.llmCalls)}`,
      `  ${labels.toolCalls}: ${count(statistics.toolCalls)}`,
      `  ${own.totalTokens}: ${count(statistics.totalTokens)}`,
      `  ${own.compressions}: ${count(statistics.compressions)}`,
    ],
  ];
}

function headerOf(view: SessionView, words: Words): readonly string[] {
  const { view: labels, codingAgentView: own } = words;
  const duration = words.duration(view.durationMs);
  return [
    `${own.uuid}: ${view.id}`,
    `${labels.status}: ${view.status}`,
    `${own.repository}: ${view.repository === null ? "–" : oneLine(view.repository, lineLength)}`,
    `${labels.task}: ${oneLine(view.task ?? (view.taskName || "–"), lineLength)}`,
    `${labels.started}: ${timeLabel(view.startedAt)}`,
    `${own.completed}: ${view.completedAt === null ? labels.notYet : timeLabel(view.completedAt)}`,
    `${labels.duration}: ${view.completedAt === null ? labels.soFar(duration) : duration}`,
    `${labels.location}: ${view.location}`,
    ...(view.error === null ? [] : [`${labels.error}: ${oneLine(view.error, lineLength)}`]),
  ];
}

/** A message on its line; of results how they ended. */
export function codingAgentMessage({ seq, role, text, results }: ViewedMessage, { view: labels }: Words): string {
  if (results.length === 0) return `[${seq}] ${role}: ${oneLine(text, lineLength)}`;
  const ends = results.map(
    ({ tool, isError }) => `${oneLine(tool, 60)} -> ${isError ? labels.failure : labels.success}`,
  );
  return `[${seq}] ${role}: ${ends.join(", ")}`;
}
