/** Shell reads: the lines of files that a pipeline prints, and which part of the output belongs to which of the files. */
import type { Command, Pipeline, Word } from "./shell-words.ts";
import { isPath } from "../stub/stub.ts";
import type { FileAction } from "./action.ts";

/** Programs that print nothing. */
const silent =
  /^(?:true|:|export|set|mkdir|touch|unset|sleep|source|\.|alias|shopt|ulimit|wait|trap|chmod|rm|mv|cp|test|\[)$/;
/** Programs that run the one named behind them. */
const wrapper = /^(?:sudo|time|command|env|nohup|exec|builtin|noglob)$/;
/** Options of a search that take the next word. */
const valued =
  /^-[ABCemgtTfd]$|^--(?:glob|type|max-count|regexp|file|context|after-context|before-context|include|exclude|exclude-dir|type-not)$/;
/** Options of a search whose output is not lines of one file, each behind its number or nothing. */
const unlike =
  /^-[a-zA-Z]*[lLcqoZH][a-zA-Z]*$|^--(?:files|count|json|heading|only-matching|quiet|replace|stats|files-with-matches|files-without-match|vimgrep)/;
const fileName = /[^/]\.\w{1,10}$|(?:^|\/)[A-Z]\w+file$/;

/** A program of a command and its arguments. */
export interface Program {
  readonly name: string;
  readonly args: readonly Word[];
}

/** The program of a command, without what only surrounds it; `git mv` and `git rm` are `mv` and `rm`. */
export function programOf({ words }: Command): Program {
  let at = 0;
  while (at < words.length && (/^\w+=/.test(words[at]?.text ?? "") || wrapper.test(words[at]?.text ?? ""))) at++;
  if (words[at]?.text === "git" && /^(?:mv|rm)$/.test(words[at + 1]?.text ?? "")) at++;
  const name = words[at]?.text ?? "";
  return { name: name.slice(name.lastIndexOf("/") + 1), args: words.slice(at + 1) };
}

/** The file that a command's output goes to. */
export function targetOf({ redirects }: Command): Command["redirects"][number] | undefined {
  return redirects.find(({ operator }) => /^(?:1?>{1,2}\|?|&>>?)$/.test(operator));
}

/** A stretch of a text: from line `from` on, 0 where its place is not known; at most `most` lines. */
interface Part {
  readonly from: number;
  readonly most?: number;
  readonly whole: boolean;
}

/** What a program prints of the files it names, or of its input where it names none. */
interface Printed {
  readonly files: readonly Word[];
  readonly parts: readonly Part[];
  /** Whether it numbers the lines it is given. */
  readonly numbers?: boolean;
}

const all: Part = { from: 1, whole: true };
const some: Part = { from: 0, whole: false };
const other: Piece = { kind: "other" };

/** Programs that print lines of files as they are; undefined for arguments with which one does not. */
const printers = new Map<string, (args: readonly Word[]) => Printed | undefined>([
  ["cat", catOf],
  ["bat", catOf],
  ["batcat", catOf],
  ["less", catOf],
  ["more", catOf],
  ["tee", () => ({ files: [], parts: [all] })],
  ["nl", numberedOf],
  ["head", (args) => endOf(args, 1)],
  ["tail", (args) => endOf(args, 0)],
  ["sed", rangesOf],
  ["awk", rowsOf],
  ["grep", foundOf],
  ["egrep", foundOf],
  ["rg", foundOf],
  ["ag", foundOf],
]);

/** The output of a pipeline in pieces; none where it prints nothing. */
export function piecesOf({ commands }: Pipeline, place: (path: string) => string): readonly Piece[] {
  const [first, ...filters] = commands;
  if (!first || first.words.length === 0) return [];
  const { name, args } = programOf(first);
  const inPlace = /^(?:sed|perl)$/.test(name) && args.some(({ text }) => /^-\w*i|^--in-place/.test(text));
  if (silent.test(name) || inPlace || commands.some(targetOf)) return [];
  if (name === "echo" || name === "printf") return [filters.length > 0 ? other : saidOf(name, args)];
  const printed = first.input === undefined ? printers.get(name)?.(args) : undefined;
  const stdin = first.redirects.flatMap(({ operator, to }) => (operator === "<" ? [to] : []));
  const files = printed && printed.files.length > 0 ? printed.files : stdin.slice(0, 1);
  if (!printed || files.length === 0 || !files.every(({ plain }) => plain)) return [other];
  const pieces = files.flatMap(({ text }) =>
    printed.parts.map((part): Piece => ({ kind: "lines", path: place(text), ...part })),
  );
  return filters.reduce<readonly Piece[]>((shown, filter) => filtered(shown, programOf(filter)), pieces);
}

function saidOf(name: string, args: readonly Word[]): Piece {
  if (!args.every(({ plain }) => plain)) return other;
  const texts = args.map(({ text }) => text).filter((text) => text !== "-e" && text !== "-n");
  const text = name === "echo" ? texts.join(" ") : texts.length === 1 ? (texts[0] ?? "") : undefined;
  if (text === undefined || text.includes("%")) return other;
  const said = name === "echo" && !args.some((word) => word.text === "-e") ? text : text.replaceAll("\\n", "\n");
  const trimmed = said.replace(/^\n+/, "").trimEnd();
  return trimmed === "" ? other : { kind: "said", text: trimmed };
}

/** The pieces that a filter leaves. */
function filtered(pieces: readonly Piece[], { name, args }: Program): readonly Piece[] {
  const [piece] = pieces;
  const printed = printers.get(name)?.(args);
  if (piece?.kind !== "lines" || pieces.length > 1 || !printed || printed.files.length > 0) return [other];
  // Numbers that begin in the middle of a file are none of its lines.
  if (printed.numbers === true && piece.from !== 1) return [other];
  return printed.parts.map(({ from, most = Infinity, whole }) => {
    const left = Math.min(most, (piece.most ?? Infinity) - Math.max(0, from - 1));
    return {
      kind: "lines",
      path: piece.path,
      from: piece.from === 0 || from === 0 ? 0 : piece.from + from - 1,
      ...(left < Infinity && { most: left }),
      whole: piece.whole && whole,
    };
  });
}

function namesIn(args: readonly Word[]): readonly Word[] {
  return args.filter(({ text }) => !text.startsWith("-"));
}

function catOf(args: readonly Word[]): Printed | undefined {
  if (args.some(({ text }) => /^-\w*[AETbestv]|^--(?!number$)/.test(text))) return undefined;
  return { files: namesIn(args), parts: [all], numbers: args.some(({ text }) => /^-\w*n/.test(text)) };
}

/** `nl` numbers what it is given from 1 on, or from the line that `-v` names. */
function numberedOf(args: readonly Word[]): Printed {
  const files = namesIn(args).filter(({ text }) => !/^[atn]$/.test(text));
  return { files, parts: [all], numbers: !args.some(({ text }) => text.startsWith("-v")) };
}

/** The lines at an end of a file, of which `head` and `tail` show a number; `+12` begins at a line. */
function endOf(args: readonly Word[], from: number): Printed | undefined {
  if (args.some(({ text }) => /^-(?:c|-bytes|f)/.test(text))) return undefined;
  const at = args.findIndex(({ text }) => /^-(?:n|\d|-lines)|^\+\d/.test(text));
  const option = args[at]?.text ?? "";
  const apart = option === "-n" || option === "--lines";
  const count = apart ? (args[at + 1]?.text ?? "") : option.replace(/^(?:-n|--lines=|-)/, "");
  const files = args.filter(({ text }, index) => !/^[-+]/.test(text) && !(apart && index === at + 1));
  if (files.length > 1) return undefined;
  if (count.startsWith("+")) return { files, parts: [{ from: Number(count) || 1, whole: false }] };
  // A negative number is of the lines that `head` leaves out.
  const most = count.startsWith("-") ? {} : { most: Number(count) || 10 };
  return { files, parts: [{ from, ...most, whole: false }] };
}

function rangesOf(args: readonly Word[]): Printed | undefined {
  if (!args.some(({ text }) => /^-\w*n/.test(text) || text === "--quiet")) return undefined;
  const given = args.filter((_, at) => args[at - 1]?.text === "-e");
  const bare = namesIn(args).filter((word) => !given.includes(word));
  const [scripts, files] = given.length > 0 ? [given, bare] : [bare.slice(0, 1), bare.slice(1)];
  if (files.length > 1) return undefined;
  const lines = scripts.flatMap(({ text }) => text.split(/[;\n]/)).filter((line) => line.trim() !== "");
  const parts = lines.flatMap((line) => {
    const [, from, to] = /^\s*(\d+)(?:\s*,\s*(\d+|\$|\+\d+))?\s*p\s*$/.exec(line) ?? [];
    if (from === undefined) return [];
    const end = to?.startsWith("+") === true ? Number(from) + Number(to) : Number(to ?? from);
    return [{ from: Number(from), ...(Number.isFinite(end) && { most: end - Number(from) + 1 }), whole: false }];
  });
  if (parts.length === lines.length) return { files, parts };
  return lines.every((line) => printed.test(line)) ? { files, parts: [some] } : undefined;
}

/** A command of sed that prints lines as they are, by their numbers or by what they match. */
const printed = /^\s*(?:\d+|\$|\/(?:[^/\\]|\\.)*\/)(?:\s*,\s*(?:\+?\d+|\$|\/(?:[^/\\]|\\.)*\/))?\s*p\s*$/;

/** A program of awk that prints lines as they are, by a pattern, with or without their numbers. */
const printing =
  /^[^{}]*(?:\{\s*(?:print(?:\s+(?:F?NR\s*,?\s*(?:"[^"]*"\s*)?)?\$0)?|printf\s*\(?\s*"%\d*d[^"%]*%s\\n"\s*,\s*F?NR\s*,\s*\$0\s*\)?)\s*;?\s*\})?\s*$/;
const changing = /\b(?:g?sub|gensub|toupper|tolower|substr)\s*\(|(?<![=!<>])=(?![=~])/;

function rowsOf(args: readonly Word[]): Printed | undefined {
  const [program, ...files] = namesIn(args);
  if (!program || files.length > 1) return undefined;
  const { text } = program;
  if (!printing.test(text) || changing.test(text)) return undefined;
  if (text.includes("$0")) return { files, parts: [some] };
  const [, sign, line] = /NR\s*(>=?|==)\s*(\d+)/.exec(text) ?? [];
  const from = Number(line ?? 0) + (sign === ">" ? 1 : 0);
  return { files, parts: [{ from, whole: false }] };
}

function foundOf(args: readonly Word[]): Printed | undefined {
  const options = args.filter(({ text }) => text.startsWith("-") && text !== "-").map(({ text }) => text);
  if (options.some((text) => unlike.test(text) || /^-\w*[rR]|^--recursive/.test(text))) return undefined;
  const given = options.some((text) => text === "-e" || text.startsWith("--regexp"));
  const bare = args.filter((word, at) => !word.text.startsWith("-") && !valued.test(args[at - 1]?.text ?? ""));
  const files = given ? bare : bare.slice(1);
  if (files.length > 1 || !files.every(({ text }) => fileName.test(text))) return undefined;
  return { files, parts: [some], numbers: options.some((text) => /^-\w*n|^--line-number/.test(text)) };
}

/** Output that one command of a line leaves, in the order of the line. */
export type Piece =
  /** A text of its own, such as a heading. */
  | { readonly kind: "said"; readonly text: string }
  /** Lines of one file: from line `from` on, 0 where their places are not known; at most `most` of them. */
  | {
      readonly kind: "lines";
      readonly path: string;
      readonly from: number;
      readonly most?: number;
      readonly whole: boolean;
    }
  /** Anything else; of a file where that much is known. */
  | { readonly kind: "other"; readonly path?: string };

type Shown = Extract<FileAction, { kind: "read" | "search" | "look" }>;

/** A search's line over many files. */
const pathed = /^(?!\w+:\/\/)([^\s:]+):\d+:/;

/**
 * The files that the output of a command shows. Without the output, or where it cannot be told which part of it belongs
 * to a file, the file is looked at and no more.
 *
 * @param cut - whether the output lacks a part
 */
export function shownFiles(pieces: readonly Piece[], output?: string, cut = false): readonly Shown[] {
  const [only] = pieces;
  if (pieces.length === 1 && only) return shownOf(only);
  if (output === undefined || cut) return pieces.flatMap(lookAt);
  return sectionsOf(pieces, output.replace(/\n$/, "").split("\n")).flatMap(([inside, lines]) => partsOf(inside, lines));
}

function shownOf(piece: Piece, part?: string): readonly Shown[] {
  if (piece.kind !== "lines") return lookAt(piece);
  const { path, from, whole } = piece;
  const shown = part === undefined ? {} : { part };
  return [from === 0 ? { kind: "search", path, ...shown } : { kind: "read", path, from, whole, ...shown }];
}

function lookAt(piece: Piece): readonly Shown[] {
  return "path" in piece && piece.path !== undefined ? [{ kind: "look", path: piece.path }] : [];
}

/** The pieces between texts that stand in the output word for word, each with its lines. */
function sectionsOf(
  pieces: readonly Piece[],
  lines: readonly string[],
): readonly (readonly [readonly Piece[], readonly string[]])[] {
  const sections: [Piece[], readonly string[]][] = [];
  let open: Piece[] = [];
  let from = 0;
  for (const piece of pieces) {
    if (piece.kind !== "said") {
      open.push(piece);
      continue;
    }
    const said = piece.text.replace(/\n$/, "").split("\n");
    // A text that could also be a line of a file divides nothing.
    const places = said.some((line) => line.trim().length >= 3) ? placesOf(lines, said, from) : [];
    const [place] = places;
    if (place === undefined || places.length > 1) {
      open.push({ kind: "other" });
      continue;
    }
    sections.push([open, lines.slice(from, place)]);
    open = [];
    from = place + said.length;
  }
  sections.push([open, lines.slice(from)]);
  return sections;
}

function placesOf(lines: readonly string[], said: readonly string[], from: number): readonly number[] {
  const places: number[] = [];
  for (let at = from; at + said.length <= lines.length; at++) {
    if (said.every((line, offset) => lines[at + offset]?.trimEnd() === line.trimEnd())) places.push(at);
  }
  return places;
}

/** The parts of a section's lines that belong to its pieces, and the files that only its lines name. */
function partsOf(pieces: readonly Piece[], lines: readonly string[]): readonly Shown[] {
  const [only] = pieces;
  if (pieces.length === 1 && only?.kind === "lines" && lines.length > 0) return shownOf(only, lines.join("\n"));
  const exact = exactParts(pieces, lines);
  if (exact) return exact;
  const named = pieces.some(({ kind }) => kind === "other")
    ? lines.flatMap((line) => pathed.exec(line)?.[1] ?? [])
    : [];
  return [
    ...pieces.flatMap(lookAt),
    ...[...new Set(named)].filter(isPath).map((path): Shown => ({ kind: "look", path })),
  ];
}

/** The parts of ranges that are all as long as they can be, or that follow on each other in one file. */
function exactParts(pieces: readonly Piece[], lines: readonly string[]): readonly Shown[] | undefined {
  const ranges = pieces.filter((piece) => piece.kind === "lines");
  const last = ranges.at(-1);
  if (!last || ranges.length < pieces.length) return undefined;
  const sizes = ranges.slice(0, -1).map(({ most }) => most ?? Infinity);
  const rest = lines.length - sizes.reduce((sum, size) => sum + size, 0);
  const onward = ranges.every(({ path, from }, at) => {
    const next = ranges[at + 1];
    return next === undefined || (next.path === path && next.from > from && from > 0);
  });
  if (rest <= 0 || !(rest === last.most || (onward && rest <= (last.most ?? Infinity)))) return undefined;
  let from = 0;
  return ranges.flatMap((piece, at) => shownOf(piece, lines.slice(from, (from += sizes[at] ?? rest)).join("\n")));
}
