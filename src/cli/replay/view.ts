/** The frame of a replay in a terminal: the title above the table, and the meaning of its columns below. */
import { printable } from "../../printable.ts";
import type { ReplayedSession } from "../../replay/replay.ts";
import { colours } from "../terminal.ts";
import { count } from "../text/text.ts";
import { wrapped } from "../text/paragraph.ts";

/** A session with the file it came from. */
export interface NamedSession extends ReplayedSession {
  readonly file: string;
}

/** The session's id and facts, in one line where the terminal has room. */
export function sessionTitle(session: NamedSession, colour: boolean, width = 0): string {
  const { bold, dim } = colours(colour);
  const facts = [
    session.format,
    session.model,
    `${count(session.messages)} messages`,
    `${count(session.calls)} calls`,
    `${count(session.historyTokens)} tokens of history`,
    ...sentFacts(session),
  ];
  const told = printable(facts.filter((fact) => fact !== null).join(" · "));
  const id = printable(session.id);
  const oneLine = width === 0 || id.length + 1 + told.length <= width;
  return `${bold(id)}${oneLine ? " " : "\n"}${(oneLine ? [told] : wrapped([told], width)).map(dim).join("\n")}`;
}

function sentFacts({ sent }: NamedSession): readonly string[] {
  if (!sent) return [];
  return [...(sent.system ? ["its system prompt"] : []), ...(sent.tools > 0 ? [`${count(sent.tools)} tools`] : [])];
}

const either = new Intl.ListFormat("en", { type: "disjunction" });

/**
 * The meaning of the columns, in plain words.
 *
 * @param columns - the names of those that are shown
 * @param width - of the terminal; 0 where it is not known
 */
export function legend(
  farDistances: readonly number[],
  columns: readonly string[],
  colour: boolean,
  width = 0,
): string {
  const far = [...new Set(farDistances)].toSorted((left, right) => left - right).map(count);
  const meanings: readonly (readonly [names: readonly string[], meaning: string])[] = [
    [["average", "peak"], "tokens of a request"],
    [["cost"], "million input tokens, cached ones at 0.1, written ones at 1.25, for an hour at 2"],
    [["$"], "input, cache and the output that the file reports, at list prices"],
    [["recall"], "share of what tool calls refer back to that was still in the window"],
    [["far"], `of what lay more than ${either.format(far)} tokens back`],
    [["lines"], "exact lines of that"],
    [["1-hop"], "in the window, or one recall away"],
    [["named"], "of the files that had left at the epochs, those that the window names"],
    [["broken"], "requests a provider refuses"],
    [["over"], "requests above the budget without need"],
  ];
  const shown = meanings.flatMap(([names, meaning]) => {
    const here = names.filter((name) => columns.includes(name));
    return here.length === 0 ? [] : [`${here.join(", ")}: ${meaning}.`];
  });
  return wrapped(shown, width).map(colours(colour).dim).join("\n");
}
