/** Stubs: what stands in place of messages, results and parts of a text, with the id that recalls them. */
import type { JsonValue, Message, ToolCallPart } from "../../message/message.ts";
import { inlineName, inlineText, looksStructural, splitLines } from "../../message/quote.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { defaultMask } from "./cut.ts";
import type { Stub, TextMask } from "../window.ts";

/** The id `recall` takes for a message, or for a range of messages. */
export function recallId(from: number, to = from): string {
  return from === to ? `m${from}` : `m${from}-m${to}`;
}

/** The range an id names, or undefined where it is no id of this form. */
export function parseRecallId(id: string): { readonly from: number; readonly to: number } | undefined {
  const match = /^m?(\d{1,15})(?:\s*(?:-|–|\.\.)\s*m?(\d{1,15}))?$/.exec(id.trim());
  if (!match) return undefined;
  const from = Number(match[1]);
  const to = match[2] === undefined ? from : Number(match[2]);
  return from >= 1 && to >= from ? { from, to } : undefined;
}

/** The messages that a note stands for. */
export interface Noted {
  /** First and last `seq` that left. */
  readonly from: number;
  readonly to: number;
  /** How many messages and how many tokens left. */
  readonly count: number;
  readonly tokens: number;
  /** The name of the session, where recall has to be told. */
  readonly sessionName?: string | undefined;
}

/** The note in place of messages that left the window: how much left, and the range to recall. */
export function noteText({ from, to, count, tokens, sessionName }: Noted): string {
  const amount = `${count.toLocaleString("en-US")} earlier ${count === 1 ? "message" : "messages"}`;
  const where = sessionName === undefined ? "" : `, of session ${sessionName}`;
  return (
    `[Windrow: a record, no instruction. ${amount} (${recallId(from, to)}, about ${tokens.toLocaleString("en-US")} ` +
    `tokens) left this window and are kept; recall shows them by id or by words${where}.]`
  );
}

/** The mark in place of what was cut out of a text, with the id that brings back the whole. */
export function cutMark(tokens: number, id: string): string {
  return `[Windrow: ${tokens.toLocaleString("en-US")} tokens cut; recall ${id}]`;
}

/** The mark of an earlier cut, between the head and the tail that it left; undefined where none of this id is there. */
export function cutIn(
  text: string,
  id: string,
): { readonly head: string; readonly tail: string; readonly tokens: number } | undefined {
  const match = new RegExp(String.raw`\[Windrow: ([\d,]+) tokens cut; recall ${id}\]`).exec(text);
  if (!match) return undefined;
  const { 0: mark, 1: tokens = "", index } = match;
  return {
    head: text.slice(0, index).replace(/\s$/, ""),
    tail: text.slice(index + mark.length).replace(/^\s/, ""),
    tokens: Number(tokens.replaceAll(",", "")),
  };
}

/** A tool and the subject of its call, on one line. */
export function nameLine(tool: string, subject: string): string {
  const line = inlineText(`${tool} ${subject}`);
  return looksStructural(line) ? `tool:${line}` : line;
}

/** Longest subject, in characters; what is longer keeps its end, where a path says most. */
const longestSubject = 96;

const folderName = /^(?:cwd|work(?:ing)?_?dir(?:ectory)?)$/i;
const patchedFile = /\*\*\* (?:Add|Update|Delete) File: ([^\n"'`\\]+)/;

/**
 * The subject of a call, found by shape: a path, else the file that a patch names, else a command, else its first text.
 * The folder that a command runs in is no subject. Empty where it has none.
 */
export function subjectOf(args: JsonValue, mask: TextMask = defaultMask): string {
  const texts = leaves(args);
  const patched = texts.map((text) => patchedFile.exec(text)?.[1]?.trim()).find((path) => path !== undefined);
  const subject = texts.find(isPath) ?? patched ?? texts.find((text) => text.trim() !== "") ?? "";
  const [line = ""] = splitLines(subject.trim());
  return inlineText(shorten(line, mask));
}

/** Whether a text is one path or file name: no spaces, and a slash or an extension. */
export function isPath(text: string): boolean {
  return text.length <= 400 && /^[^\s"'`<>|;,(){}]+$/.test(text) && /[\\/]|\.[A-Za-z]\w{0,9}$/.test(text);
}

function leaves(value: JsonValue, found: string[] = [], depth = 0): string[] {
  if (typeof value === "string") found.push(value);
  else if (value !== null && typeof value === "object" && depth < 4) {
    for (const [name, item] of Object.entries(value) as [string, JsonValue][])
      if (!folderName.test(name)) leaves(item, found, depth + 1);
  }
  return found;
}

function shorten(text: string, mask: TextMask): string {
  if (text.length <= longestSubject) return text;
  const points = [...mask(text).slice(0, 4 * longestSubject)];
  if (points.length <= longestSubject) return text.length > 4 * longestSubject ? `${points.join("")}…` : text;
  return isPath(text)
    ? `…${points.slice(1 - longestSubject).join("")}`
    : `${points.slice(0, longestSubject - 1).join("")}…`;
}

/** The stub of a call or of its result. */
export function stubOf(name: string, args: JsonValue | undefined, id: string, mask: TextMask): Stub {
  return { tool: inlineName(name), subject: args === undefined ? "" : subjectOf(args, mask), id, count: 1 };
}

/** The stubs of a step: one for each result, one for a user's message; an assistant's own words need none. */
export function stubsOf(messages: readonly NumberedMessage[], mask: TextMask = defaultMask): readonly Stub[] {
  const calls = new Map<string, ToolCallPart>();
  const stubs: Stub[] = [];
  for (const { seq, message } of messages) {
    for (const call of toolCalls(message)) calls.set(call.callId, call);
    const id = recallId(seq);
    if (message.role === "user") {
      // A late result is shown in the user's role and is not the user's.
      const tool = message.status === "synthetic" ? "result" : "user";
      stubs.push({ tool, subject: firstWords(message, mask), id, count: 1 });
    }
    for (const result of toolResults(message)) {
      const call = calls.get(result.callId);
      stubs.push(stubOf(result.name ?? call?.name ?? "tool", call?.args, id, mask));
    }
  }
  return stubs;
}

function firstWords(message: Message, mask: TextMask): string {
  const text = message.parts.find((part) => part.type === "text");
  const [line = ""] = splitLines(text?.text.trim() ?? `[${message.parts[0]?.type ?? "empty"}]`);
  return inlineText(shorten(line, mask));
}
