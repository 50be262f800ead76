/** Files of a log as they stand now: which calls had to do with each, and the text that those imply. */
import { toolCalls, toolResults } from "../../message/message.ts";
import type { JsonValue, Message } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { FileAction } from "../action/action.ts";
import { actionsOf } from "../action/calls.ts";
import { nameOf, plainPath, touchOf } from "../action/paths.ts";
import { Reader } from "../digest/reading.ts";
import type { FileView } from "../digest/file-view.ts";
import { isPath } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";

/** A call that had to do with a file, and its result. */
export interface FileEvent {
  readonly path: string;
  readonly callId: string;
  readonly call: number;
  /** Message of the result; 0 while it is still to come. */
  result: number;
  /** Whether the text before it no longer matters. */
  readonly isWhole: boolean;
}

/** A command that may have changed files. */
interface Touch extends Omit<FileEvent, "path" | "isWhole"> {
  readonly command: string;
  readonly wide: boolean;
}

/** Names of files, events of each, and commands that are remembered: the newest. */
const mostNames = 4_096;
const mostEvents = 128;
const mostTouches = 256;

/** Events that are read again for one file. */
const mostRead = 48;

/** Characters of a command that are looked at for a file's name. */
const commandLength = 4_096;

/** Follows which calls had to do with which files, in bounded memory. */
export class FileLog {
  readonly #byName = new Map<string, FileEvent[]>();
  readonly #touches: Touch[] = [];
  readonly #open = new Map<string, { result: number }[]>();

  /** Takes note of a message's calls and results. */
  note({ seq, message }: NumberedMessage): void {
    for (const { callId, name, args } of toolCalls(message)) {
      if (!mayBeFiles(args)) continue;
      for (const action of actionsOf(name, args)) this.#act(action, callId, seq);
    }
    for (const { callId } of toolResults(message)) {
      for (const event of this.#open.get(callId) ?? []) event.result = seq;
      this.#open.delete(callId);
    }
  }

  /** The name of a file that calls had to do with; undefined for what is none. */
  known(word: string): string | undefined {
    const plain = word.replace(/^\.\//, "");
    const events = isPath(plain) ? this.#byName.get(nameOf(plain)) : undefined;
    return events?.findLast(({ path }) => isSame(path, plain))?.path;
  }

  /** The events that say how a file stands, oldest first. */
  events(path: string): readonly (FileEvent | Touch)[] {
    const events = (this.#byName.get(nameOf(path)) ?? []).filter(
      (event) => event.result > 0 && isSame(event.path, path),
    );
    // The newest whole text may be that of a call that failed.
    const whole = events.findLastIndex(({ isWhole }) => isWhole);
    const start = events.slice(0, Math.max(0, whole)).findLastIndex(({ isWhole }) => isWhole);
    const read = events.slice(Math.max(0, start)).slice(-mostRead);
    const [first] = read;
    if (!first) return [];
    const touches = this.#touches.filter(
      ({ call, result, wide, command }) => result > 0 && call > first.call && (wide || touchOf(command)(path)),
    );
    return [...read, ...touches.slice(-mostRead)].sort((left, right) => left.result - right.result);
  }

  #act(action: FileAction, callId: string, call: number): void {
    if (action.kind === "touch") {
      const command = action.command.slice(0, commandLength);
      this.#follow({ command, wide: action.wide, callId, call, result: 0 }, this.#touches, mostTouches);
      return;
    }
    const isWhole = action.kind === "write" || (action.kind === "read" && action.whole);
    const paths = action.kind === "move" ? [action.path, action.to] : [action.path];
    for (const path of paths) {
      const name = nameOf(path);
      const events = this.#byName.get(name) ?? [];
      this.#byName.delete(name);
      this.#byName.set(name, events);
      this.#follow({ path: path.replace(/^\.\//, ""), callId, call, result: 0, isWhole }, events, mostEvents);
    }
    if (this.#byName.size > mostNames) this.#byName.delete(this.#byName.keys().next().value ?? "");
  }

  #follow<E extends { callId: string; result: number }>(event: E, events: E[], most: number): void {
    events.push(event);
    if (events.length > 2 * most) events.splice(0, events.length - most);
    const known = this.#open.get(event.callId);
    if (known) known.push(event);
    else this.#open.set(event.callId, [event]);
    if (this.#open.size > mostNames) this.#open.delete(this.#open.keys().next().value ?? "");
  }
}

/** A file as its events imply it. */
export interface FileNow {
  readonly path: string;
  readonly view: FileView;
  /** The messages its lines are from, and the newest message that had to do with it. */
  readonly seqs: readonly number[];
  readonly seq: number;
}

/**
 * Follows a file's events.
 *
 * @param messages - those of the events, by their place in the log
 * @param step - called after each event with the view as it is then
 */
export function followFile(
  path: string,
  events: readonly Pick<FileEvent, "callId" | "call" | "result">[],
  messages: ReadonlyMap<number, Message>,
  mask: TextMask,
  step?: (view: FileView | undefined, event: Pick<FileEvent, "call" | "result">) => void,
): FileNow | undefined {
  const reader = new Reader(mask, {}, []);
  const viewNow = (): FileView | undefined => [...reader.files].find(([known]) => isSame(known, path))?.[1];
  for (const { callId, call, result } of events) {
    const parts = [call, result].flatMap((seq) => partOf(seq, callId, messages.get(seq)));
    if (parts.length === 2) for (const part of parts) reader.read(part);
    step?.(viewNow(), { call, result });
  }
  const view = viewNow();
  if (!view || view.stretches.length === 0) return undefined;
  const seqs = [...new Set(view.stretches.flatMap(({ lines }) => lines.map(({ seq }) => seq)))];
  const seq = events.reduce((most, { result }) => Math.max(most, result), 0);
  return { path, view, seqs: seqs.sort((left, right) => left - right), seq };
}

/** A message with the parts of one call alone. */
function partOf(seq: number, callId: string, message: Message | undefined): readonly NumberedMessage[] {
  const parts = message?.parts.filter((part) => "callId" in part && part.callId === callId) ?? [];
  return message && parts.length > 0 ? [{ seq, message: { ...message, parts } }] : [];
}

/** Whether a call may be about a file at all: most arguments without a path or a command are not looked at. */
function mayBeFiles(args: JsonValue): boolean {
  return typeof args === "object" && args !== null && Object.values(args).some((value) => typeof value !== "number");
}

/** Whether two paths are of one file: a shorter path that is the end of a longer one is. */
function isSame(left: string, right: string): boolean {
  if (left === right) return true;
  const [one, other] = [plainPath(left), plainPath(right)];
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}
