/** Limits on UI dumps: per list and by nesting (docs/presets.md, `miki`). */
import type { JsonValue as Json } from "../../message/message.ts";
import { defaultMask, firstOf } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import { isElement } from "./json.ts";

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
