/** Tool actions: the effect of a tool call on files, and the command it ran, found by the shape of its arguments. */
import type { JsonValue } from "../../message/message.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { FileAction } from "./action.ts";
import { actionOf } from "./calls.ts";
import { shellAction } from "./shell.ts";

/** The action of a call; a command can have an effect on a file, too. */
export interface ToolAction {
  readonly command?: string;
  readonly files: readonly FileAction[];
}

const commandKey = /^(?:cmd|command|script)$/i;
const patchedFile = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** The effect of a call on files and the command it runs; neither where its shape does not tell. */
export function toolAction(name: string, args: JsonValue): ToolAction {
  const patched = [...JSON.stringify(args).replaceAll("\\n", "\n").matchAll(patchedFile)];
  if (patched.length > 0) {
    return { files: patched.map((match) => ({ kind: "edit", path: (match[1] ?? "").trim(), changes: [] })) };
  }
  const command = commandOf(args);
  const file = actionOf(name, args);
  // A verb of an editor (`view`, `create`) is no command line; a command line with a folder to run in is no file's call.
  if (command !== undefined && (file === undefined || file.kind === "touch" || /\s/.test(command))) {
    const shell = shellAction(command);
    return { command, files: shell ? [shell] : [] };
  }
  return { files: file ? [file] : [] };
}

/** The files that some messages wrote, in the order they were last written: what a summary of them has to name. */
export function writtenPaths(messages: readonly NumberedMessage[]): readonly string[] {
  const actions = new Map<string, ToolAction>();
  const written = new Set<string>();
  for (const { message } of messages) {
    for (const { callId, name, args } of toolCalls(message)) actions.set(callId, toolAction(name, args));
    for (const { callId, isError } of toolResults(message)) {
      if (isError === true) continue;
      for (const path of actions.get(callId)?.files.flatMap(writtenPath) ?? []) {
        written.delete(path);
        written.add(path);
      }
    }
  }
  return [...written];
}

/** The file that an action changes; none for one that only looks, or that does not say. */
function writtenPath(action: FileAction): readonly string[] {
  return action.kind === "write" || action.kind === "edit" || action.kind === "insert" ? [action.path] : [];
}

/** The exit status a result shows at its beginning or its end, or undefined where it shows none. */
export function exitStatus(result: string): number | undefined {
  const ends = result.length > 800 ? `${result.slice(0, 300)}\n${result.slice(-500)}` : result;
  const shown = [...ends.matchAll(/(?:\bexit(?:ed with)?[ _]?(?:code|status)|\breturncode)\W{0,3}?(-?\d{1,3})\b/gi)];
  const status = shown.at(-1)?.[1];
  return status === undefined ? undefined : Number(status);
}

/** A command line, also one that is given as a list of words. */
function commandOf(args: JsonValue): string | undefined {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return undefined;
  const value = Object.entries(args).find(([key]) => commandKey.test(key))?.[1];
  if (typeof value === "string") return value.trim() || undefined;
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === "string")) return undefined;
  const [shell, flag, line] = value;
  return value.length === 3 && shell?.endsWith("sh") && flag?.endsWith("c") ? line : value.join(" ");
}
