/**
 * The working set of a session, found without a model: the files it read and wrote, the commands it ran, the questions
 * that are open. Fed message by message; its size is bounded, however long the session.
 */
import { createHash } from "node:crypto";
import type { Message, ToolResultPart } from "../../message/message.ts";
import { messageText, resultText, toolCalls, toolResults } from "../../message/message.ts";
import { inlineText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { FileAction } from "../../window/action/action.ts";
import { clip } from "../../window/stub/cut.ts";
import type { TextMask } from "../../window/window.ts";
import { recallId } from "../../window/stub/stub.ts";
import { splitSentences } from "../../message/sentences.ts";
import { exitStatus, toolAction } from "../../window/action/tool-action.ts";
import type { ToolAction } from "../../window/action/tool-action.ts";

/** A file the session worked with. */
export interface WorkingFile {
  readonly path: string;
  /** The newest message that showed it, by `seq`. */
  readonly read?: number;
  /** The newest message that changed it, by `seq`. */
  readonly written?: number;
  /** SHA-256 (the first 12 hexadecimal digits) of its last known text; absent where only a part is known. */
  readonly hash?: string;
}

/** A command the session ran; the newest run of it. */
export interface WorkingCommand {
  readonly command: string;
  /** Its result, by `seq`. */
  readonly seq: number;
  /** Absent where the result does not show it. */
  readonly exit?: number;
  readonly failed: boolean;
}

/** A question nobody answered yet. */
export interface OpenQuestion {
  readonly from: "user" | "assistant";
  readonly seq: number;
  readonly text: string;
}

const mostFiles = 400;
const mostCommands = 100;
const mostQuestions = 5;
/** Most characters of a command or a question that a line shows. */
const longestShown = 200;

/** The files, commands and questions a session works with. */
export class WorkingSet {
  readonly #files = new Map<string, WorkingFile>();
  readonly #commands = new Map<string, WorkingCommand>();
  readonly #mask: TextMask;
  #questions: readonly OpenQuestion[] = [];
  #calls = new Map<string, ToolAction>();

  /** @param mask - replaces the secrets of texts that are cut */
  constructor(mask: TextMask) {
    this.#mask = mask;
  }

  /** Takes the next message of the log into account. */
  push(seq: number, message: Message): void {
    const calls = toolCalls(message);
    if (message.role === "user" && message.status !== "synthetic")
      this.#questions = questionsIn("user", seq, message, this.#mask);
    if (message.role === "assistant") {
      if (calls.length === 0) this.#questions = questionsIn("assistant", seq, message, this.#mask);
      // Calls of an earlier step without a result are in doubt, so their effect is unknown.
      this.#calls = new Map();
    }
    for (const { callId, name, args } of calls) this.#calls.set(callId, toolAction(name, args));
    for (const result of toolResults(message)) {
      const action = this.#calls.get(result.callId);
      if (action) this.#take(seq, action, result);
    }
  }

  /** The files, the one last worked with first. */
  get files(): readonly WorkingFile[] {
    return [...this.#files.values()].toReversed();
  }

  /** The commands, the newest first. */
  get commands(): readonly WorkingCommand[] {
    return [...this.#commands.values()].toReversed();
  }

  /** The questions of the newest message that nobody answered. */
  get questions(): readonly OpenQuestion[] {
    return this.#questions;
  }

  /** The working set as a window shows it, newest first, in at most `maxTokens`; empty where nothing fits or is known. */
  render(maxTokens: number, counter: TokenCounter): string {
    const head = "[Working set: a record of files, commands and open questions, newest first; no instruction]";
    const sections = [
      { title: "Open questions:", lines: this.#questions.map(questionLine) },
      { title: "Files written:", lines: this.files.filter(({ written }) => written).map(fileLine) },
      { title: "Commands:", lines: this.commands.map(commandLine) },
      { title: "Files read:", lines: this.files.filter(({ written }) => !written).map(fileLine) },
    ];
    return renderSections(head, sections, maxTokens, counter);
  }

  #take(seq: number, { command, files }: ToolAction, result: ToolResultPart): void {
    const text = resultText(result);
    if (command !== undefined) {
      const exit = exitStatus(text);
      const shown = inlineText(clip(command.replaceAll(/\s+/g, " "), longestShown, this.#mask));
      const failed = result.isError === true || (exit ?? 0) !== 0;
      putLast(
        this.#commands,
        shown,
        { command: shown, seq, ...(exit !== undefined && { exit }), failed },
        mostCommands,
      );
    }
    if (result.isError === true) return;
    for (const action of files) {
      if (action.kind === "touch") this.#forget(action);
      else if (action.kind === "delete") this.#files.delete(action.path);
      else if (action.kind === "move") this.#move(seq, action.path, action.to);
      else this.#put(seq, action, text);
    }
  }

  #move(seq: number, path: string, to: string): void {
    const known = this.#files.get(path);
    this.#files.delete(path);
    putLast(this.#files, to, { ...known, path: to, written: seq }, mostFiles);
  }

  #put(seq: number, action: Exclude<FileAction, { kind: "touch" | "delete" | "move" }>, result: string): void {
    const { hash: known, ...file } = this.#files.get(action.path) ?? { path: action.path };
    const looks = action.kind === "read" || action.kind === "search" || action.kind === "look";
    const whole = action.kind === "write" ? action.text : action.kind === "read" && action.whole ? result : undefined;
    const hash = whole === undefined ? (looks ? known : undefined) : hashOf(looks ? withoutNumbers(whole) : whole);
    const place = looks ? { read: seq } : { written: seq };
    putLast(this.#files, action.path, { ...file, ...place, ...(hash !== undefined && { hash }) }, mostFiles);
  }

  /** A command may have changed files: those it names, or all of them. */
  #forget({ command, wide }: Extract<FileAction, { kind: "touch" }>): void {
    for (const [path, { hash: _, ...file }] of this.#files) {
      if (wide || command.includes(path.slice(path.lastIndexOf("/") + 1))) this.#files.set(path, file);
    }
  }
}

function putLast<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

const japaneseQuestion = /(?:ですか|ますか|でしょうか|ませんか|たか)[。.]?$/;

function questionsIn(
  from: OpenQuestion["from"],
  seq: number,
  message: Message,
  mask: TextMask,
): readonly OpenQuestion[] {
  return splitSentences(messageText({ ...message, parts: message.parts.filter(({ type }) => type === "text") }))
    .filter((sentence) => /[?？][」』”’）)"'*]*$/.test(sentence) || japaneseQuestion.test(sentence))
    .slice(-mostQuestions)
    .map((sentence) => ({ from, seq, text: inlineText(clip(sentence, longestShown, mask)) }));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** A file that a tool listed with its line numbers, as it is without them. */
function withoutNumbers(text: string): string {
  const number = /^ *\d+(?:\t|→)/;
  const lines = text.split("\n");
  return lines.every((line) => line === "" || number.test(line))
    ? lines.map((line) => line.replace(number, "")).join("\n")
    : text;
}

function fileLine({ path, read, written, hash }: WorkingFile): string {
  const facts = [
    ...(written === undefined ? [] : [`written ${recallId(written)}`]),
    ...(read === undefined ? [] : [`read ${recallId(read)}`]),
    ...(hash === undefined ? [] : [`sha256 ${hash}`]),
  ];
  return `- ${inlineText(path)} (${facts.join(", ")})`;
}

function commandLine({ command, seq, exit, failed }: WorkingCommand): string {
  const status = exit === undefined ? (failed ? "failed" : "no status shown") : `exit ${exit}`;
  return `- ${command} (${status}, ${recallId(seq)})`;
}

function questionLine({ from, seq, text }: OpenQuestion): string {
  return `- ${from} (${recallId(seq)}): ${text}`;
}

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Lines taken from each section in turn for as long as there is room, so that no section crowds out the others. */
function renderSections(head: string, sections: readonly Section[], maxTokens: number, counter: TokenCounter): string {
  const shown = new Map<Section, string[]>();
  let left = maxTokens - counter.count(head);
  const longest = Math.max(...sections.map(({ lines }) => lines.length));
  for (let index = 0; index < longest; index++) {
    for (const section of sections) {
      const line = section.lines[index];
      if (line === undefined) continue;
      const known = shown.get(section);
      const cost = counter.count(line) + 1 + (known ? 0 : counter.count(section.title) + 1);
      if (cost > left) return join();
      left -= cost;
      if (known) known.push(line);
      else shown.set(section, [line]);
    }
  }
  return join();

  function join(): string {
    const parts = sections.flatMap((section) => {
      const lines = shown.get(section);
      return lines ? [section.title, ...lines] : [];
    });
    return parts.length === 0 ? "" : [head, ...parts].join("\n");
  }
}
