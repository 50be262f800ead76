/** Shown parts: what of a command's output belongs to which of the files it shows. */
import { isPath } from "../stub/stub.ts";
import type { FileAction } from "./action.ts";

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
