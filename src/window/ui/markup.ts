/** UI dumps as markup: HTML, and the bracket notation of web agents (`<a[DF]| Home> <`). */
import { isActing } from "./element.ts";
import type { UiDump, UiElement } from "./element.ts";

interface Open {
  role: string;
  id: string | undefined;
  attributes: ReadonlyMap<string, string>;
  text: string[];
  children: UiElement[];
}

/**
 * The dump in bracket notation, or undefined where it is none: `<` opens an element, `tag[ID]|` says what it is, text
 * follows, `>` closes. Only what a user can act on has an id.
 */
export function readBrackets(text: string): UiDump | undefined {
  if (!/<\w+\[\w+\]\|/.test(text)) return undefined;
  const open: Open[] = [start("", undefined)];
  for (const match of text.matchAll(/<(?:([\w-]+)?(?:\[(\w+)\])?\|)?(?=\s|>|$)|>(?=\s|>|$)|[^\s<>]+|[<>]/g)) {
    const [token, tag, id] = match;
    if (token === ">") {
      if (open.length > 1) close(open, (one) => one.id !== undefined);
    } else if (token.startsWith("<") && (token === "<" || token.endsWith("|"))) open.push(start(tag ?? "", id));
    else open.at(-1)?.text.push(token);
  }
  while (open.length > 1) close(open, (one) => one.id !== undefined);
  return { roots: open[0]?.children ?? [], about: [] };
}

const voids = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const silent = new Set(["script", "style", "noscript", "template", "head", "svg"]);
/** Tags that a following one of the same kind closes where the page does not. */
const siblings = new Set(["li", "option", "tr", "td", "th", "p", "dt", "dd"]);
const tagPattern =
  /<!--[\s\S]*?-->|<(script|style)\b[^>]*>[\s\S]*?<\/\1\s*>|<(\/?)([a-zA-Z][\w:-]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*)\s*\/?>|<![^>]*>/g;

/** The dump in a page of HTML, or in lines like browser agents print them (`[12]<button>Send</button>`), or undefined. */
export function readHtml(text: string): UiDump | undefined {
  if ((text.match(/<(?:a|button|input|select|textarea|form|nav|div|html|body)\b[^<>]*>/g) ?? []).length < 3)
    return undefined;
  const open: Open[] = [start("", undefined)];
  let last = 0;
  for (const match of text.matchAll(tagPattern)) {
    const mark = addText(open, text.slice(last, match.index));
    last = match.index + match[0].length;
    const [whole, , closing, name = ""] = match;
    const tag = name.toLowerCase();
    if (tag === "") continue;
    if (closing) {
      const at = open.findLastIndex((one) => one.role === tag);
      for (let depth = open.length - 1; at > 0 && depth >= at; depth--) close(open, acts);
      continue;
    }
    if (siblings.has(tag) && open.at(-1)?.role === tag) close(open, acts);
    open.push(start(tag, mark, readAttributes(match[4] ?? "")));
    if (voids.has(tag) || whole.endsWith("/>")) close(open, acts);
  }
  addText(open, text.slice(last));
  while (open.length > 1) close(open, acts);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
  return { roots: open[0]?.children ?? [], about: title ? [`title: ${title}`] : [] };
}

/** Adds text to the innermost element; a number in brackets right before a tag is that tag's id. */
function addText(open: readonly Open[], text: string): string | undefined {
  const mark = /\*?\[(\w+)\]\*?$/.exec(text.trimEnd());
  const plain = (mark ? text.slice(0, mark.index) : text).trim();
  if (plain !== "" && !open.some(({ role }) => silent.has(role))) open.at(-1)?.text.push(decode(plain));
  return mark?.[1];
}

function start(role: string, id: string | undefined, attributes: Open["attributes"] = new Map()): Open {
  return { role, id, attributes, text: [], children: [] };
}

function readAttributes(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const match of text.matchAll(/([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) {
    attributes.set((match[1] ?? "").toLowerCase(), decode(match[2] ?? match[3] ?? match[4] ?? ""));
  }
  return attributes;
}

const entities: Readonly<Record<string, string>> = {
  "amp": "&",
  "lt": "<",
  "gt": ">",
  "quot": '"',
  "apos": "'",
  "nbsp": " ",
  "#39": "'",
};

function decode(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole).replaceAll(/\s+/g, " ");
}

function acts({ role, id, attributes }: Open): boolean {
  if (attributes.get("type") === "hidden") return false;
  const aria = attributes.get("role") ?? "";
  return (
    id !== undefined ||
    (isActing(role) && (role !== "a" || attributes.size > 0)) ||
    isActing(aria) ||
    attributes.has("onclick") ||
    attributes.has("contenteditable") ||
    Number(attributes.get("tabindex") ?? -1) >= 0
  );
}

const nameAttributes = ["aria-label", "alt", "title", "placeholder"];
const idAttributes = ["ref", "data-ref", "bid", "backend_node_id", "data-testid", "id", "name"];
const stateAttributes = [
  "checked",
  "disabled",
  "selected",
  "focused",
  "aria-expanded",
  "aria-selected",
  "aria-checked",
];

function close(open: Open[], isInteractive: (one: Open) => boolean): void {
  const one = open.pop();
  const parent = open.at(-1);
  if (!one || !parent) return;
  const { attributes } = one;
  const labels = nameAttributes.map((key) => attributes.get(key) ?? "").filter((label) => label.trim() !== "");
  const id = one.id ?? idAttributes.map((key) => attributes.get(key)).find((value) => value);
  const value = attributes.get("value");
  const href = attributes.get("href");
  parent.children.push({
    role: attributes.get("role") ?? one.role,
    name: one.text.join(" ").trim() || (labels[0] ?? ""),
    ...(id !== undefined ? { id } : href !== undefined && href !== "" && { id: href }),
    ...(value !== undefined && value !== "" && { value }),
    states: stateAttributes.flatMap((key) => {
      const state = attributes.get(key);
      return state === undefined || state === "false" ? [] : [key.replace("aria-", "")];
    }),
    interactive: isInteractive(one),
    children: one.children,
  });
}
