/**
 * Generated tasks of coding agents. A task is a part of a product, what is wrong with it, and when; each of these is said
 * in two ways that share few words. Sessions say the first, and much that is beside the point.
 */
import type { Message } from "../../src/message/message.ts";
import { wordOf } from "./kit.ts";

type Ways = readonly [one: string, other: string];

const parts: readonly Ways[] = [
  ["login form", "sign-in page"],
  ["invoice export", "downloading of bills"],
  ["search index", "full-text lookup"],
  ["payment webhook", "callback of the payment provider"],
  ["image upload", "adding of pictures"],
  ["session cache", "store of logged-in visitors"],
  ["email digest", "weekly mail summary"],
  ["rate limiter", "throttling of requests"],
  ["csv importer", "reading of spreadsheet files"],
  ["dark mode toggle", "switch for the night theme"],
  ["calendar sync", "exchange of appointments"],
  ["password reset", "recovery of a forgotten password"],
  ["audit log", "record of who did what"],
  ["pdf renderer", "making of pdf documents"],
  ["shopping cart", "basket"],
  ["user avatar", "profile picture"],
  ["notification bell", "alerts in the header"],
  ["feature flags", "switches for experiments"],
  ["database migration", "schema upgrade"],
  ["health check", "probe of the service"],
  ["comment thread", "discussion below a post"],
  ["tax calculator", "computation of vat"],
  ["map widget", "embedded map"],
  ["chat transcript", "history of a conversation"],
  ["backup job", "nightly copy of the data"],
  ["api gateway", "front proxy"],
  ["translation loader", "loading of language files"],
  ["date picker", "choice of a day"],
  ["access token", "bearer credential"],
  ["queue worker", "background consumer"],
  ["price filter", "narrowing by cost"],
  ["sitemap generator", "list of pages for crawlers"],
  ["video player", "playback of clips"],
  ["subscription plan", "recurring membership"],
  ["address validator", "check of postal addresses"],
  ["metrics endpoint", "route that tells the counters"],
  ["file watcher", "detection of changed files"],
  ["undo history", "stack of reverted actions"],
  ["currency converter", "exchange rates"],
  ["print layout", "style sheet for paper"],
];

const symptoms: readonly Ways[] = [
  ["crashes with a null reference", "falls over because something is undefined"],
  ["shows the wrong total", "adds up to an incorrect sum"],
  ["is too slow with many rows", "takes forever on large tables"],
  ["loses the last entry", "drops the final item"],
  ["times out", "never answers in time"],
  ["ignores the saved setting", "does not honour the stored preference"],
  ["sends everything twice", "delivers duplicates"],
  ["rejects valid input", "refuses what should be accepted"],
  ["leaks memory", "grows until it is killed"],
  ["breaks umlauts and accents", "garbles special characters"],
  ["uses the wrong time zone", "is off by some hours"],
  ["forgets to close connections", "keeps sockets open"],
  ["returns an empty page", "comes back blank"],
  ["cannot be clicked", "does not react to the mouse"],
  ["writes a corrupt file", "produces damaged output"],
  ["sorts in the wrong order", "lists things the wrong way round"],
  ["hangs on shutdown", "does not stop cleanly"],
  ["fails its type check", "no longer compiles"],
  ["overflows on small screens", "is cut off on phones"],
  ["shows stale data", "displays outdated values"],
];

const places: readonly Ways[] = [
  ["in Safari", "on Apple's browser"],
  ["after the upgrade to Node 22", "since we moved to Node 22"],
  ["in the staging environment", "on the test servers"],
  ["for users without a surname", "where the last name is missing"],
  ["behind the corporate proxy", "from inside the company network"],
  ["on the first of the month", "when a month begins"],
  ["with two tabs open", "in several windows at once"],
  ["for guests", "for people who are not signed up"],
  ["when the disk is full", "with no space left"],
  ["in the Japanese version", "for readers in Tokyo"],
  ["under heavy load", "at peak traffic"],
  ["on Windows", "on Microsoft's system"],
  ["after a restart", "once it was stopped and started"],
  ["with the read replica", "against the secondary database"],
  ["for very long names", "with titles of hundreds of letters"],
  ["in offline mode", "without a network"],
  ["during daylight saving", "in the night of the clock change"],
  ["with an empty list", "when there are no elements"],
  ["for admins", "for operators with all rights"],
  ["in the nightly build", "in last night's release candidate"],
];

const errors = [
  "TypeError: Cannot read properties of undefined",
  "RangeError: Maximum call stack size exceeded",
  "Error: ECONNRESET",
  "Error: SQLITE_BUSY: database is locked",
  "SyntaxError: Unexpected end of JSON input",
  "Error: ETIMEDOUT",
  "AssertionError: expected 3 to be 4",
  "Error: EMFILE: too many open files",
  "ReferenceError: window is not defined",
  "Error: ERR_HTTP_HEADERS_SENT",
];

const openings: readonly ((part: string, symptom: string, place: string) => string)[] = [
  (part, symptom, place) => `The ${part} ${symptom} ${place}. Please find out why and fix it.`,
  (part, symptom, place) => `Users report that ${place} the ${part} ${symptom}. Can you look into it?`,
  (part, symptom, place) => `Bug: ${part} ${symptom}; happens ${place}. Write a test first.`,
];
const questions: readonly ((part: string, symptom: string, place: string) => string)[] = [
  (part, symptom, place) => `We have a ticket: ${place}, the ${part} ${symptom}. Has anybody worked on that?`,
  (part, symptom, place) => `Why is it that the ${part} ${symptom}, only ${place}?`,
];

/** A task, as places in the lists, and the error that comes with it: its kind, and what it names. */
export interface Task {
  readonly part: number;
  readonly symptom: number;
  readonly place: number;
  readonly error: number;
  readonly name: number;
}

/** The words of a question: those of the session, others, each part in either, or others with the error as it is printed. */
export type Wording = "the session's" | "others" | "half others" | "others, and the error";

/** Things that errors name. */
const names = 150;

/** A random task. */
export function taskOf(random: () => number): Task {
  const of = (list: readonly unknown[]): number => Math.floor(random() * list.length);
  const name = Math.floor(random() * names);
  return { part: of(parts), symptom: of(symptoms), place: of(places), error: of(errors), name };
}

function errorOf({ error, name }: Task): string {
  return `${errors[error]} (in '${wordOf(() => (name + 0.5) / names / 2 + 0.5)}')`;
}

/** A question about a task. */
export function questionOf(task: Task, random: () => number, wording: Wording): string {
  const ask = questions[Math.floor(random() * questions.length)]!;
  const way = (): 0 | 1 => {
    if (wording === "half others") return random() < 0.5 ? 0 : 1;
    return wording === "the session's" ? 0 : 1;
  };
  const asked = ask(parts[task.part]![way()], symptoms[task.symptom]![way()], places[task.place]![way()]);
  return wording === "others, and the error" ? `${asked}\n${errorOf(task)}` : asked;
}

/** The messages of a session about a task, with generated words around it. */
export function sessionOf(task: Task, random: () => number, chatter: (count: number) => string): readonly Message[] {
  const { part, symptom, place } = task;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const [name, what, when] = [parts[part]![0], symptoms[symptom]![0], places[place]![0]];
  const file = `src/${name.replaceAll(" ", "-")}/${pick(["index", "main", "view", "service", "store"])}.ts`;
  // Every session also speaks of another part and another symptom.
  const aside = `While at it I saw that the ${pick(parts)[0]} ${pick(symptoms)[0]} too, but that is for later. ${chatter(20)}`;
  const error = `${errorOf(task)}\n    at ${file}:${Math.floor(random() * 300)}`;
  const messages: Message[] = [];
  const say = (role: "user" | "assistant", text: string): void => {
    messages.push({ id: `m${messages.length}`, role, parts: [{ type: "text", text }] });
  };
  const run = (tool: string, args: Readonly<Record<string, string>>, content: string): void => {
    const callId = `c${messages.length}`;
    messages.push({
      id: `m${messages.length}`,
      role: "assistant",
      parts: [{ type: "tool-call", callId, name: tool, args }],
    });
    messages.push({
      id: `m${messages.length}`,
      role: "tool",
      parts: [{ type: "tool-result", callId, name: tool, content }],
    });
  };
  say("user", `${pick(openings)(name, what, when)} ${chatter(Math.floor(random() * 30))}`);
  say("assistant", `I will look at ${file} first. ${chatter(15)}`);
  run("read_file", { path: file }, chatter(80));
  run("bash", { command: "npm test" }, `${chatter(30)}\n${error}\nexit code 1`);
  say("assistant", aside);
  run("edit_file", { path: file, old_text: chatter(5), new_text: chatter(6) }, "ok");
  run("bash", { command: "npm test" }, `${chatter(30)}\n12 passed\nexit code 0`);
  say("assistant", `Fixed: ${chatter(25)}`);
  return messages;
}
