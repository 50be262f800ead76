/** The system prompt and the tools of a window as text for a terminal, and how they changed. */
import type { ToolDefinition } from "../../message/message.ts";
import type { SentChange } from "../../window/sent.ts";
import { oneLine } from "./text.ts";

/** Characters of a changed line that are shown. */
const shownCharacters = 60;

/** How a system prompt and tools changed, on one line: `system line 3 (-1 +2): "old" → "new"; tools +search -grep ~read`. */
export function changeText({ system, tools }: SentChange): string {
  const named = (sign: string, names: readonly string[]): readonly string[] => names.map((name) => `${sign}${name}`);
  const first = ([line = ""]: readonly string[]): string => `"${oneLine(line, shownCharacters)}"`;
  return [
    ...(system
      ? [
          `system line ${system.line} (-${system.removed.length} +${system.added.length}): ` +
            `${first(system.removed)} → ${first(system.added)}`,
        ]
      : []),
    ...(tools
      ? [`tools ${[...named("+", tools.added), ...named("-", tools.removed), ...named("~", tools.changed)].join(" ")}`]
      : []),
  ].join("; ");
}

/** A tool's definition: its description, and the schema of its input as JSON. */
export function toolText({ description = "", inputSchema }: ToolDefinition): string {
  const schema = inputSchema === undefined ? "" : JSON.stringify(inputSchema);
  return [description, schema].filter((text) => text !== "").join("\n");
}
