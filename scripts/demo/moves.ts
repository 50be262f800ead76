/** The moves of a scripted model: what it says and which tools it calls, derived from what the tools answered. */
import type { JsonObject } from "../../src/message/message.ts";
import type { Answer } from "./tools.ts";

/** A tool call that the model wants. */
export interface PlannedCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** What happens next: the user says something, or the model does. */
export type Move =
  | { readonly user: string }
  | {
      readonly say?: string;
      readonly calls?: readonly PlannedCall[];
      /** The user stops the calls while they run: no result comes. */
      readonly aborted?: true;
    };

/** A part of a script. It yields moves and is given the answers of the calls, in their order. */
export type Script<T = void> = Generator<Move, T, readonly Answer[]>;

/** The user speaks. */
export function* user(text: string): Script {
  yield { user: text };
}

/** The model speaks and calls nothing, which ends its turn. */
export function* say(text: string): Script {
  yield { say: text };
}

/** One call; gives its answer's text. */
export function* call(name: string, args: JsonObject, text?: string): Script<string> {
  const [answer] = yield { ...(text !== undefined && { say: text }), calls: [{ name, args }] };
  return answer?.text ?? "";
}

/** Several calls in one step; gives their texts. */
export function* together(calls: readonly PlannedCall[], text?: string): Script<readonly string[]> {
  const answers = yield { ...(text !== undefined && { say: text }), calls };
  return answers.map((answer) => answer.text);
}

/** A planned read. */
export function read(path: string, offset = 1, limit = 150): PlannedCall {
  return { name: "read", args: { path, offset, limit } };
}

/** A planned search. */
export function grep(pattern: string, path = "src"): PlannedCall {
  return { name: "grep", args: { pattern, path } };
}

/** A planned edit. */
export function edit(path: string, oldText: string, newText: string): PlannedCall {
  return { name: "edit", args: { path, oldText, newText } };
}

/** A planned shell command. */
export function bash(command: string): PlannedCall {
  return { name: "bash", args: { command } };
}

/** A planned new file. */
export function write(path: string, content: string): PlannedCall {
  return { name: "write", args: { path, content } };
}

/** A line of a numbered answer, as it stands in the file, with its number. */
export interface SeenLine {
  readonly number: number;
  readonly text: string;
}

/**
 * The first line of a `read` answer that matches.
 *
 * Throws where there is none: then the files have moved on, and the script with its expectations must follow.
 */
export function lineOf(answer: string, pattern: RegExp): SeenLine {
  for (const line of answer.split("\n")) {
    const [, number, text] = /^ *(\d+)\t(.*)$/.exec(line) ?? [];
    if (text !== undefined && pattern.test(text)) return { number: Number(number), text };
  }
  throw new Error(`The script expects a line like ${String(pattern)} in an answer that begins ${answer.slice(0, 120)}`);
}

/** A hit of a `grep` answer. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The hits of a `grep` answer. */
export function hitsOf(answer: string): readonly Hit[] {
  return answer.split("\n").flatMap((line) => {
    const [, path, number, text] = /^([^:]+):(\d+):(.*)$/.exec(line) ?? [];
    return path !== undefined && text !== undefined ? [{ path, line: Number(number), text }] : [];
  });
}
