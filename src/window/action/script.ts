/** Scripts: JavaScript that calls tools, as agents send it to a tool that runs it. */
import { placed } from "./action.ts";
import type { FileAction } from "./action.ts";
import type { Output } from "./output.ts";
import { shellActions } from "./shell.ts";
import { scriptLiterals } from "./literals.ts";

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
    if (calls === 1 && commands.length === 1) return commandActions(line, folder, output);
    // What one of several calls printed is not told apart.
    return commandActions(line, folder).map((action) =>
      action.kind === "read" || action.kind === "search" ? { kind: "look", path: action.path } : action,
    );
  });
}

/** The effects of a command line that runs in a folder: it tells a file named without any folder from its namesakes. */
export function commandActions(line: string, folder: string, output?: Output): readonly FileAction[] {
  const place = (path: string): string =>
    folder === "" || /[/\\~]/.test(path) ? path : `${folder.replace(/\/$/, "")}/${path}`;
  return shellActions(line, output).map((action) => placed(action, place));
}
