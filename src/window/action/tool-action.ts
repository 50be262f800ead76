/** Tool actions: the effect of a tool call on files, and the command it ran, found by the shape of its arguments. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { FileAction } from "./action.ts";
import { actionsOf, commandOf } from "./calls.ts";

/** The action of a call; a command can have an effect on a file, too. */
export interface ToolAction {
  readonly command?: string;
  readonly files: readonly FileAction[];
}

/** The effects of a call on files and the command it runs; neither where its shape does not tell. */
export function toolAction(name: string, args: JsonValue): ToolAction {
  const files = actionsOf(name, args);
  const object = typeof args === "object" && args !== null && !Array.isArray(args) ? (args as JsonObject) : undefined;
  const command = object && commandOf(object);
  const edits = files.some((action) => action.kind !== "touch" && command !== undefined && !/\s/.test(command.trim()));
  return command === undefined || edits ? { files } : { command: command.trim(), files };
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
  if (action.kind === "move") return [action.to];
  return action.kind === "write" || action.kind === "edit" || action.kind === "insert" ? [action.path] : [];
}

/** The exit status a result shows at its beginning or its end, or undefined where it shows none. */
export function exitStatus(result: string): number | undefined {
  const ends = result.length > 800 ? `${result.slice(0, 300)}\n${result.slice(-500)}` : result;
  const shown = [...ends.matchAll(/(?:\bexit(?:ed with)?[ _]?(?:code|status)|\breturncode)\W{0,3}?(-?\d{1,3})\b/gi)];
  const status = shown.at(-1)?.[1];
  return status === undefined ? undefined : Number(status);
}
