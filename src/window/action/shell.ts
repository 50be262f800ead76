/** Shell commands: the files a line shows, writes, moves and deletes, and those that it may have changed; and the scripts that run them. */
import { placed } from "./action.ts";
import type { FileAction } from "./action.ts";
import type { Output } from "./output.ts";
import { patchActions } from "./patch.ts";
import { isRooted, nameOf } from "./paths.ts";
import { piecesOf, programOf, shownFiles, targetOf } from "./shell-reads.ts";
import type { Piece, Program } from "./shell-reads.ts";
import { pipelinesOf, scriptLiterals } from "./shell-words.ts";
import type { Command, Pipeline } from "./shell-words.ts";

/** Signs that a line which cannot be taken apart writes something. */
const writes =
  /(?:^|[\s;&|(])(?:tee|mv|cp|rm|(?:apply_?)?patch|truncate|install|dd|ln)\s|\b(?:sed|perl|ruby|gawk)\s(?:[^\n;&|]*\s)?-\w*i|\bsort\s[^\n;&|]*-o|[^-=<>&\d]>{1,2}\s*(?!\/dev\/|&)[\w./~"'$]|^>|writeFile|copyFile|fileinput|os\.remove|write_text|\.write\(|open\([^)]{0,300}["'][wax]\+?b?["']|\b(?:shutil|rename|unlink(?:Sync)?|(?:Set|Add|Clear)-Content|Out-File|(?:Remove|Move|Copy|Rename)-Item)\b/;
/** Commands that may write anything in the folder they run in. */
const writesAll =
  /\bgit\s+(?:-[cC]\s+\S+\s+|-(?![cC]\s)\S+\s+)*(?:checkout|restore|reset|stash(?!\s+(?:list|show))|apply|am|merge(?!-)|pull|rebase|revert|switch|cherry-pick|clean|bisect|mv|rm)\b|\bgh\s+pr\s+checkout\b|--(?:write|fix|in-place|apply)\b|\b(?:gofmt\s+-w|(?:cargo|go|mix|deno)\s+fmt(?![^\n;&|]*--check)|rustfmt(?![^\n;&|]*--check)|black\s(?![^\n;&|]*--check)|ruff\s+format(?![^\n;&|]*--check)|isort\s|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:format|fmt|fix|lint:fix)\b|format(?=\s|$))/;
/** Programs that change the files named behind them, or those that a patch or an archive names. */
const changer =
  /^(?:ed|ex|vim?|nvim|sd|sponge|dos2unix|unix2dos|astyle|rsync|patch|apply_?patch|unzip|xargs|(?:set|add|clear)-content|out-file|(?:remove|move|copy|rename)-item|del|erase|ren|move|copy)$/i;
/** Programs that know by themselves which files they change. */
const generator =
  /^(?:terraform fmt|go generate|(?:(?:npx|bunx|pnpm dlx|yarn dlx) )?(?:jscodeshift|codemod))\b(?!.*-check)|^tar\s+-?\w*x/;
const shell = /^(?:ba|z|da|k)?sh$/;
const interpreter = /^(?:python[\d.]*|node|ruby|perl|bun|deno|php|uv|poetry)$/;
/** Options with which a program that applies a diff, or takes an archive apart, changes nothing. */
const looks = /\s--(?:check|dry-run|stat|numstat|summary)\b|^unzip .*-[lptvZ]/;
/** Programs that write no file by themselves. */
const harmless = /^(?:echo|printf|rg|e?grep|cat|ls|find|curl|nl|head|tail)$/;

/** Pipelines up to which a line is taken apart: each may change what every one before it showed. */
const mostPipelines = 256;

/**
 * The effects of a command line on files, as far as it can be read; a line that may have changed files in a way that
 * cannot be read is a touch.
 *
 * @param output - of the line; without it, what several commands showed is not told apart
 */
export function shellActions(line: string, output?: Output): readonly FileAction[] {
  const pipelines = pipelinesOf(line);
  if (!pipelines || pipelines.length > mostPipelines) return touched(line);
  const changes: FileAction[] = [];
  let pieces: Piece[] = [];
  let base = "";
  const place = (path: string): string => placeIn(base, path);
  for (const pipeline of pipelines) {
    const [first] = pipeline.commands;
    if (!first) continue;
    const { name, args } = programOf(first);
    if (name === "cd" || name === "pushd") {
      base = place(args[0]?.text ?? "");
      continue;
    }
    const change = changesOf(pipeline, place);
    pieces = pieces.map((piece) =>
      piece.kind === "lines" && change.some((one) => ages(one, piece.path))
        ? { kind: "other", path: piece.path }
        : piece,
    );
    const own = piecesOf(pipeline, place);
    if (!pipeline.isElse) {
      changes.push(...change);
      pieces.push(...own);
      continue;
    }
    // A line goes on after `||` only where the command before failed: it is not known whether this one ran.
    const wide = change.some((one) => one.kind === "touch" && one.wide);
    if (change.length > 0) changes.push({ kind: "touch", command: textOf(pipeline), wide });
    if (own.length > 0) pieces.push({ kind: "other" });
  }
  return [...changes, ...shownFiles(pieces, output?.text, output?.cut)];
}

/** Whether what was printed of a file before a change may no longer stand in it. */
function ages(change: FileAction, path: string): boolean {
  const name = nameOf(path);
  return change.kind === "touch" ? change.wide || change.command.includes(name) : change.path.endsWith(name);
}

/** The text of a pipeline's words, in which files are named. */
function textOf({ commands }: Pipeline): string {
  const texts = commands.flatMap(({ words, redirects, input = "" }) => {
    const files = redirects.filter(({ operator }) => !operator.endsWith("&"));
    return [...words.map(({ text }) => text), ...files.map(({ to }) => to.text), input];
  });
  return texts.filter((text) => text !== "").join(" ");
}

/** A line that is not taken apart: a touch where it may write. */
function touched(line: string): readonly FileAction[] {
  const wide = writesAll.test(line);
  const plain = line.replaceAll(/\d?>\s*(?:&\d|\/dev\/null)/g, "");
  return wide || writes.test(plain) ? [{ kind: "touch", command: line, wide }] : [];
}

/** The files that a pipeline changes. */
function changesOf(pipeline: Pipeline, place: (path: string) => string): readonly FileAction[] {
  const touch = { kind: "touch" as const, command: textOf(pipeline), wide: false };
  return pipeline.commands.flatMap((command): readonly FileAction[] => {
    const { name, args } = programOf(command);
    const own = args.filter(({ text }) => !text.startsWith("-"));
    const target = targetOf(command);
    const written = (name === "tee" ? own : target ? [target.to] : []).filter(({ text }) => !/^\/dev\/|^&/.test(text));
    if (written.length > 0) {
      const text = sourceOf(pipeline, command, name);
      const isPlain = written.every(({ plain }) => plain);
      if (!isPlain || text === undefined) return [{ ...touch, wide: !isPlain }];
      const appends =
        name === "tee" ? args.some(({ text }) => /^-\w*a|^--append$/.test(text)) : target?.operator.endsWith(">>");
      const changes = [{ before: "", after: text, hunk: {} }];
      return written.map(({ text: name }): FileAction => {
        const path = place(name);
        return appends === true ? { kind: "edit", path, changes } : { kind: "write", path, text };
      });
    }
    const input = command.input ?? "";
    const words = [name, ...args.map(({ text }) => text)].join(" ");
    if (/^apply_?patch$/.test(name) && own[0]?.plain !== false) {
      const patched = patchActions(`${own[0]?.text ?? ""}\n${input}`);
      if (patched.length > 0) return patched.map((action) => placed(action, place));
    }
    if (/^(?:mv|cp|rm)$/.test(name)) return movesOf({ name, args: own }, touch, place, /^rm .*-\w*[rR]/.test(words));
    if (interpreter.test(name)) return writes.test(`${words}\n${input}`) || writesAll.test(words) ? [touch] : [];
    if (name === "find") {
      const acts = / -delete\b/.test(words) || (/ -(?:exec|ok)(?:dir)? /.test(words) && writes.test(words));
      return acts ? [{ ...touch, wide: !words.includes("*") }] : [];
    }
    if (generator.test(words)) return [{ ...touch, wide: true }];
    if (changer.test(name) || /^git (?:-[cC] \S+ |-(?![cC] )\S+ )*apply\b/.test(words)) {
      // The files that come from a list, a patch or an archive are not named here, unless the line has the patch.
      if (name === "xargs" ? !writes.test(words) : looks.test(words)) return [];
      if (!/^(?:git|patch|apply_?patch|unzip|xargs|rsync)$/.test(name)) return [touch];
      const named = words.replaceAll(/\S+\.(?:diff|patch)\b/g, "");
      return [{ ...touch, command: `${named} ${input}`, wide: input === "" }];
    }
    return harmless.test(name) ? [] : touched(shell.test(name) ? `${words}\n${input}` : words);
  });
}

/** The files that `mv`, `cp` or `rm` moves or deletes; a name without an ending may be a folder's. */
function movesOf(
  { name, args }: Program,
  touch: Extract<FileAction, { kind: "touch" }>,
  place: (path: string) => string,
  recursive: boolean,
): readonly FileAction[] {
  const plain = args.every((one) => one.plain);
  const folders = args.filter((one) => one.plain && !/\.\w+$/.test(one.text)).map(({ text }) => `${place(text)}/**`);
  const below = folders.length === 0 ? [] : [{ ...touch, command: folders.join(" ") }];
  if (name === "rm") {
    if (!plain) return [...below, { ...touch, wide: recursive && !touch.command.includes("*") }];
    return [...below, ...args.map(({ text }): FileAction => ({ kind: "delete", path: place(text) }))];
  }
  const [from, to, more] = args;
  if (name === "cp" || !plain || !from || !to || more) return [touch];
  const base = from.text.slice(from.text.lastIndexOf("/") + 1);
  const into = to.text.endsWith("/") || /(?:^|\/)\.{1,2}$/.test(to.text);
  const path = into ? `${to.text.replace(/\/$/, "")}/${base}` : to.text;
  return [...(/\.\w+$/.test(base) ? [] : below), { kind: "move", path: place(from.text), to: place(path) }];
}

/** The text that a command writes, where the line holds all of it. */
function sourceOf({ commands }: Pipeline, command: Command, name: string): string | undefined {
  const from = name === "tee" && command.input === undefined ? commands[commands.indexOf(command) - 1] : command;
  if (!from || commands.indexOf(from) > 0 || (commands.length > 1 && name !== "tee")) return undefined;
  const program = programOf(from);
  if (from.input !== undefined)
    return /^(?:cat|tee)$/.test(program.name) && program.args.length <= 2 ? from.input : undefined;
  const [first, more] = program.args;
  return program.name === "echo" && !more && first?.plain === true && !first.text.startsWith("-")
    ? first.text
    : undefined;
}

/** A path as it is named from where the line began. */
function placeIn(base: string, path: string): string {
  if (path === "") return base;
  return base === "" || isRooted(path) ? path : `${base.replace(/\/$/, "")}/${path.replace(/^\.\//, "")}`;
}

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
