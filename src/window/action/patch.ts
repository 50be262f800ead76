/** Patches: the effects on files of a text in the form of `apply_patch`, and of SEARCH/REPLACE blocks. */
import type { JsonValue } from "../../message/message.ts";
import type { Change, FileAction, HunkPlace } from "./action.ts";
import { scriptLiterals } from "./shell-words.ts";

const beginMark = "*** Begin Patch";
const endMark = "*** End Patch";
const fileMark = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/;
const moveMark = /^\*\*\* Move to: (.+?)\s*$/;
const unifiedHunk = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/;
const unified = /^--- \S.*\n\+\+\+ \S.*\n@@ -\d/m;
const applier = /\bapply_?patch\b/i;
/** Names of arguments whose text is put into a file, or sought in it, as it is. */
const textName = /^(?:content|contents|file_?text|text|body|code|(?:old|new)_?(?:text|str|string))$/i;
const patchName = /^(?:patch|diff|patch_?text|input|changes)$/i;

/** The effects of the patches in a text, in their order; empty for a text that has none. */
export function patchActions(text: string): readonly FileAction[] {
  const files: string[][] = [];
  let open: string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (fileMark.test(line)) files.push((open = [line]));
    else if (line.startsWith(endMark)) open = undefined;
    else open?.push(line);
  }
  return files.flatMap(fileActions);
}

function fileActions([head = "", ...lines]: readonly string[]): readonly FileAction[] {
  const [, kind, path = ""] = fileMark.exec(head) ?? [];
  if (kind === "Delete") return [{ kind: "delete", path }];
  if (kind === "Add")
    return [
      {
        kind: "write",
        path,
        text: sideOf(
          lines.filter((line) => line.startsWith("+")),
          "-",
        ),
      },
    ];
  const hunks: { readonly hunk: HunkPlace; readonly lines: string[] }[] = [{ hunk: {}, lines: [] }];
  for (const line of lines) {
    if (line.startsWith("@@")) hunks.push({ hunk: placeOf(line), lines: [] });
    else if (!line.startsWith("***")) hunks.at(-1)?.lines.push(line);
  }
  const changes = hunks
    .filter((one) => one.lines.some((line) => /^[+-]/.test(line)))
    .map(({ hunk, lines: both }) => ({ before: sideOf(both, "+"), after: sideOf(both, "-"), hunk }));
  const to = lines.flatMap((line) => moveMark.exec(line)?.[1] ?? []).at(-1);
  return [
    ...(changes.length > 0 ? [{ kind: "edit" as const, path, changes }] : []),
    ...(to === undefined ? [] : [{ kind: "move" as const, path, to }]),
  ];
}

/** One side of a hunk: its lines but for those with the other side's mark. */
function sideOf(lines: readonly string[], other: "+" | "-"): string {
  const own = lines.filter((line) => !line.startsWith(other));
  return own.map((line) => line.slice(1)).join("\n");
}

/** The place that a line beginning with `@@` names. */
function placeOf(line: string): HunkPlace {
  const at = unifiedHunk.exec(line)?.[1];
  const under = line
    .replace(unifiedHunk, "")
    .replace(/^@@|@@$/g, "")
    .trim();
  return { ...(under !== "" && { under }), ...(at !== undefined && { at: Math.max(1, Number(at)) }) };
}

/** The effects of the patches in a call's arguments; undefined where they hold none. */
export function patchesIn(args: JsonValue, name = ""): readonly FileAction[] | undefined {
  if (typeof args === "string") return patchesOf(args, name);
  if (args === null || typeof args !== "object") return undefined;
  const found = Object.entries(args).map(([key, item]) =>
    patchesIn(item as JsonValue, Array.isArray(args) ? name : key),
  );
  return found.some((one) => one !== undefined) ? found.flatMap((one) => one ?? []) : undefined;
}

/** A patch that cannot be read is a touch of the files it names. */
function patchesOf(text: string, name: string): readonly FileAction[] | undefined {
  const at = text.indexOf(beginMark);
  const isPlain = at >= 0 && text.slice(0, at).trim() === "";
  const isQuoted = at >= 0 && !textName.test(name) && (applier.test(text) || /^\s*[[{]/.test(text));
  if (!isPlain && !isQuoted && !(patchName.test(name) && unified.test(text))) return undefined;
  const actions = isPlain ? patchActions(text) : isQuoted ? literalPatches(text).flatMap(patchActions) : [];
  return actions.length > 0 ? actions : [{ kind: "touch", command: text, wide: false }];
}

/** The patches that strings of a program hold, as one string or as a list of their lines. */
function literalPatches(source: string): readonly string[] {
  const patches: string[] = [];
  let lines: string[] | undefined;
  for (const { text = "", before } of scriptLiterals(source)) {
    if (lines && /^\s*,\s*$/.test(before)) lines.push(text);
    else lines = text === beginMark ? [text] : undefined;
    if (lines && text.startsWith(endMark)) patches.push(lines.join("\n"));
    else if (text.startsWith(`${beginMark}\n`)) patches.push(text);
  }
  return patches;
}

const searchMark = /^(?:<{5,9}|-{5,9}) ?SEARCH>?[^\S\n]*\n/m;
const middleMark = /^={5,9}[^\S\n]*\n/m;
const replaceMark = /^(?:>{5,9}|\+{5,9}) ?REPLACE>?[^\S\n]*$/m;

/** The replacements that stand in one text between marks, as Cline spells them; none where it has no marks. */
export function blockChanges(text: string): readonly Change[] {
  const [, ...blocks] = text.replaceAll("\r\n", "\n").split(searchMark);
  return blocks.flatMap((block) => {
    const [body = "", end] = block.split(replaceMark);
    const middle = middleMark.exec(body);
    if (end === undefined || !middle) return [];
    const after = body.slice(middle.index + middle[0].length);
    return { before: body.slice(0, middle.index).replace(/\n$/, ""), after: after.replace(/\n$/, ""), hunk: {} };
  });
}
