/** UI dumps in the bracket notation of web agents: `<a[DF]| Home> <`. */
import type { UiDump, UiElement } from "./element.ts";

interface Open extends UiElement {
  name: string;
  readonly children: UiElement[];
}

/**
 * The dump in bracket notation, or undefined where it is none: `<` opens an element, `tag[ID]|` says what it is, text
 * follows, `>` closes. Only what a user can act on has an id.
 */
export function readBrackets(text: string): UiDump | undefined {
  if (!/<\w+\[\w+\]\|/.test(text)) return undefined;
  const root = start("", undefined);
  const open = [root];
  for (const match of text.matchAll(/<(?:([\w-]+)?(?:\[(\w+)\])?\|)?(?=\s|>|$)|>(?=\s|>|$)|[^\s<>]+|[<>]/g)) {
    const [token, tag = "", id] = match;
    const inner = open.at(-1) ?? root;
    if (token === ">") {
      if (open.length > 1) open.pop();
    } else if (token === "<" || (token.startsWith("<") && token.endsWith("|"))) {
      const element = start(tag, id);
      inner.children.push(element);
      open.push(element);
    } else inner.name += inner.name === "" ? token : ` ${token}`;
  }
  return { roots: root.children, about: [] };
}

function start(role: string, id: string | undefined): Open {
  return { role, name: "", ...(id !== undefined && { id }), states: [], interactive: id !== undefined, children: [] };
}
