/** Terminal colours inside a text: `grep --color` writes them into tokens, a prompt before a value. */

/** A text without its colours, with the original place of each character. */
export interface Plain {
  readonly text: string;
  /** The place in the original text of a character of this one. */
  placeOf(index: number): number;
}

const inJson = String.raw`\u001b[`;

/** Whether a text may hold colours, raw or escaped as in JSON. */
export function hasColours(text: string): boolean {
  return text.includes("\u001b[") || text.includes(inJson);
}

/** Removes colours from a text; undefined when it has none. */
export function withoutColours(text: string): Plain | undefined {
  if (!hasColours(text)) return undefined;
  const pieces: { readonly from: number; readonly at: number }[] = [];
  let plain = "";
  let done = 0;
  const keep = (end: number): void => {
    if (end > done) pieces.push({ from: done, at: plain.length });
    plain += text.slice(done, end);
  };
  // oxlint-disable-next-line no-control-regex
  for (const { 0: colour, index } of text.matchAll(/(?:\u001b|\\{1,2}u001b)\[[0-9;:]{0,24}[mK]/gi)) {
    keep(index);
    done = index + colour.length;
  }
  keep(text.length);
  return {
    text: plain,
    placeOf(index) {
      let [low, high] = [0, pieces.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (pieces[middle]!.at <= index) low = middle;
        else high = middle - 1;
      }
      const { from, at } = pieces[low]!;
      return from + index - at;
    },
  };
}
