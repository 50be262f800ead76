/** UI dumps as indented lines: `- button "Send" [ref=e12]`, `[12] link 'Home'`, `uid=1_2 textbox "Name" focused`. */
import { isActing, isRole } from "./element.ts";
import type { UiDump, UiElement } from "./element.ts";

const line =
  /^(?<indent>\s*)(?:[-*•]\s+)?(?:(?:\[(?<mark>\w+)\]|uid=(?<uid>\S+)|(?<number>\d+)[.:)]?)\s+)?(?<role>[A-Za-z][\w.]*)(?<rest>(?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))?.*)$/;

/** The dump in a text of indented lines, or undefined where fewer than three, or not most of them, are elements. */
export function readOutline(text: string): UiDump | undefined {
  if (!/^\s*(?:[-*•]\s+)?(?:(?:\[\w+\]|uid=\S+|\d+[.:)]?)\s+)?(?:AX)?[A-Za-z]\w*\s+["']/m.test(text)) return undefined;
  const lines = text.split("\n");
  const found: { readonly depth: number; readonly element: UiElement; readonly children: UiElement[] }[] = [];
  const about: string[] = [];
  let others = 0;
  for (const one of lines) {
    if (one.trim() === "") continue;
    const read = readLine(one);
    if (read) found.push(read);
    else if (found.length === 0 && about.length < 4 && /title|url/i.test(one)) about.push(one.trim().slice(0, 200));
    else others++;
  }
  const acting = found.filter(({ element }) => element.interactive).length;
  if (found.length < 3 || acting === 0 || others > found.length) return undefined;
  return { roots: nest(found), about };
}

function readLine(text: string): { depth: number; element: UiElement; children: UiElement[] } | undefined {
  const groups = line.exec(text)?.groups;
  const role = groups?.["role"] ?? "";
  if (!groups || !isRole(role)) return undefined;
  const rest = (groups["rest"] ?? "").trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"|^'((?:[^'\\]|\\.)*)'/.exec(rest);
  const after = quoted ? rest.slice(quoted[0].length) : rest;
  // A line of prose may begin with such a word; an element's goes on with a name, a mark or nothing.
  if (!quoted && !/^(?::|\[|$)/.test(after) && groups["mark"] === undefined && groups["uid"] === undefined)
    return undefined;
  const id = groups["mark"] ?? groups["uid"] ?? /\[(?:ref|id)=([^\]\s]+)\]/.exec(after)?.[1] ?? groups["number"];
  const own = /:\s+(\S.*)$/.exec(after)?.[1] ?? "";
  const states = [
    ...after.matchAll(/\b(focused|disabled|checked|selected|expanded|active|pressed)\b(?!=false|: ?false)/gi),
  ];
  const children: UiElement[] = [];
  const element: UiElement = {
    role,
    name: unquote(quoted?.[1] ?? quoted?.[2] ?? "") || own,
    ...(id !== undefined && { id }),
    ...(quoted && own !== "" && { value: own }),
    states: [...new Set(states.map(([state]) => (/active/i.test(state) ? "focused" : state.toLowerCase())))],
    interactive: isActing(role) || /\[cursor=pointer\]|\bclickable\b/.test(after),
    children,
  };
  return { depth: (groups["indent"] ?? "").replaceAll("\t", "  ").length, element, children };
}

function nest(
  found: readonly { readonly depth: number; readonly element: UiElement; readonly children: UiElement[] }[],
): readonly UiElement[] {
  const roots: UiElement[] = [];
  const open: { readonly depth: number; readonly children: UiElement[] }[] = [];
  for (const { depth, element, children } of found) {
    while (open.length > 0 && (open.at(-1)?.depth ?? 0) >= depth) open.pop();
    (open.at(-1)?.children ?? roots).push(element);
    open.push({ depth, children });
  }
  return roots;
}

function unquote(text: string): string {
  return text.replaceAll(/\\(["'\\])/g, "$1");
}
