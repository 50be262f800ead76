/** Calls: the effects of a tool call on files and the command it runs, found by the shape of its arguments. */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { isPath } from "../stub/stub.ts";
import type { Change, FileAction, ReadCall } from "./action.ts";
import { framedFiles } from "./output.ts";
import type { Output } from "./output.ts";
import { blockChanges, patchesIn } from "./patch.ts";
import { commandActions, isScript, scriptActions } from "./shell.ts";

const before = /^(?:old|before|search|find|original)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const after = /^(?:new|after|replace(?:ment)?|updated?)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const allName = /^(?:replace_?all|all|global|allow_multiple|expected_replacements)$/i;
const whole = /^(?:content|contents|file_?text|text|body|code)$/i;
const commandKey = /^(?:command|cmd|script|shell_?command)$/i;
const folderName = /^(?:cwd|work(?:ing)?_?dir(?:ectory)?)$/i;
const pathName = /^(?:path|file|file_?(?:path|name)|filename|target(?:_?file)?|notebook_?path|uri)$/i;
const listName = /^(?:paths|files|file_?paths|include)$/i;
const cellName = /cell|notebook/i;
const cellText = /^(?:(?:new|cell)_?)?(?:source|code|content|text|string)$/i;
/** The address of something that is no file. */
const address = /^\s*(?!file:)[a-z][a-z0-9+.-]+:\/\//i;
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
  const object = isObject(args) ? args : undefined;
  const known = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (known && object) return listOf(known(object));
  const line = commandOf(args);
  if (line !== undefined) return commandActions(line, (object && textUnder(object, folderName)) ?? "", output);
  const patched = patchesIn(args);
  const script = scriptIn(args);
  if (script !== undefined) return [...(patched ?? []), ...scriptActions(script, output)];
  return patched ?? (object ? listOf(shapedAction(name, object, output)) : []);
}

/** Whether a call runs a command, or a program that calls tools. */
export function runsCommand(args: JsonValue): boolean {
  return (commandOf(args) ?? scriptIn(args)) !== undefined;
}

/** The command line that a call runs in a shell, also one that is given as a list of words. */
export function commandOf(args: JsonValue): string | undefined {
  const object = isObject(args) ? args : undefined;
  const value = object?.[keyOf(object, commandKey) ?? ""];
  if (typeof value === "string") {
    // A verb of an editor (`view`, `create`) stands with a path.
    const isLine = /\S\s+\S/.test(value) || (value.trim() !== "" && keyOf(object ?? {}, pathName) === undefined);
    return isLine ? value.trim() : undefined;
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === "string")) return undefined;
  const [shell, flag, line] = value;
  const wraps = value.length === 3 && shell?.endsWith("sh") === true && flag?.endsWith("c") === true;
  return wraps ? line : value.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : quoted(word))).join(" ");
}

/** The program among the arguments of a call that is not about one file. */
function scriptIn(args: JsonValue): string | undefined {
  const object = isObject(args) ? args : undefined;
  const values = object && keyOf(object, pathName) === undefined ? Object.values(object) : [args];
  return values.find((value) => typeof value === "string" && isScript(value)) as string | undefined;
}

/** The files that some messages wrote, in the order they were last written: what a summary of them has to name. */
export function writtenPaths(messages: readonly NumberedMessage[]): readonly string[] {
  const actions = new Map<string, readonly FileAction[]>();
  const written = new Set<string>();
  for (const { message } of messages) {
    for (const { callId, name, args } of toolCalls(message)) actions.set(callId, actionsOf(name, args));
    for (const { callId, isError } of toolResults(message)) {
      if (isError === true) continue;
      for (const path of actions.get(callId)?.flatMap((action) => writtenPath(action) ?? []) ?? []) {
        written.delete(path);
        written.add(path);
      }
    }
  }
  return [...written];
}

/** The file that an action changes; undefined for one that only looks, or that does not say. */
export function writtenPath(action: FileAction): string | undefined {
  if (action.kind === "move") return action.to;
  return action.kind === "write" || action.kind === "edit" || action.kind === "insert" ? action.path : undefined;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
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

function shapedAction(
  name: string,
  object: JsonObject,
  output?: Output,
): FileAction | readonly FileAction[] | undefined {
  const entries = Object.entries(object);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const find = (key: RegExp): string | undefined => texts.find(([name]) => key.test(name))?.[1];
  const many = object[keyOf(object, listName) ?? ""];
  if (Array.isArray(many)) return filesOf(many as readonly JsonValue[], output);
  const verb = find(commandKey);
  const named =
    find(pathName) ?? texts.find(([key, text]) => !commandKey.test(key) && !folderName.test(key) && isPath(text))?.[1];
  if (named === undefined || address.test(named)) return undefined;
  const [, path = named, first] = /^(.*\.\w+):(\d+)(?:-\d*)?$/.exec(named) ?? [];
  const blocks = texts.flatMap(([, text]) => blockChanges(text));
  if (blocks.length > 0) return { kind: "edit", path, changes: blocks };
  // The text before an undone edit is not known, nor is the notebook's own text behind a cell.
  const touch = { kind: "touch", command: path, wide: false } as const;
  if (verb?.startsWith("undo") === true) return touch;
  const isNotebook = /notebook|\.ipynb\b/i.test(`${keyOf(object, pathName) ?? ""} ${path}`);
  if (isNotebook && keyOf(object, cellName) !== undefined) {
    if (reading.test(name)) return undefined;
    const text = texts.find(([key]) => cellText.test(key))?.[1] ?? "";
    // A text without a known place stands in the notebook from here on.
    const cell: FileAction = { kind: "edit", path, changes: [{ before: "", after: text, hunk: {} }] };
    return text === "" || texts.some(([, value]) => value === "delete") ? touch : [touch, cell];
  }
  const changes = changesOf(object);
  if (changes.length > 0) return { kind: "edit", path, changes };
  const from = first === undefined ? numberOf(entries, start, 0) : Number(first);
  const to = numberOf(entries, end, 1);
  const fresh = find(after);
  if (fresh !== undefined && from !== undefined)
    return {
      kind: "insert",
      path,
      after: to === undefined ? from : from - 1,
      text: fresh,
      ...(to !== undefined && { to }),
    };
  const text = find(whole);
  if (text !== undefined) return { kind: "write", path, text };
  if (texts.some(([key]) => pattern.test(key))) return /\.\w+$/.test(path) ? { kind: "search", path } : undefined;
  const lists = listing.test(name);
  if (lists || !reading.test(`${name} ${verb ?? ""}`))
    return texts.length === 1 && !lists && /\.\w+$/.test(path) ? { kind: "search", path } : undefined;
  const isPart = from !== undefined || to !== undefined;
  return { kind: "read", path, whole: !isPart, ...(from !== undefined && { from: Math.max(1, from) }) };
}

/** The files that the result of a call for many shows; without it, those that its list names. */
function filesOf(list: readonly JsonValue[], output?: Output): readonly FileAction[] {
  const shown = output ? framedFiles(output.text) : [];
  if (shown.length > 0) return shown;
  return list.flatMap((item): readonly FileAction[] =>
    typeof item === "string" && /^[^*?]+\.\w+$/.test(item) ? [{ kind: "look", path: item }] : [],
  );
}

/** Old and new texts, in the arguments themselves or in a list of edits. */
function changesOf(args: JsonObject): readonly Change[] {
  const entries = Object.entries(args);
  const find = (name: RegExp): string | undefined =>
    entries.flatMap(([key, value]) => (typeof value === "string" && name.test(key) ? [value] : [])).at(-1);
  const inner = entries.flatMap(([, value]) => (Array.isArray(value) ? (value as readonly JsonValue[]) : []));
  const changes = inner.flatMap((item) => changesOf(isObject(item) ? item : {}));
  const old = find(before) ?? "";
  const everywhere = entries.some(
    ([key, value]) => allName.test(key) && (value === true || (typeof value === "number" && value > 1)),
  );
  return old === ""
    ? changes
    : [...changes, { before: old, after: find(after) ?? "", ...(everywhere && { everywhere }) }];
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
