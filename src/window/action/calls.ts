/** Calls: the effects of a tool call on files, found by the shape of its arguments. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { isPath } from "../stub/stub.ts";
import { blockChanges } from "./blocks.ts";
import type { Change, FileAction, ReadCall } from "./action.ts";
import { patchesIn } from "./patch-text.ts";
import type { Output } from "./output.ts";
import { framedFiles } from "./framed.ts";
import { commandActions, isScript, scriptActions } from "./script.ts";

const before = /^(?:old|before|search|find|original)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const after = /^(?:new|after|replace(?:ment)?|updated?)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const allName = /^(?:replace_?all|all|global|allow_multiple|expected_replacements)$/i;
const whole = /^(?:content|contents|file_?text|text|body|code)$/i;
const commandKey = /^(?:command|cmd|script|shell_?command)$/i;
const folderName = /^(?:cwd|work(?:ing)?_?dir(?:ectory)?)$/i;
const pathName = /^(?:path|file|file_?(?:path|name)|filename|target(?:_?file)?|notebook_?path|uri)$/i;
const cellName = /cell|notebook/i;
const cellText = /^(?:(?:new|cell)_?)?(?:source|code|content|text|string)$/i;
const pattern = /^(?:pattern|query|regexp?|glob|search_?term)$/i;
const start = /^(?:offset|from|start(?:_?line)?|line(?:_?(?:number|start))?|insert_?line|view_?range)$/i;
const end = /^(?:to|end(?:_?line)?|line_?end|limit|view_?range)$/i;
const reading = /(?:^|[^a-z])(?:read|view|open|cat|show|get|load|fetch)|read(?:file)?$/i;
const listing = /director|folder|(?:^|[^a-z])(?:ls|list|tree)(?:$|[^a-z])/i;

/**
 * The effects of a call on files, in their order; empty for a call that touches the text of none.
 *
 * @param output - its result; without it, what a command of several parts showed is not told apart
 */
export function actionsOf(
  name: string,
  args: JsonValue,
  tools: Readonly<Record<string, ReadCall>> = {},
  output?: Output,
): readonly FileAction[] {
  const object = typeof args === "object" && args !== null && !Array.isArray(args) ? (args as JsonObject) : undefined;
  const known = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (known && object) return listOf(known(object));
  if (typeof args === "string" && isScript(args)) return patchesIn(args) ?? scriptActions(args, output);
  const line = object && commandOf(object);
  if (object && line !== undefined && isLine(line, object)) {
    const folder = textUnder(object, folderName) ?? "";
    const patched = Array.isArray(object[keyOf(object, commandKey) ?? ""]) ? patchesIn(args) : undefined;
    return patched ?? commandActions(line, folder, output);
  }
  const script = object && Object.values(object).find((value) => typeof value === "string" && isScript(value));
  const patched = patchesIn(args);
  if (typeof script === "string" && !Object.keys(object ?? {}).some((key) => pathName.test(key)))
    return [...(patched ?? []), ...scriptActions(script, output)];
  return (
    patched ?? [...(object ? listOf(shapedAction(name, object)) : []), ...(output ? framedFiles(output.text) : [])]
  );
}

/** Whether a call runs a command, or a program that calls tools. */
export function runsCommand(args: JsonValue): boolean {
  if (typeof args === "string") return isScript(args);
  if (args === null || typeof args !== "object" || Array.isArray(args)) return false;
  const object = args as JsonObject;
  const line = commandOf(object);
  if (line !== undefined && isLine(line, object)) return true;
  return Object.values(object).some((value) => typeof value === "string" && isScript(value));
}

/** A command line, also one that is given as a list of words. */
export function commandOf(args: JsonObject): string | undefined {
  const value = args[keyOf(args, commandKey) ?? ""];
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === "string")) return undefined;
  const [shell, flag, line] = value;
  const wraps = value.length === 3 && shell?.endsWith("sh") === true && flag?.endsWith("c") === true;
  return wraps ? line : value.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : quoted(word))).join(" ");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Whether a command is a line for a shell: a verb of an editor (`view`, `create`) is none. */
function isLine(command: string, args: JsonObject): boolean {
  return /\s/.test(command.trim()) || keyOf(args, pathName) === undefined;
}

function keyOf(args: JsonObject, pattern: RegExp): string | undefined {
  return Object.keys(args).find((key) => pattern.test(key));
}

function textUnder(args: JsonObject, pattern: RegExp): string | undefined {
  const value = args[keyOf(args, pattern) ?? ""];
  return typeof value === "string" ? value : undefined;
}

function listOf(actions: FileAction | readonly FileAction[] | undefined): readonly FileAction[] {
  if (actions === undefined) return [];
  return "kind" in actions ? [actions] : actions;
}

function shapedAction(name: string, object: JsonObject): FileAction | readonly FileAction[] | undefined {
  const entries = Object.entries(object);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const find = (key: RegExp): string | undefined => texts.find(([name]) => key.test(name))?.[1];
  const places = filesOf(object);
  if (places.length > 0) return places.map((path): FileAction => ({ kind: "look", path }));
  const other = /^(?:command|cmd|script|shell_?command|cwd|work(?:ing)?_?dir(?:ectory)?)$/i;
  const named = find(pathName) ?? texts.find(([key, text]) => !other.test(key) && isPath(text))?.[1];
  const shell = find(commandKey);
  if (named === undefined || isAddress(named)) return undefined;
  const [, path = named, first] = /^(.*\.\w+):(\d+)(?:-\d*)?$/.exec(named) ?? [];
  const blocks = texts.flatMap(([, text]) => blockChanges(text));
  if (blocks.length > 0) return { kind: "edit", path, changes: blocks };
  // The text before an undone edit is not known, nor is the notebook's own text behind a cell.
  const touch = { kind: "touch", command: path, wide: false } as const;
  if (shell?.startsWith("undo") === true) return reading.test(name) ? undefined : touch;
  if (
    entries.some(([key]) => cellName.test(key)) &&
    /notebook|\.ipynb\b/i.test(`${keyOf(object, pathName) ?? ""} ${path}`)
  ) {
    const text = texts.find(([key]) => cellText.test(key))?.[1] ?? "";
    if (reading.test(name)) return undefined;
    if (text === "" || texts.some(([, value]) => value === "delete")) return touch;
    // A text without a known place stands in the notebook from here on.
    return [touch, { kind: "edit", path, changes: [{ before: "", after: text, hunk: {} }] }];
  }
  const changes = changesOf(object);
  if (changes.length > 0) return { kind: "edit", path, changes };
  const from = first === undefined ? numberOf(entries, start, 0) : Number(first);
  const fresh = find(after);
  if (fresh !== undefined && from !== undefined) {
    const to = numberOf(entries, end, 1);
    return to === undefined
      ? { kind: "insert", path, after: from, text: fresh }
      : { kind: "insert", path, after: from - 1, to, text: fresh };
  }
  const text = find(whole);
  if (text !== undefined) return { kind: "write", path, text };
  if (texts.some(([key]) => pattern.test(key))) return /\.\w+$/.test(path) ? { kind: "search", path } : undefined;
  if (listing.test(name) || !reading.test(shell === undefined ? name : `${name} ${shell}`)) {
    return texts.length === 1 && !listing.test(name) && /\.\w+$/.test(path) ? { kind: "search", path } : undefined;
  }
  const part = from !== undefined || numberOf(entries, end, 1) !== undefined;
  return { kind: "read", path, whole: !part, ...(from !== undefined && { from: Math.max(1, from) }) };
}

/** Whether a text is the address of something that is no file. */
function isAddress(text: string): boolean {
  return /^\s*(?!file:)[a-z][a-z0-9+.-]+:\/\//i.test(text);
}

/** Old and new texts, in the arguments themselves or in a list of edits. */
function changesOf(args: JsonObject): readonly Change[] {
  const changes: Change[] = [];
  let old: string | undefined;
  let fresh: string | undefined;
  for (const [key, value] of Object.entries(args)) {
    if (typeof value === "string") {
      if (before.test(key)) old = value;
      else if (after.test(key)) fresh = value;
    } else if (Array.isArray(value)) {
      for (const item of value as readonly JsonValue[]) {
        if (typeof item === "object" && item !== null && !Array.isArray(item))
          changes.push(...changesOf(item as JsonObject));
      }
    }
  }
  const everywhere = Object.entries(args).some(
    ([key, value]) => allName.test(key) && (value === true || (typeof value === "number" && value > 1)),
  );
  if (old !== undefined && old !== "")
    changes.push({ before: old, after: fresh ?? "", ...(everywhere && { everywhere }) });
  return changes;
}

/** The files that a list of paths names. */
function filesOf(args: JsonObject): readonly string[] {
  const value = args[keyOf(args, /^(?:paths|files|file_?paths|include)$/i) ?? ""];
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[])
    .filter((item) => typeof item === "string")
    .filter((item) => /^[^*?]+\.\w+$/.test(item));
}

/** The number under a name, or the item at a place of a list of numbers. */
function numberOf(entries: readonly (readonly [string, JsonValue])[], key: RegExp, place: number): number | undefined {
  for (const [name, value] of entries) {
    if (!key.test(name)) continue;
    const number = Array.isArray(value) ? (value as readonly JsonValue[])[place] : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= 0) return number;
  }
  return undefined;
}
