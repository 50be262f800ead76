/** Scripts: JavaScript that calls tools, as agents send it to a tool that runs it. */
import type { FileAction } from "./action.ts";
import { scriptLiterals } from "./literals.ts";
import type { Output } from "./output.ts";
import { shellActions } from "./shell.ts";

const callSign = /\btools\.(\w+)\s*\(/g;
const commandKey = /(?:^|[{,\s])["']?(?:cmd|command)["']?\s*:\s*$/;
const folderKey = /(?:^|[{,\s])["']?(?:workdir|cwd)["']?\s*:\s*$/;

/** Whether a text is a script that calls tools. */
export function isScript(text: string): boolean {
  return /\btools\.\w+\s*\(/.test(text);
}

/** The effects of the commands that a script runs. */
export function scriptActions(source: string, output?: Output): readonly FileAction[] {
  const calls = [...source.matchAll(callSign)].length;
  const commands: { readonly line: string | undefined; folder: string }[] = [];
  for (const { text, before } of scriptLiterals(source)) {
    if (commandKey.test(before)) commands.push({ line: text, folder: "" });
    const last = commands.at(-1);
    if (folderKey.test(before) && last && text !== undefined) last.folder = text;
  }
  return commands.flatMap(({ line, folder }): readonly FileAction[] => {
    if (line === undefined) return [{ kind: "touch", command: source, wide: false }];
    const alone = calls === 1 && commands.length === 1;
    return commandActions(line, folder, alone ? output : undefined, alone);
  });
}

/**
 * The effects of a command line that runs in a folder.
 *
 * @param alone - whether the output is this line's and no other's
 */
export function commandActions(line: string, folder: string, output?: Output, alone = true): readonly FileAction[] {
  const actions = shellActions(line, "", output).map((action) => inFolder(action, folder));
  if (alone) return actions;
  return actions.map((action) =>
    action.kind === "read" || action.kind === "search" ? { kind: "look", path: action.path } : action,
  );
}

/** A file named without any folder is told apart from its namesakes by the folder the command runs in. */
function inFolder(action: FileAction, folder: string): FileAction {
  const place = (path: string): string =>
    folder === "" || /[/\\~]/.test(path) ? path : `${folder.replace(/\/$/, "")}/${path}`;
  if (action.kind === "touch") return action;
  if (action.kind === "move") return { ...action, path: place(action.path), to: place(action.to) };
  return { ...action, path: place(action.path) };
}
