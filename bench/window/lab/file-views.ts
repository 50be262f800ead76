/**
 * The contents of files as a session's tool calls imply them, for the metric `staleShare` (docs/concepts.md). The metric
 * shares no code with the window that it measures.
 */
import { resultText, toolCalls, toolResults } from "../../../src/message/message.ts";
import type { JsonValue, Message, ToolCallPart } from "../../../src/message/message.ts";
import { textEdits } from "./edit-shape.ts";
import type { TextEdit } from "./edit-shape.ts";
import { linesOf } from "../../../src/replay/lines.ts";

/** The known contents of a file. */
export interface FileView {
  /** Passages of the current text, as {@link linesOf} gives their lines; one passage when the whole file was seen. */
  readonly passages: readonly (readonly string[])[];
  /** Lines that the file had and has no more. */
  readonly gone: ReadonlySet<string>;
}

/**
 * The shortest deleted line that counts as gone, in UTF-16 code units. A shorter one may well remain elsewhere in the
 * file.
 */
const shortestTelling = 24;

const pathName = /path|file/i;
const contentName = /^(?:contents?|file_?text|text|body|code)$/i;
const lookingName = /^(?:read|view|open|cat|grep|search|find|glob|list|ls|get|show|fetch|think)/i;
const replaceAllName = /^replace_?all$/i;
const numberedLine = /^\s*(\d+)(?:\t|→|\| ?)/;
/** The notice of a reader that shows only part of a file. */
const cutNotice = /^[[<(].*(?:more lines|truncated|showing|omitted|offset|clipped)/i;
/** Commands that change nothing unless they redirect their output. */
const lookingCommand =
  /^(?:cd|cat|head|tail|ls|pwd|echo|grep|rg|find|wc|diff|stat|tree|sort|uniq|cut|jq|sed -n|git (?:diff|log|show|status|blame|grep)|which|test|true|sleep)\b/;
const sendsOutput = />(?!&|\s*\/dev\/null)|-delete\b|-exec\b/;
/** Commands that may change files without naming them. */
const sweepingCommand =
  /\bgit (?:checkout|restore|reset|stash|apply|am|pull|merge|rebase|switch|revert|cherry-pick|clean)\b|--(?:write|fix)\b|\b(?:sed|perl) -\w*i|\bpatch\b|\bxargs\b|\b(?:fmt|format)\b/;

/** The current text of a session's files, updated message by message. */
export class FileViews {
  readonly #views = new Map<string, FileView>();
  readonly #calls = new Map<string, ToolCallPart>();

  /** Takes the next message of the history. */
  push(message: Message): void {
    for (const call of toolCalls(message)) this.#calls.set(call.callId, call);
    for (const result of toolResults(message)) {
      const call = this.#calls.get(result.callId);
      this.#calls.delete(result.callId);
      if (call) this.#take(call, resultText(result), result.isError === true);
    }
  }

  /** The view of the file that a text names, by path or, after `…`, by the end of the path; undefined for no file. */
  of(path: string): FileView | undefined {
    return this.#views.get(this.#nameOf(path));
  }

  #take(call: ToolCallPart, result: string, failed: boolean): void {
    const leaves = leavesOf(call.args);
    const texts = leaves.filter(isText);
    const paths = texts.filter(({ value }) => isFilePath(value));
    const path = (paths.find(({ name }) => pathName.test(name)) ?? paths[0])?.value;
    const edits = textEdits(call.args);
    const content = texts.find(({ name }) => contentName.test(name))?.value;
    const looks = lookingName.test(call.name) || texts.some(({ value }) => value === "view");
    if (path === undefined || (edits.length === 0 && content === undefined && !looks)) {
      for (const { value } of texts) this.#run(value);
      return;
    }
    // A failed call neither changed nor showed the file.
    if (failed) return;
    if (edits.length > 0) {
      const everywhere = leaves.some(({ name, value }) => replaceAllName.test(name) && value === true);
      for (const edit of edits) this.#edit(path, edit, everywhere);
    } else if (content !== undefined) {
      this.#see(path, linesOf(content), true);
    } else if (texts.every(({ value }) => value === path || value === "view")) {
      const { lines, whole } = listingOf(result);
      this.#see(path, lines, whole && !leaves.some(({ value }) => typeof value === "number"));
    }
  }

  #see(path: string, lines: readonly string[], whole: boolean): void {
    const { passages, gone } = this.of(path) ?? nothing;
    const kept = whole ? [] : passages;
    this.#views.set(this.#nameOf(path), {
      passages: kept.some((passage) => placeOf(passage, lines) >= 0) ? kept : [...kept, lines],
      gone: without(new Set([...gone, ...(whole ? passages.flat() : [])]), lines),
    });
  }

  #edit(path: string, { old, fresh }: TextEdit, everywhere: boolean): void {
    const { passages, gone } = this.of(path) ?? nothing;
    const [taken, put] = [linesOf(old), linesOf(fresh)];
    let changed = false;
    const edited = passages.map((passage) => {
      const next = changed && !everywhere ? undefined : replaced(passage, taken, put, everywhere);
      changed ||= next !== undefined;
      return next ?? passage;
    });
    const after = changed ? edited : [...passages, put];
    const telling = [...passages.flat(), ...taken].filter((line) => line.length >= shortestTelling);
    this.#views.set(this.#nameOf(path), {
      passages: after,
      gone: without(new Set([...gone, ...telling]), after.flat()),
    });
  }

  /** Handles a shell command or an unknown call: the files that it may have changed become unknown. */
  #run(command: string): void {
    const looks = command
      .split(/&&|\|\||[;|\n]/)
      .every((part) => part.trim() === "" || (lookingCommand.test(part.trim()) && !sendsOutput.test(part)));
    if (looks) return;
    const sweeps = sweepingCommand.test(command);
    for (const path of this.#views.keys()) {
      if (sweeps || command.includes(path.slice(path.lastIndexOf("/") + 1))) this.#views.delete(path);
    }
  }

  /** The name of a file in the views. Calls name a file from the root or from a folder. */
  #nameOf(path: string): string {
    const own = path.replace(/^(?:\.\/|…)/, "");
    const known = (name: string): boolean => {
      if (path.startsWith("…")) return name.endsWith(own);
      const [whole, part] = own.startsWith("/") ? [own, name] : [name, own];
      return whole.startsWith("/") && whole.endsWith(`/${part}`);
    };
    return own === "" || this.#views.has(own) ? own : ([...this.#views.keys()].find(known) ?? own);
  }
}

const nothing: FileView = { passages: [], gone: new Set() };

interface Leaf {
  readonly name: string;
  readonly value: JsonValue;
}

function leavesOf(value: JsonValue, name = ""): readonly Leaf[] {
  if (typeof value !== "object" || value === null) return [{ name, value }];
  return Object.entries(value).flatMap(([key, item]: [string, JsonValue]) => leavesOf(item, key));
}

function isText(leaf: Leaf): leaf is Leaf & { readonly value: string } {
  return typeof leaf.value === "string";
}

function isFilePath(text: string): boolean {
  return /^[^\s"'`<>|;,(){}*]{1,400}$/.test(text) && /\.[A-Za-z]\w{0,9}$/.test(text);
}

/** The file's lines in a tool's output, and whether they are all. */
function listingOf(result: string): { readonly lines: readonly string[]; readonly whole: boolean } {
  const shown = result.split("\n");
  const numbered = shown.filter((line) => numberedLine.test(line));
  const isNumbered = numbered.length >= shown.length * 0.6;
  const lines = isNumbered ? numbered : shown.filter((line) => !cutNotice.test(line));
  const first = isNumbered ? Number(numberedLine.exec(lines[0] ?? "")?.[1]) : 1;
  return { lines: linesOf(lines.join("\n")), whole: first === 1 && !shown.some((line) => cutNotice.test(line)) };
}

/** The index of some lines in others, in order and adjacent; -1 for none. The first and last may be parts of a line. */
function placeOf(lines: readonly string[], sought: readonly string[]): number {
  const last = sought.length - 1;
  return lines.findIndex((_, start) =>
    sought.every((line, offset) => {
      const there = lines[start + offset];
      if (offset > 0 && offset < last) return there === line;
      if (last === 0) return there?.includes(line);
      return offset === 0 ? there?.endsWith(line) : there?.startsWith(line);
    }),
  );
}

/** Replaces lines once or everywhere; undefined when they are not there. */
function replaced(
  lines: readonly string[],
  taken: readonly string[],
  put: readonly string[],
  everywhere: boolean,
): readonly string[] | undefined {
  const place = placeOf(lines, taken);
  const [head, tail] = [lines[place], lines[place + taken.length - 1]];
  if (head === undefined || tail === undefined) return undefined;
  // The rest of the old text's first and last line stays.
  const [first = "", last = ""] = [taken[0], taken.at(-1)];
  const before = head.slice(0, taken.length === 1 ? head.indexOf(first) : head.length - first.length);
  const behind = tail.slice(taken.length === 1 ? before.length + first.length : last.length);
  const middle = `${before}${put.join("\n")}${behind}`.split("\n").map((line) => line.trim());
  const rest = lines.slice(place + taken.length);
  return [...lines.slice(0, place), ...middle, ...((everywhere && replaced(rest, taken, put, true)) || rest)];
}

function without(lines: Set<string>, taken: readonly string[]): ReadonlySet<string> {
  for (const line of taken) lines.delete(line);
  return lines;
}
