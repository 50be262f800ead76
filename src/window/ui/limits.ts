/** UI dumps made shorter: by limits per list and by nesting (docs/presets.md, `miki`), or to one line for each element a user can act on. */
import type { JsonValue as Json } from "../../message/message.ts";
import { defaultMask, firstOf } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import { elementsOf, isActing, isElement, plainRole } from "./tree.ts";
import type { UiDump, UiElement } from "./tree.ts";

/** The limits, each independent of the others; the defaults are those of preset `miki`. */
export interface UiLimits {
  /** Longest text, in characters; what is longer ends in `...[truncated]`. Default 1000. */
  readonly maxTextChars: number;
  /** Longest text under a key `data`, and of a dump that is no JSON. Default 2000. */
  readonly maxDataChars: number;
  /** Most elements of one list. Default 200. */
  readonly maxNodes: number;
  /** Deepest level of children shown, the top being 0; the level below is `"[truncated]"`. Default 2. */
  readonly maxDepth: number;
  /** Most children of one element. Default 20. */
  readonly maxChildren: number;
  /** Most elements of a list of web elements. Default 200. */
  readonly maxWebElements: number;
  /** Most actions of one element. Default 8. */
  readonly maxActions: number;
  /** Fields that go. Default `description`, `help`. */
  readonly dropFields: readonly string[];
  /** Most elements of the whole dump. Default: no limit. */
  readonly totalNodes: number;
}

/** The default limits, those of preset `miki`. */
export const uiLimits: UiLimits = {
  maxTextChars: 1000,
  maxDataChars: 2000,
  maxNodes: 200,
  maxDepth: 2,
  maxChildren: 20,
  maxWebElements: 200,
  maxActions: 8,
  dropFields: ["description", "help"],
  totalNodes: Infinity,
};

const cut = "[truncated]";

/**
 * A value under the limits; equal to what was given where nothing is over them.
 *
 * @param name - the tool it is from, or the key it stands under: says what kind of list it is
 * @param mask - replaces the secrets of a text that is cut. Default: those of a known form
 */
export function limitUi(value: Json, name = "", limits: UiLimits = uiLimits, mask: TextMask = defaultMask): Json {
  const web = webElementList.test(name);
  return walk(value, Array.isArray(value) ? name : "", -1, { limits, mask, web, nodes: limits.totalNodes });
}

/** A text of at most so many characters with `...[truncated]` behind it, or the text itself where it is not longer. */
export function cutText(text: string, length: number, mask: TextMask): string {
  if (text.length <= length) return text;
  return `${firstOf(mask(text), length)}...${cut}`;
}

interface Walking {
  readonly limits: UiLimits;
  readonly mask: TextMask;
  /** Whether the value stands under a name of web elements, so that its lists of elements are lists of those. */
  web: boolean;
  /** Elements that may still be shown. */
  nodes: number;
}

/** `level` is that of the element the value is part of, -1 above the first. */
function walk(value: Json, key: string, level: number, walking: Walking): Json {
  const { limits, mask } = walking;
  if (typeof value === "string")
    return cutText(value, key === "data" ? limits.maxDataChars : limits.maxTextChars, mask);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    return items
      .slice(0, mostItems(key, items, walking))
      .flatMap((item) => (isElement(item) && walking.nodes-- <= 0 ? [] : [walk(item, key, level, walking)]));
  }
  const fields = value as { readonly [key: string]: Json };
  const own = isElement(fields) || isChildList(key) || elementList.test(key) ? level + 1 : level;
  const kept: Record<string, Json> = {};
  const { web } = walking;
  walking.web ||= webElementList.test(key);
  for (const [name, item] of Object.entries(fields)) {
    if (limits.dropFields.includes(name)) continue;
    const tooDeep = isChildList(name) && Array.isArray(item) && item.length > 0 && own >= limits.maxDepth;
    kept[name] = tooDeep ? cut : walk(item, name, own, walking);
  }
  walking.web = web;
  return kept;
}

const elementList = /^(?:ui_?)?(?:elements|nodes)(?:json)?$/i;
const webElementList = /^web_?elements(?:json)?$/i;

function mostItems(key: string, items: readonly Json[], { limits, web }: Walking): number {
  if (isChildList(key)) return limits.maxChildren;
  if (key === "actions") return limits.maxActions;
  if (webElementList.test(key)) return limits.maxWebElements;
  if (!elementList.test(key) && !items.some(isElement)) return Infinity;
  return web ? limits.maxWebElements : limits.maxNodes;
}

function isChildList(key: string): boolean {
  return /^(?:AX)?[Cc]hild(?:ren|Nodes)/.test(key);
}

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
