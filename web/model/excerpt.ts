/** Beginnings of long texts: a pane shows a few lines and says how many there are. */

/** The most lines and characters that a text has before it is opened. */
export const shownLines = 40;
/** The most characters that a text has before it is opened: a single line may be as long as a file. */
export const shownCharacters = 6_000;

/** The length of a text's shown beginning, and the number of its lines. */
export interface Extent {
  /** Characters that are shown at first. */
  readonly shown: number;
  readonly lines: number;
}

/** The extent of a text. */
export function extentOf(text: string, mostLines = shownLines, mostCharacters = shownCharacters): Extent {
  let lines = 1;
  let shown = text.length;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (lines === mostLines) shown = at;
    lines++;
  }
  return { shown: wholeCharacters(text, Math.min(shown, mostCharacters)), lines };
}

/** An end of a beginning that parts no pair of surrogates. */
export function wholeCharacters(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : Math.min(end, text.length);
}
