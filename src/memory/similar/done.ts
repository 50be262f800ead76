/** The deeds of a session: the files it wrote and read, the commands it ran, the errors it met and what mended them. */
import type { Message } from "../../message/message.ts";
import { messageText, resultText, toolCalls, toolResults } from "../../message/message.ts";
import { inlineText } from "../../message/quote.ts";
import { clip, errorWords } from "../../window/stub/cut.ts";
import type { TextMask } from "../../window/window.ts";
import type { FileAction } from "../../window/action/action.ts";
import { actionsOf, commandOf, writtenPath } from "../../window/action/calls.ts";
import { exitStatus } from "../../window/action/output.ts";

/** A command that failed or a line that says an error, and what was done before it went well. */
export interface MetError {
  /** The line that says it. */
  readonly text: string;
  /** The message that holds it, by `seq`. */
  readonly seq: number;
  /** The call that failed: the command, or the tool with its file. */
  readonly call: string;
  /** Absent where the same call never went well later. */
  readonly mended?: {
    /** The message with the call that went well, by `seq`. */
    readonly seq: number;
    /** Files written in between, oldest first. */
    readonly files: readonly string[];
  };
}

/** The deeds of a session. */
export interface SessionDeeds {
  /** The beginning of what its user asked first, on one line; empty where no message of a user's has a word. */
  readonly task: string;
  /** Files that were written, the last written last. */
  readonly written: readonly string[];
  /** Files that were read and not written, the last read last. */
  readonly read: readonly string[];
  /** Commands that were run, each once, the last run last. */
  readonly commands: readonly string[];
  /** Errors in the order they were met, each once. */
  readonly errors: readonly MetError[];
}

interface Call {
  readonly seq: number;
  readonly shown: string;
  readonly command: string | undefined;
  readonly files: readonly FileAction[];
}

/** An error, and what was done since. */
interface OpenError {
  error: MetError;
  readonly files: Set<string>;
}

/** Characters of a line, a command, a task. */
const longestLine = 240;
const longestTask = 400;

/** Things of one kind that are kept. */
const mostKept = 40;

/** Reads the deeds of a session, message by message. */
export class DeedsReader {
  readonly #mask: TextMask;
  #task = "";
  readonly #calls = new Map<string, Call>();
  readonly #written = new Set<string>();
  readonly #read = new Set<string>();
  readonly #commands = new Set<string>();
  readonly #errors: OpenError[] = [];

  constructor(mask: TextMask) {
    this.#mask = mask;
  }

  /** Takes the next message. */
  take(seq: number, message: Message): void {
    if (this.#task === "" && message.role === "user" && message.status !== "synthetic") {
      this.#task = this.#line(messageText(message), longestTask);
    }
    for (const { callId, name, args } of toolCalls(message)) {
      const [command, files] = [commandOf(args), actionsOf(name, args)];
      const path = files.find((action) => "path" in action);
      const shown = command ?? (path && "path" in path ? `${name} ${path.path}` : name);
      this.#calls.set(callId, { seq, shown: this.#line(shown, longestLine), command, files });
    }
    for (const result of toolResults(message)) {
      const call = this.#calls.get(result.callId);
      this.#calls.delete(result.callId);
      if (call) this.#end(seq, call, resultText(result), result.isError === true);
    }
  }

  /** The deeds so far. */
  deeds(): SessionDeeds {
    return {
      task: this.#task,
      written: [...this.#written],
      read: [...this.#read].filter((path) => !this.#written.has(path)),
      commands: [...this.#commands],
      errors: this.#errors.map(({ error }) => error),
    };
  }

  #end(seq: number, call: Call, text: string, isError: boolean): void {
    const { command, files, shown } = call;
    const failed =
      isError || (command !== undefined && (exitStatus(text) ?? (errorLine(text) === undefined ? 0 : 1)) !== 0);
    if (command !== undefined) keep(this.#commands, shown);
    if (failed) {
      this.#fail(seq, shown, text);
      return;
    }
    for (const action of files) {
      if (action.kind === "read" || action.kind === "search" || action.kind === "look") keep(this.#read, action.path);
      const path = writtenPath(action);
      if (path === undefined) continue;
      keep(this.#written, path);
      for (const open of this.#errors) {
        if (open.error.mended) continue;
        open.files.add(path);
      }
    }
    for (const open of this.#errors) {
      if (open.error.call !== shown || open.error.mended) continue;
      open.error = { ...open.error, mended: { seq: call.seq, files: [...open.files] } };
    }
  }

  #fail(seq: number, call: string, text: string): void {
    const line = errorLine(text) ?? text.split("\n").find((one) => one.trim() !== "") ?? "";
    const said = this.#line(line, longestLine);
    const known = this.#errors.find(({ error }) => error.text === said && error.call === call);
    // Met again: what was done since the first time has not mended it.
    if (known) known.error = { text: said, seq: known.error.seq, call };
    else if (this.#errors.length < mostKept) {
      this.#errors.push({ error: { text: said, seq, call }, files: new Set() });
    }
  }

  #line(text: string, longest: number): string {
    return inlineText(clip(text.trim(), longest, this.#mask));
  }
}

/** Adds to the end; of too many the oldest goes. */
function keep(set: Set<string>, value: string): void {
  set.delete(value);
  set.add(value);
  if (set.size > mostKept) for (const oldest of set) return void set.delete(oldest);
}

const errorName = /\b\w*(?:Error|Exception)\b/;
const noError = /\b(?:0|no) (?:errors?|failed|failures?)\b/i;

/** The first line of a text that says an error: one with the name of an error before others. */
export function errorLine(text: string): string | undefined {
  const lines = text
    .split("\n")
    .filter((line) => (errorName.test(line) || errorWords.test(line)) && !noError.test(line));
  return lines.find((line) => errorName.test(line)) ?? lines[0];
}
