/** Calls: the effect of a tool call on files, found by the shape of its arguments. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { isPath } from "../recall/stub.ts";
import type { Change, FileAction, ReadCall } from "./action.ts";
import { shellAction } from "./shell.ts";

const before = /^(?:old|before|search|find|original)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const after = /^(?:new|after|replace(?:ment)?|updated?)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const whole = /^(?:content|contents|file_?text|text|body|code)$/i;
const command = /^(?:command|cmd|script|shell_?command)$/i;
const pathName = /^(?:path|file|file_?(?:path|name)|filename|target(?:_?file)?|notebook_?path|uri)$/i;
const pattern = /^(?:pattern|query|regexp?|glob|search_?term)$/i;
const start = /^(?:offset|from|start(?:_?line)?|line(?:_?(?:number|start))?|insert_?line|view_?range)$/i;
const end = /^(?:to|end(?:_?line)?|line_?end|limit|view_?range)$/i;
const reading = /(?:^|[^a-z])(?:read|view|open|cat|show|get|load|fetch)|read(?:file)?$/i;
const listing = /director|folder|(?:^|[^a-z])(?:ls|list|tree)(?:$|[^a-z])/i;

/** The effect of a call on files; undefined for a call that touches the text of none. */
export function actionOf(
  name: string,
  args: JsonValue,
  tools: Readonly<Record<string, ReadCall>> = {},
): FileAction | undefined {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined;
  const object = args as JsonObject;
  const known = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (known) return known(object);
  const entries = Object.entries(object);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const find = (key: RegExp): string | undefined => texts.find(([name]) => key.test(name))?.[1];
  const path = find(pathName) ?? texts.find(([key, text]) => !command.test(key) && isPath(text))?.[1];
  const shell = find(command);
  if (path === undefined || isAddress(path)) return shell === undefined ? undefined : shellAction(shell);
  const changes = changesOf(object);
  if (changes.length > 0) return { kind: "edit", path, changes };
  const from = numberOf(entries, start, 0);
  const fresh = find(after);
  if (fresh !== undefined && from !== undefined) {
    const to = numberOf(entries, end, 1);
    return to === undefined
      ? { kind: "insert", path, after: from, text: fresh }
      : { kind: "insert", path, after: from - 1, to, text: fresh };
  }
  const text = find(whole);
  if (text !== undefined) return { kind: "write", path, text };
  if (texts.some(([key]) => pattern.test(key))) return { kind: "search", path };
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
  if (old !== undefined && old !== "") changes.push({ before: old, after: fresh ?? "" });
  return changes;
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
