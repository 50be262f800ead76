/** Messages whole, as text for a terminal: those of a window, and those of a session that are named. */
import type { ViewedMessage } from "../../ops/look/view.ts";
import type { WindowPreview } from "../../ops/look/compose.ts";
import { printable, printableLines } from "../../printable.ts";
import { partsText } from "../../viewer/page/window-text.ts";
import { toolText } from "../text/sent.ts";
import { count, timeLabel } from "../text/text.ts";
import type { Words } from "../text/words.ts";

/** A window: its size, its tools and its messages. */
export function windowLines(window: WindowPreview, { view: labels }: Words): readonly string[] {
  const { messages, tools, tokens, missing, report } = window;
  const budget = report.budget === null ? undefined : count(report.budget);
  const size = labels.windowSize(count(messages.length), count(tokens), budget, report.epoch);
  const opens = report.opened ? labels.opensEpoch(report.opened.reason) : "";
  const absent = missing.length > 0 ? labels.notCounted(missing.join(", ")) : "";
  return [
    printable(`${labels.window}: ${size}${opens}${absent}`),
    ...(report.tooSmall ? [printable(report.tooSmall.warning)] : []),
    ...tools.flatMap((tool) => ["", ...headed(`tool [${tool.name}]`, toolText(tool))]),
    ...messages.flatMap((message) => ["", ...headed(`${message.role} [${message.id}]`, partsText(message.parts))]),
  ];
}

/** Messages with all that they hold, one below the other. */
export function wholeMessages(messages: readonly ViewedMessage[]): string {
  const blocks = messages.map(({ seq, role, timestamp, tokens, parts = [] }) =>
    headed(`${role} [m${seq}] ${timeLabel(timestamp)}, ${count(tokens)} tokens`, partsText(parts)).join("\n"),
  );
  return blocks.join("\n\n");
}

function headed(head: string, text: string): readonly string[] {
  // Indented, so that no line of a text reads as the head of a message.
  return [printable(`--- ${head}`), printableLines(text).replaceAll(/^(?=.)/gm, "  ")];
}
