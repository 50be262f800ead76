/** Lines: what a digest is chosen from. Every line knows the message it is from and what that message was about. */
import type { JsonValue, Message } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import { clip } from "../excerpt.ts";
import { isPath, subjectOf } from "../stub.ts";
import type { DigestLine, ViewStep } from "../window.ts";

/** Longest line a digest shows, in characters. */
const longestLine = 300;

/** Arguments that hold a text a call takes out of a file, and those that hold what it puts in. */
const oldText = /^(?:old|before|search|find|original)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const newText = /^(?:new|after|replace(?:ment)?|updated?)(?:_?(?:text|str|string|code|content|lines?))?$/i;
const wholeText = /^(?:content|contents|file_?text|text|body|code)$/i;

/** What steps say, line by line, and what they make untrue. */
export interface Reading {
  readonly lines: readonly DigestLine[];
  /** By subject: lines that a later call took out of that file (trimmed), with the call's `seq`. */
  readonly removed: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By subject: a later call replaced the whole file; older lines that are not in it are gone. */
  readonly replaced: ReadonlyMap<string, { readonly seq: number; readonly kept: ReadonlySet<string> }>;
  /** By subject: the `seq` of each call that named it. */
  readonly named: ReadonlyMap<string, readonly number[]>;
}

/** Reads steps, oldest first. */
export function readSteps(steps: readonly ViewStep[]): Reading {
  const lines: DigestLine[] = [];
  const removed = new Map<string, Map<string, number>>();
  const replaced = new Map<string, { seq: number; kept: Set<string> }>();
  const named = new Map<string, number[]>();
  for (const step of steps) {
    if (step.kind === "note") continue;
    const subjects = new Map<string, string>();
    for (const { seq, message } of step.messages) {
      for (const part of message.parts) {
        if (part.type === "text") {
          add(lines, part.text, seq, "", speakerOf(message));
        } else if (part.type === "tool-call") {
          const subject = subjectOf(part.args);
          subjects.set(part.callId, subject);
          const calls = named.get(subject);
          if (calls) calls.push(seq);
          else named.set(subject, [seq]);
          readCall(part.args, seq, subject, { lines, removed, replaced });
        } else if (part.type === "tool-result") {
          const text = withoutLineNumbers(condensed(resultText(part)));
          add(lines, text, seq, subjects.get(part.callId) ?? "", part.isError === true ? "error" : "result");
        }
      }
    }
  }
  return { lines, removed, replaced, named };
}

/** Who a text is from: what Windrow shows in the user's role (a late result) is not the user's. */
function speakerOf({ role, status }: Message): DigestLine["kind"] {
  if (role !== "user") return "said";
  return status === "synthetic" ? "result" : "user";
}

function readCall(
  args: JsonValue,
  seq: number,
  subject: string,
  into: {
    readonly lines: DigestLine[];
    readonly removed: Map<string, Map<string, number>>;
    readonly replaced: Map<string, { seq: number; kept: Set<string> }>;
  },
): void {
  if (!isPath(subject)) return;
  const gone = new Set<string>();
  const fresh: string[] = [];
  let whole: string | undefined;
  walk(args, (key, text) => {
    if (oldText.test(key)) for (const line of text.split("\n")) gone.add(line.trim());
    else if (newText.test(key)) fresh.push(text);
    else if (wholeText.test(key) && text.includes("\n")) whole = text;
  });
  for (const text of fresh) {
    for (const line of text.split("\n")) gone.delete(line.trim());
    add(into.lines, text, seq, subject, "written");
  }
  if (gone.size > 0) {
    const known = into.removed.get(subject) ?? new Map<string, number>();
    for (const line of gone) known.set(line, seq);
    into.removed.set(subject, known);
  }
  if (whole !== undefined && gone.size === 0) {
    into.replaced.set(subject, { seq, kept: new Set(whole.split("\n").map((line) => line.trim())) });
    add(into.lines, whole, seq, subject, "written");
  }
}

function walk(value: JsonValue, visit: (key: string, text: string) => void, key = "", depth = 0): void {
  if (typeof value === "string") visit(key, value);
  else if (value !== null && typeof value === "object" && depth < 4) {
    for (const [name, item] of Object.entries(value)) {
      walk(item as JsonValue, visit, Array.isArray(value) ? key : name, depth + 1);
    }
  }
}

function add(lines: DigestLine[], text: string, seq: number, subject: string, kind: DigestLine["kind"]): void {
  text.split("\n").forEach((line, at) => {
    if (line.trim() !== "") lines.push({ text: clip(line.trimEnd(), longestLine), subject, seq, at, kind });
  });
}

/** A numbered listing without its numbers: they are no part of the file, and soon wrong. */
function withoutLineNumbers(text: string): string {
  const lines = text.split("\n");
  const numbered = /^\s*(\d+)(?:\t|→|\| ?|: )/;
  const hits = lines.filter((line) => numbered.test(line)).length;
  if (hits < 3 || hits < lines.length * 0.6) return text;
  return lines.map((line) => line.replace(numbered, "")).join("\n");
}

/** JSON in one piece as short records, one a line. */
function condensed(text: string): string {
  const start = text.trimStart()[0];
  if ((start !== "{" && start !== "[") || text.length < 200 || text.includes("\n")) return text;
  try {
    const records: string[] = [];
    flatten(JSON.parse(text) as JsonValue, "", records);
    return records.join("\n");
  } catch {
    return text;
  }
}

function flatten(value: JsonValue, path: string, records: string[]): void {
  const text = JSON.stringify(value);
  const label = path === "" ? "" : `${path}: `;
  if (text.length <= 160 || value === null || typeof value !== "object") {
    records.push(`${label}${typeof value === "string" ? value : text}`);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    flatten(item as JsonValue, Array.isArray(value) ? path : path === "" ? key : `${path}.${key}`, records);
  }
}
