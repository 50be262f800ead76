/** Text in lines that fit a terminal. */

import { textWidth } from "./columns.ts";

/** Columns of a paragraph where the terminal's are not known, and the most where they are. */
const paragraphWidth = 100;

/** Phrases in lines that fit; a phrase breaks only where it is longer than a line. */
export function wrapped(phrases: readonly string[], width = 0): readonly string[] {
  const most = width === 0 ? paragraphWidth : Math.min(width, paragraphWidth);
  const lines: string[] = [];
  for (const phrase of phrases) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 2 + textWidth(phrase) <= most)
      lines[lines.length - 1] = `${last}  ${phrase}`;
    else lines.push(...broken(phrase, most));
  }
  return lines;
}

function broken(phrase: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (const word of phrase.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A command, two spaces in; where the terminal is too narrow for it, in two lines that a shell takes for one. */
export function commandLine(command: string, width: number): string {
  const line = `  ${command}`;
  return width === 0 || textWidth(line) <= width ? line : line.replace(" -- ", " \\\n    -- ");
}

/**
 * A text in lines of a width, all but the first two spaces further in. A word that is longer has a line of its own, uncut;
 * one of a script without spaces, and no path, is broken.
 *
 * @param width - columns of the terminal; 0 for no limit
 */
export function hanging(text: string, width: number): readonly string[] {
  if (width <= 0 || textWidth(text) <= width) return [text];
  const [indent = ""] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  const words = text.slice(indent.length).split(" ");
  for (const word of words.flatMap((one) => unspaced(one, width - indent.length - 2))) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? indent + word : `${indent}  ${word}`);
  }
  return lines;
}

/** A long word of East Asian script in pieces of a width; any other as it is. */
function unspaced(word: string, width: number): readonly string[] {
  if (width < 2 || textWidth(word) <= width || textWidth(word) === word.length || word.includes("/")) return [word];
  const pieces: string[] = [];
  let piece = "";
  for (const point of word) {
    if (textWidth(piece + point) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += point;
  }
  return [...pieces, piece];
}
