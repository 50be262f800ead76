/** A window as a person reads it: passages with their speakers, titles and gaps, and the order in which they were said. */
import type { Finding, SeenMessage } from "../loop/jobs/view.ts";

/** Something that stands in a window; a line that is only `…` is a gap. */
export interface Passage {
  /** `user`, `assistant`, the name of a tool, `call` for the arguments of one, or `file`. */
  readonly who: string;
  /** The arguments of the call that brought it, or the title of an excerpt. */
  readonly title: string;
  readonly text: string;
  /** The number of its message, where the window says it. */
  readonly number: number | undefined;
}

/** A passage at its place in the conversation. */
export interface Placed {
  readonly passage: Passage;
  readonly order: number;
}

const gap = "…";

/** What an agent sees of one window. */
export class Sight {
  readonly findings: Finding[] = [];
  readonly hasRecall: boolean;
  /** The oldest first. */
  readonly passages: readonly Placed[];
  /** The results of the newest step. */
  readonly newest: readonly string[];

  constructor(messages: readonly SeenMessage[], hasRecall: boolean) {
    this.hasRecall = hasRecall;
    const placed: Placed[] = [];
    const called = new Map<string, { readonly tool: string; readonly title: string }>();
    let number = 0;
    for (const message of messages) {
      if (message.role === "system") continue;
      for (const { id, tool, args } of message.calls) {
        called.set(id, { tool, title: Object.values(args).join(" ") });
      }
      const covered = coveredBy(message);
      // A record is no message of the conversation: counting goes on behind what it speaks of.
      if (covered === undefined) number++;
      else number = Math.max(number, covered);
      for (const passage of passagesOf(message, called)) placed.push({ passage, order: passage.number ?? number });
    }
    this.passages = placed.sort((one, other) => one.order - other.order);
    const lastOther = messages.findLastIndex(({ role }) => role !== "tool");
    this.newest = messages.slice(lastOther + 1).flatMap(({ results }) => results.map(({ text }) => text));
  }
}

const recordStart = /^\[Windrow: a record/;

/** The newest message that a digest speaks of. */
function coveredBy({ role, text }: SeenMessage): number | undefined {
  if (role !== "user" || !recordStart.test(text)) return undefined;
  const [first = ""] = text.split("\n");
  return Math.max(0, ...[...first.matchAll(/\bm(\d+)/g)].map(([, digits]) => Number(digits)));
}

const known = new WeakMap<SeenMessage, readonly Passage[]>();

function passagesOf(
  message: SeenMessage,
  called: ReadonlyMap<string, { readonly tool: string; readonly title: string }>,
): readonly Passage[] {
  const before = known.get(message);
  if (before) return before;
  const passages: Passage[] = [];
  if (recordStart.test(message.text)) passages.push(...excerptsOf(message.text));
  else if (message.text !== "") passages.push({ who: message.role, title: "", text: message.text, number: undefined });
  for (const { tool, args } of message.calls) {
    const text = Object.entries(args)
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join("\n");
    if (tool !== "recall") passages.push({ who: "call", title: tool, text, number: undefined });
  }
  for (const { id, text } of message.results) {
    const { tool = "", title = "" } = called.get(id) ?? {};
    if (recordStart.test(text)) passages.push(...excerptsOf(text));
    else passages.push({ who: tool, title, text, number: undefined });
  }
  known.set(message, passages);
  return passages;
}

/** The excerpts of a digest or of an answer of recall. */
function excerptsOf(record: string): readonly Passage[] {
  const excerpts: { who: string; title: string; number: number | undefined; lines: string[] }[] = [];
  let section = { who: "", title: "" };
  const open = (who: string, title: string, number: string | undefined): void => {
    excerpts.push({ who, title, number: number === undefined ? undefined : Number(number), lines: [] });
  };
  for (const line of record.split("\n")) {
    const heading = /^--- (.*?)(?: \((?:m\d+.*)?m(\d+)\))?$/.exec(line);
    const head = /^\[m(\d+)\S* ?(.*)\]$/.exec(line);
    if (heading) {
      const [, title = "", number] = heading;
      section = { who: title.includes("the user") ? "user" : "file", title };
      open(section.who, title, number);
    } else if (head) {
      const [, number, rest = ""] = head;
      const [who = "", ...title] = rest.replace(/; (?:also|from) m.*$/, "").split(" ");
      if (rest === "") open(section.who, section.title, number);
      else open(who === "assistant" && title.length > 0 ? "call" : who, title.join(" "), number);
    } else if (/^[ |]/.test(line)) excerpts.at(-1)?.lines.push(line.slice(1));
    else if (line === "") excerpts.at(-1)?.lines.push("");
    else excerpts.at(-1)?.lines.push(gap);
  }
  return excerpts
    .filter(({ who, lines }) => who !== "recall" && lines.length > 0)
    .map(({ lines, ...excerpt }) => ({ ...excerpt, text: lines.join("\n") }));
}
