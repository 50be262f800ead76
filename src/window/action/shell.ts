/** Shell commands: the files a line shows, writes, moves and deletes, and those that it may have changed. */
import type { FileAction } from "./action.ts";
import { patchedText } from "./patch-text.ts";
import { isRooted, nameOf } from "./paths.ts";
import type { Output } from "./output.ts";
import { commandsOf } from "./shell-words.ts";
import type { Command } from "./shell-words.ts";
import { pieceOf, programOf } from "./shell-reads.ts";
import { shownFiles } from "./shown.ts";
import type { Piece } from "./shown.ts";

/** Signs that a line which cannot be taken apart writes something. */
const writes =
  /(?:^|[\s;&|(])(?:tee|mv|cp|rm|patch|truncate|install|dd|ln)\s|\b(?:sed|perl|ruby|gawk)\s+(?:-\w+\s+)*-\w*i|[^-=<>&\d]>{1,2}\s*(?!\/dev\/|&)[\w./~"'$]|^>|writeFile|write_text|\.write\(|open\([^)]*["'][wax]\+?b?["']|\b(?:shutil|rename|unlink|(?:Set|Add|Clear)-Content|Out-File|(?:Remove|Move|Copy|Rename)-Item)\b/;
/** Commands that may write anything in the folder they run in. */
const writesAll =
  /\bgit\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*(?:checkout|restore|reset|stash(?!\s+(?:list|show))|apply|am|merge(?!-)|pull|rebase|revert|switch|cherry-pick|clean|mv|rm)\b|--(?:write|fix|in-place|apply)\b|\b(?:gofmt\s+-w|(?:cargo|go|mix|deno)\s+fmt(?![^\n;&|]*--check)|rustfmt(?![^\n;&|]*--check)|black\s(?![^\n;&|]*--check)|ruff\s+format(?![^\n;&|]*--check)|isort\s|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:format|fmt|fix|lint:fix)\b|format(?=\s|$))/;
/** Programs that change the files named behind them, or those that a patch or an archive names. */
const changer =
  /^(?:ed|ex|vim?|nvim|sd|sponge|dos2unix|unix2dos|astyle|rsync|patch|apply_?patch|unzip|xargs|(?:set|add|clear)-content|out-file|(?:remove|move|copy|rename)-item|del|erase|ren|move|copy)$/i;
/** Programs that know by themselves which files they change. */
const generator =
  /^(?:terraform fmt|go generate|(?:(?:npx|bunx|pnpm dlx|yarn dlx) )?(?:jscodeshift|codemod))\b(?!.*-check)|^tar\s+-?\w*x/;
const interpreter = /^(?:python[\d.]*|node|ruby|perl|bun|deno|php|uv|poetry)$/;
const shells = /^(?:.*\/)?(?:ba|z|da|k)?sh$/;

/** Pipelines up to which a line is taken apart: each may change what every one before it showed. */
const mostPipelines = 256;

/**
 * The effects of a command line on files, as far as it can be read; a line that may have changed files in a way that
 * cannot be read is a touch.
 *
 * @param folder - the folder it runs in, for the files named without one
 * @param output - of the line; without it, what several commands showed is not told apart
 */
export function shellActions(line: string, folder = "", output?: Output): readonly FileAction[] {
  const patched = patchedText(line);
  if (patched) {
    const own = commandFolder(line, folder);
    const rest = patched.rest.replaceAll(/<<-?\s*\S+/g, "");
    const placed = patched.actions.map((action) => moved(action, (path) => placeIn(own, path)));
    return [...placed, ...touched(rest)];
  }
  const commands = commandsOf(line);
  const pipelines = commands && pipelinesOf(commands);
  if (!pipelines || pipelines.length > mostPipelines) return touched(line);
  const changes: FileAction[] = [];
  const pieces: Piece[] = [];
  let base = folder;
  for (const pipeline of pipelines) {
    const [first] = pipeline;
    if (!first) continue;
    const { name, args } = programOf(first);
    const place = (path: string): string => placeIn(base, path);
    if (name === "cd" || name === "pushd") {
      base = args[0]?.text === undefined ? base : place(args[0].text);
      continue;
    }
    if (shells.test(name) && pipeline.length === 1) {
      const inner = args.findIndex(({ text }) => /^-\w*c$/.test(text));
      const text = args[inner + 1]?.text;
      if (inner >= 0 && text !== undefined) {
        if (commands.length === 1) return shellActions(text, base, output);
        changes.push(...shellActions(text, base).filter(({ kind }) => kind !== "read" && kind !== "search"));
        pieces.push({ kind: "other" });
        continue;
      }
    }
    const change = changesOf(pipeline, place);
    // A line goes on after `||` only where the command before failed: it is not known whether this one ran.
    const doubt = first.joint === "||" && change.length > 0;
    changes.push(
      ...(doubt ? [{ kind: "touch" as const, command: textOf(pipeline), wide: change.some(isWide) }] : change),
    );
    for (const [at, piece] of pieces.entries()) if (change.some((one) => ages(one, piece))) pieces[at] = agedOf(piece);
    const own = pieceOf(pipeline, place);
    pieces.push(...(first.joint === "||" && own.length > 0 ? [{ kind: "other" as const }] : own));
  }
  return [...changes, ...shownFiles(pieces, output?.text, output?.cut)];
}

/** Whether what was printed before a change may no longer stand in the file. */
function ages(change: FileAction, piece: Piece): boolean {
  if (piece.kind === "many") return true;
  if (piece.kind !== "lines" && piece.kind !== "found") return false;
  const name = nameOf(piece.path);
  return change.kind === "touch" ? change.wide || change.command.includes(name) : change.path.endsWith(name);
}

function agedOf(piece: Piece): Piece {
  return { kind: "other", ...("path" in piece && piece.path !== undefined && { path: piece.path }) };
}

/** The text of a pipeline's words, in which files are named. */
function textOf(pipeline: readonly Command[]): string {
  const texts = pipeline.flatMap(({ words, redirects, input = "" }) => {
    const files = redirects.filter(({ operator }) => !operator.endsWith("&"));
    return [...words.map(({ text }) => text), ...files.map(({ to }) => to.text), input];
  });
  return texts.filter((text) => text !== "").join(" ");
}

function isWide(action: FileAction): boolean {
  return action.kind === "touch" && action.wide;
}

/** A line that is not taken apart: a touch where it may write. */
function touched(line: string): readonly FileAction[] {
  const wide = writesAll.test(line);
  const plain = line.replaceAll(/\d?>\s*(?:&\d|\/dev\/null)/g, "");
  return wide || writes.test(plain) ? [{ kind: "touch", command: line, wide }] : [];
}

/** Commands that are joined by pipes. */
function pipelinesOf(commands: readonly Command[]): readonly (readonly Command[])[] {
  const pipelines: Command[][] = [];
  for (const command of commands) {
    if (command.joint === "|") pipelines.at(-1)?.push(command);
    else pipelines.push([command]);
  }
  return pipelines;
}

/** The files that a pipeline changes. */
function changesOf(pipeline: readonly Command[], place: (path: string) => string): readonly FileAction[] {
  const touch = { kind: "touch" as const, command: textOf(pipeline), wide: false };
  return pipeline.flatMap((command): readonly FileAction[] => {
    const { name, args } = programOf(command);
    const target = command.redirects.find(({ operator }) => /^(?:1?>{1,2}\|?|&>>?)$/.test(operator));
    const targets = args.filter(({ text }) => !text.startsWith("-"));
    const written = name === "tee" ? targets[0] : target?.to;
    if (written !== undefined && !/^\/dev\/|^&/.test(written.text)) {
      const appends =
        name === "tee" ? args.some(({ text }) => text === "-a") : target?.operator.endsWith(">>") === true;
      const text = sourceOf(pipeline, command, name);
      if (!written.plain || text === undefined) return [{ ...touch, wide: !written.plain }];
      const path = place(written.text);
      if (!appends) return [{ kind: "write", path, text }];
      return [{ kind: "edit", path, changes: [{ before: "", after: text, hunk: {} }] }];
    }
    const plain = targets.every((one) => one.plain);
    const own = name === "git" ? targets.slice(1) : targets;
    // A name without an ending may be a folder's.
    const folders = own.filter((one) => one.plain && !/\.\w+$/.test(one.text)).map(({ text }) => `${place(text)}/**`);
    const below = folders.length === 0 ? [] : [{ kind: "touch" as const, command: folders.join(" "), wide: false }];
    if (name === "mv" || name === "cp" || (name === "git" && targets[0]?.text === "mv")) {
      const [from, to, more] = own;
      if (name === "cp" || !plain || !from || !to || more) return [touch];
      const into = to.text.endsWith("/") || /(?:^|\/)\.{1,2}$/.test(to.text);
      const base = from.text.slice(from.text.lastIndexOf("/") + 1);
      return [
        ...(/\.\w+$/.test(base) ? [] : below),
        { kind: "move", path: place(from.text), to: place(into ? `${to.text.replace(/\/$/, "")}/${base}` : to.text) },
      ];
    }
    if (name === "rm" || (name === "git" && targets[0]?.text === "rm")) {
      const recursive = args.some(({ text }) => /^-\w*[rR]/.test(text));
      if (!plain) return [...below, { ...touch, wide: recursive && !touch.command.includes("*") }];
      const gone = targets
        .slice(name === "git" ? 1 : 0)
        .map(({ text }) => ({ kind: "delete" as const, path: place(text) }));
      return [...below, ...gone];
    }
    const words = [name, ...args.map(({ text }) => text)].join(" ");
    if (interpreter.test(name)) {
      const source = `${words}\n${command.input ?? ""}`;
      return writes.test(source) || writesAll.test(words) ? [touch] : [];
    }
    if (name === "find") {
      const acts =
        args.some(({ text }) => text === "-delete") || (/ -(?:exec|ok)(?:dir)? /.test(words) && writes.test(words));
      return acts ? [{ ...touch, wide: !words.includes("*") }] : [];
    }
    if (generator.test(words)) return [{ ...touch, wide: true }];
    if (changer.test(name)) {
      // The files that come from a list, a patch or an archive are not named here.
      if (name === "xargs" ? !writes.test(words) : name === "unzip" && / -[lptvZ]/.test(words)) return [];
      const lists = /^(?:patch|apply_?patch|unzip|xargs|rsync)$/.test(name);
      const named = lists ? words.replaceAll(/\S+\.(?:diff|patch)\b/g, "") : touch.command;
      return [{ ...touch, command: named, wide: lists }];
    }
    return /^(?:echo|printf|rg|e?grep|cat|ls|find|gh|curl|nl|head|tail)$/.test(name) ? [] : touched(words);
  });
}

/** The text that a command writes, where the line holds all of it. */
function sourceOf(pipeline: readonly Command[], command: Command, name: string): string | undefined {
  const from = name === "tee" && command.input === undefined ? pipeline[pipeline.indexOf(command) - 1] : command;
  if (!from || pipeline.indexOf(from) > 0 || (pipeline.length > 1 && name !== "tee")) return undefined;
  const program = programOf(from);
  if (from.input !== undefined)
    return /^(?:cat|tee)$/.test(program.name) && program.args.length <= 2 ? from.input : undefined;
  const [first] = program.args;
  return program.name === "echo" && program.args.length === 1 && first?.plain === true && !first.text.startsWith("-")
    ? first.text
    : undefined;
}

/** A path as it is named from where the line began. */
function placeIn(base: string, path: string): string {
  return base === "" || isRooted(path) ? path : `${base.replace(/\/$/, "")}/${path.replace(/^\.\//, "")}`;
}

function commandFolder(line: string, folder: string): string {
  const own = /^\s*cd\s+(["']?)([^\s"';&]+)\1\s*(?:&&|;|\n)/.exec(line)?.[2];
  return own === undefined ? folder : placeIn(folder, own);
}

function moved(action: FileAction, place: (path: string) => string): FileAction {
  if (action.kind === "touch") return action;
  if (action.kind === "move") return { ...action, path: place(action.path), to: place(action.to) };
  return { ...action, path: place(action.path) };
}
