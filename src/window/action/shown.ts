/** Shown parts: what of a command's output belongs to which of the files it shows. */
import { isPath } from "../stub/stub.ts";
import type { FileAction } from "./action.ts";

/** Output that one command of a line leaves, in the order of the line. */
export type Piece =
  /** A text of its own, such as a heading. */
  | { readonly kind: "said"; readonly text: string }
  /** Lines of one file: from line `from` on, at most `most` of them. */
  | {
      readonly kind: "lines";
      readonly path: string;
      readonly from: number;
      readonly most?: number;
      readonly whole: boolean;
    }
  /** Lines of one file whose places only their own numbers tell. */
  | { readonly kind: "found"; readonly path: string }
  /** Lines of many files, each behind its path and its number. */
  | { readonly kind: "many" }
  /** Anything else; of a file where that much is known. */
  | { readonly kind: "other"; readonly path?: string };

type Shown = Extract<FileAction, { kind: "read" | "search" | "look" }>;

const pathed = /^([^\s:]+):(\d+):(.*)$/;

/**
 * The files that the output of a command shows. Without the output, or where it cannot be told which part of it belongs
 * to a file, the file is looked at and no more.
 *
 * @param cut - whether the output lacks a part
 */
export function shownFiles(pieces: readonly Piece[], output?: string, cut = false): readonly Shown[] {
  const speaking = pieces.filter(({ kind }) => kind !== "said");
  const [only] = pieces;
  if (pieces.length === 1 && only && only.kind !== "many") {
    const action = actionOf(only);
    return action ? [action] : lookAt(only);
  }
  if (output === undefined) return speaking.flatMap(lookAt);
  if (cut && speaking.length > 1) return [...speaking.flatMap(lookAt), ...foundIn(pieces, output)];
  return sectionsOf(pieces, output.replace(/\n$/, "").split("\n")).flatMap(([inside, lines]) => partsOf(inside, lines));
}

function actionOf(piece: Piece, part?: string): Shown | undefined {
  const shown = part === undefined ? {} : { part };
  if (piece.kind === "found") return { kind: "search", path: piece.path, ...shown };
  if (piece.kind !== "lines") return undefined;
  const { path, from, whole } = piece;
  return from === 0 ? { kind: "search", path, ...shown } : { kind: "read", path, from, whole, ...shown };
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

/** The parts of a section's lines that belong to its pieces. */
function partsOf(pieces: readonly Piece[], lines: readonly string[]): readonly Shown[] {
  const [only] = pieces;
  if (!only) return [];
  if (pieces.length === 1 && only.kind !== "many") {
    const action = lines.length === 0 ? undefined : actionOf(only, lines.join("\n"));
    return action ? [action] : lookAt(only);
  }
  const exact = exactParts(pieces, lines) ?? tailOfSearch(pieces, lines);
  return exact ?? [...pieces.flatMap(lookAt), ...foundIn(pieces, lines.join("\n"))];
}

/** The parts of ranges that are all as long as they can be, or that follow on each other in one file. */
function exactParts(pieces: readonly Piece[], lines: readonly string[]): readonly Shown[] | undefined {
  const ranges = pieces.filter((piece) => piece.kind === "lines");
  if (ranges.length < pieces.length) return undefined;
  const sizes = ranges.slice(0, -1).map(({ most }) => most ?? Infinity);
  const before = sizes.reduce((sum, size) => sum + size, 0);
  const rest = lines.length - before;
  const last = ranges.at(-1);
  const onward = ranges.every(({ path, from }, at) => {
    const next = ranges[at + 1];
    return next === undefined || (next.path === path && next.from > from && from > 0);
  });
  if (!last || rest <= 0 || !(rest === last.most || (onward && rest <= (last.most ?? Infinity)))) return undefined;
  let from = 0;
  return ranges.flatMap((piece, at) => {
    const part = lines.slice(from, (from += sizes[at] ?? rest));
    return actionOf(piece, part.join("\n")) ?? [];
  });
}

/** One range, then a search whose lines show by their numbers where it begins. */
function tailOfSearch(pieces: readonly Piece[], lines: readonly string[]): readonly Shown[] | undefined {
  const [first, second] = pieces;
  if (pieces.length !== 2 || first?.kind !== "lines" || !second || first.most === undefined) return undefined;
  const mark = second.kind === "many" ? pathed : second.kind === "found" ? /^\d+[:-]/ : undefined;
  if (!mark) return undefined;
  const start = lines.findLastIndex((line) => !mark.test(line)) + 1;
  if (start !== first.most || start === lines.length) return undefined;
  const head = actionOf(first, lines.slice(0, start).join("\n"));
  const tail = lines.slice(start).join("\n");
  const found = second.kind === "many" ? foundIn([second], tail) : [actionOf(second, tail)].flatMap((one) => one ?? []);
  return head ? [head, ...found] : undefined;
}

/** The lines of searches over many files: each names its file, so it stands for itself. */
function foundIn(pieces: readonly Piece[], output: string): readonly Shown[] {
  if (!pieces.some(({ kind }) => kind === "many")) return [];
  const files = new Map<string, string[]>();
  for (const line of output.split("\n")) {
    const [, path = "", number = "", text = ""] = pathed.exec(line) ?? [];
    if (path === "" || !isPath(path) || /^\w+:\/\//.test(line)) continue;
    const known = files.get(path);
    if (known) known.push(`${number}:${text}`);
    else files.set(path, [`${number}:${text}`]);
  }
  return [...files].map(([path, lines]) => ({ kind: "search", path, part: lines.join("\n"), among: true }));
}
