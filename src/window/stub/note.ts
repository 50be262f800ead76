/**
 * Notes: the labelled message in place of messages that left the window, with their subjects and their ids for recall.
 */
import { inlineText, looksStructural } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { parseRecallId, recallId } from "./stub.ts";
import type { Stub } from "../window.ts";

/** The content of a note. */
export interface NoteContent {
  /** First and last `seq` that left. */
  readonly from: number;
  readonly to: number;
  /** How many messages and how many tokens left. */
  readonly count: number;
  readonly tokens: number;
  readonly stubs: readonly Stub[];
  /** The name of the session, where recall has to be told. */
  readonly sessionName?: string | undefined;
}

interface Line {
  readonly tool: string;
  readonly subject: string;
  readonly stubs: readonly Stub[];
}

/**
 * The note's text, and the stubs it names. What does not fit `cap` tokens is folded, oldest first: a tool's calls on one
 * folder or program into a line, then on one root, then all of them; the first line always stands.
 */
export function renderNote(
  content: NoteContent,
  counter: TokenCounter,
  cap: number,
): { readonly text: string; readonly stubs: readonly Stub[] } {
  const head = header(content);
  const room = cap - counter.count(head);
  if (room < 1) return { text: head, stubs: [] };
  const lines = linesOf(content.stubs);
  for (const fold of [folderOf, rootOf, () => ""]) {
    const folded = foldToFit(lines, fold, counter, room);
    if (folded) return { text: [head, ...folded.map(render)].join("\n"), stubs: folded.flatMap((line) => line.stubs) };
  }
  return { text: head, stubs: [] };
}

function header({ from, to, count, tokens, sessionName }: NoteContent): string {
  const amount = `${count.toLocaleString("en-US")} earlier ${count === 1 ? "message" : "messages"}`;
  const where = sessionName === undefined ? "" : `, of session ${sessionName}`;
  return (
    `[Windrow: a record, no instruction. ${amount} (${recallId(from, to)}, about ${tokens.toLocaleString("en-US")} ` +
    `tokens) left this window and are kept; recall shows them by id or by words${where}.]`
  );
}

function linesOf(stubs: readonly Stub[]): readonly Line[] {
  const lines = new Map<string, { readonly tool: string; readonly subject: string; readonly stubs: Stub[] }>();
  for (const stub of stubs) {
    const key = `${stub.tool}\n${stub.subject}`;
    const line = lines.get(key) ?? { tool: stub.tool, subject: stub.subject, stubs: [] };
    line.stubs.push(stub);
    // Deleting and setting a key moves its line to the end: lines are ordered by their newest message.
    lines.delete(key);
    lines.set(key, line);
  }
  return [...lines.values()];
}

function render({ tool, subject, stubs }: Line): string {
  const newest = stubs.slice(-4);
  const more = stubs.length > newest.length ? `${recallId(...spanOf(stubs))}: ` : "";
  const count = stubs.length === 1 && stubs[0] && stubs[0].count > 1 ? ` (${stubs[0].count})` : "";
  return `${nameLine(tool, subject)}${count} ${more}${newest.map((stub) => stub.id).join(" ")}`;
}

/** A tool and the subject of its call, on one line; stubs of earlier versions may have line breaks in them. */
export function nameLine(tool: string, subject: string): string {
  const line = inlineText([tool, subject].join(" "));
  return looksStructural(line) ? `tool:${line}` : line;
}

function foldToFit(
  lines: readonly Line[],
  fold: (line: Line) => string,
  counter: TokenCounter,
  room: number,
): readonly Line[] | undefined {
  const costs = (candidate: readonly Line[]): number => counter.count(candidate.map(render).join("\n")) + 1;
  let low = 0;
  let high = lines.length;
  if (costs(foldOldest(lines, high, fold)) > room) return undefined;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (costs(foldOldest(lines, middle, fold)) <= room) high = middle;
    else low = middle + 1;
  }
  return foldOldest(lines, high, fold);
}

function foldOldest(lines: readonly Line[], count: number, fold: (line: Line) => string): readonly Line[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines.slice(0, count)) {
    const key = `${line.tool}\n${fold(line)}`;
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  const folded = [...groups.values()].map((group): Line => {
    const [only] = group;
    if (only && group.length === 1 && only.stubs.length === 1) return only;
    const stubs = group.flatMap((line) => line.stubs);
    const subject = group[0] ? fold(group[0]) : "";
    const total = stubs.reduce((sum, stub) => sum + stub.count, 0);
    const tool = group[0]?.tool ?? "";
    return { tool, subject, stubs: [{ tool, subject, id: recallId(...spanOf(stubs)), count: total }] };
  });
  return [...folded, ...lines.slice(count)];
}

/** The group of a line: the folder of a path, the program of a command; user messages are one group. */
function folderOf({ tool, subject }: Line): string {
  if (tool === "user") return "messages";
  if (subject.includes(" ")) return subject.split(" ", 1)[0] ?? "";
  return subject.slice(0, subject.lastIndexOf("/", subject.length - 2) + 1) || subject;
}

function rootOf(line: Line): string {
  const folder = folderOf(line);
  return folder.slice(0, folder.indexOf("/", 1) + 1) || folder;
}

function spanOf(stubs: readonly Stub[]): [number, number] {
  let first = Infinity;
  let last = 0;
  for (const stub of stubs) {
    const range = parseRecallId(stub.id);
    if (!range) continue;
    first = Math.min(first, range.from);
    last = Math.max(last, range.to);
  }
  return [first, last];
}
