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
