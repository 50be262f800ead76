/** Interactive lines: a dump as one line for each element a user can act on; other elements are named or counted. */
import { firstOf } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import { elementsOf, isActing, plainRole } from "./element.ts";
import type { UiDump, UiElement } from "./element.ts";

/** Longest name, in characters. */
const longestName = 80;

/** The lines, and how many elements they show of how many the dump has. */
export interface InteractiveLines {
  readonly lines: readonly string[];
  readonly shown: number;
  readonly total: number;
}

/**
 * A line for each interactive or focused element: its id, its role (a link's is left out), its name, value and states.
 * Wrappers collapse; neighbours that differ only in their ids share a line; a heading stands as `# …` over what follows it.
 */
export function interactiveLines(dump: UiDump, mask: TextMask): InteractiveLines {
  const lines: string[] = [];
  let total = 0;
  let shown = 0;
  let heading = "";
  let last: { readonly rest: string; readonly ids: string[] } | undefined;
  const flush = (): void => {
    if (last) lines.push([last.ids.join(" "), last.rest].filter((part) => part !== "").join(" "));
    last = undefined;
  };
  for (const element of elementsOf(dump.roots)) {
    total++;
    if (isHeading(element)) heading = nameOf(element, mask);
    if (!element.interactive && !element.states.includes("focused")) continue;
    shown++;
    const rest = describe(element, mask);
    if (heading !== "") {
      flush();
      if (heading !== nameOf(element, mask)) lines.push(`# ${heading}`);
      heading = "";
    }
    if (last?.rest !== rest) {
      flush();
      last = { rest, ids: [] };
    }
    if (element.id !== undefined) last?.ids.push(element.id);
  }
  flush();
  return { lines, shown, total };
}

function isHeading({ role }: UiElement): boolean {
  return /^(?:h[1-6]|heading)$/.test(plainRole(role));
}

function describe(element: UiElement, mask: TextMask): string {
  const role = plainRole(element.role);
  const value = element.value === undefined ? "" : `= ${clipName(element.value, mask)}`;
  const states = element.states.length > 0 ? `(${element.states.join(", ")})` : "";
  const isLink = role === "a" || role === "link";
  return [isLink ? "" : role, nameOf(element, mask), value, states].filter((part) => part !== "").join(" ");
}

/** Its own name, else what is written inside it; what an inner interactive element says is that one's. */
function nameOf(element: UiElement, mask: TextMask): string {
  const words: string[] = [];
  let length = 0;
  const read = (one: UiElement): void => {
    if (one.name !== "" && !words.includes(one.name)) {
      words.push(one.name);
      length += one.name.length;
    }
    for (const child of one.children)
      if (length < longestName && !child.interactive && !isActing(child.role)) read(child);
  };
  read(element);
  return clipName(words.join(" "), mask);
}

/** A name on one line, cut behind a code point. */
function clipName(name: string, mask: TextMask): string {
  const plain = name.replaceAll(/\s+/g, " ").trim();
  return plain.length <= longestName ? plain : `${firstOf(mask(plain), longestName - 1)}…`;
}
