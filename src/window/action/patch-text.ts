/** Patch texts: the patches that a call's arguments hold, in whatever quotes they stand. */
import type { JsonValue } from "../../message/message.ts";
import type { FileAction } from "./action.ts";
import { scriptLiterals } from "./literals.ts";
import { isPatch, patchActions } from "./patch.ts";

const beginMark = "*** Begin Patch";
const endMark = "*** End Patch";
/** Names of arguments whose text is put into a file, or sought in it, as it is. */
const textName = /^(?:content|contents|file_?text|text|body|code|(?:old|new)_?(?:text|str|string))$/i;
const patchName = /^(?:patch|diff|patch_?text|input|changes)$/i;
const unified = /^--- \S.*\n\+\+\+ \S.*\n@@ -\d/m;
/** A command that applies the unified diff behind it. */
const applies = /(?:^|[\s;&|(])(?:git\s+(?:-\S+\s+)*apply|patch)\b/;
/** Options with which it changes nothing, and those with which it takes the diff back. */
const looks = /\s--(?:check|dry-run|stat|numstat|summary)\b/;
const reverses = /\s(?:-R|--reverse)\b/;
const applier = /\bapply_?patch\b/i;
/** Signs of a program's source rather than a command's. */
const script = /\bawait\b|\btools\.|^\s*(?:const|let|var)\s|=>/m;

/** A patch in a text, and the text without it. */
export interface Patched {
  readonly actions: readonly FileAction[];
  readonly rest: string;
}

/** The effects of the patches in a call's arguments; undefined where they hold none. */
export function patchesIn(args: JsonValue): readonly FileAction[] | undefined {
  const found: FileAction[] = [];
  let holds = false;
  const visit = (value: JsonValue, name: string): void => {
    if (typeof value === "string") {
      if (textName.test(name) && !value.trimStart().startsWith(beginMark)) return;
      const patched = patchedText(value, name);
      if (!patched) return;
      holds = true;
      found.push(...patched.actions);
    } else if (value !== null && typeof value === "object") {
      for (const [key, item] of Object.entries(value)) visit(item as JsonValue, Array.isArray(value) ? name : key);
    }
  };
  visit(args, "");
  return holds ? found : undefined;
}

/**
 * The patches of one argument; undefined for a text that has none. A patch that cannot be read is a touch of the files it
 * names.
 */
export function patchedText(text: string, name = ""): Patched | undefined {
  if (text.includes(beginMark)) {
    if (!isPlain(text, text.indexOf(beginMark)) && !applier.test(text) && !/^\s*[[{]/.test(text)) return undefined;
    const source = sourceOf(text);
    if (source) {
      const actions = source.patches.flatMap(patchActions);
      return { actions: actions.length > 0 ? actions : [{ kind: "touch", command: text, wide: false }], rest: "" };
    }
    const actions: FileAction[] = [];
    let rest = "";
    let from = 0;
    for (let at = text.indexOf(beginMark); at >= 0; at = text.indexOf(beginMark, from)) {
      const last = text.indexOf(endMark, at);
      const end = last < 0 ? text.length : last + endMark.length;
      const before = text.slice(from, at);
      actions.push(...patchActions(shellText(text.slice(at, end), before)));
      rest += before;
      from = end;
    }
    return { actions, rest: rest + text.slice(from) };
  }
  if (!unified.test(text) || !(patchName.test(name) || applies.test(text.slice(0, text.search(unified)))))
    return undefined;
  const command =
    text
      .slice(0, text.search(unified))
      .match(/\b(?:apply|patch)\b[^\n;&|]*/g)
      ?.at(-1) ?? "";
  if (looks.test(command)) return { actions: [], rest: "" };
  if (reverses.test(command)) return { actions: [{ kind: "touch", command: text, wide: false }], rest: "" };
  return { actions: patchActions(text), rest: "" };
}

/** The patches that strings of a program hold; undefined for a text that is no program. */
function sourceOf(text: string): { readonly patches: readonly string[] } | undefined {
  const at = text.indexOf(beginMark);
  const escaped = text.startsWith("\\n", at + beginMark.length);
  if (!escaped && (isPlain(text, at) || !script.test(text.slice(0, at)))) return undefined;
  const patches: string[] = [];
  let lines: string[] | undefined;
  for (const { text: literal, before } of scriptLiterals(text)) {
    if (lines && /^\s*,\s*$/.test(before) && literal !== undefined) {
      lines.push(literal);
      if (literal.startsWith(endMark)) {
        patches.push(lines.join("\n"));
        lines = undefined;
      }
    } else if (literal === beginMark) lines = [literal];
    else if (literal !== undefined && isPatch(literal)) patches.push(literal);
  }
  return { patches };
}

/** Whether a patch is all of a text but blanks before it. */
function isPlain(text: string, at: number): boolean {
  return text.slice(0, at).trim() === "";
}

/** A patch as a shell hands it on, by the quotes before it. */
function shellText(patch: string, before: string): string {
  if (/<<-?\s*\w+[^\n]*\n\s*$/.test(before)) return patch.replaceAll(/\\([$`\\])/g, "$1");
  if (/"\s*$/.test(before)) return patch.replaceAll(/\\([$`\\"])/g, "$1");
  return /'\s*$/.test(before) ? patch.replaceAll(String.raw`'\''`, "'") : patch;
}
