/** Texts that hold no other in memory. */

/** Up to this length an engine copies a piece of a text instead of pointing into it. */
const copiedLength = 12;

/**
 * The same text, as one of its own: a piece cut out of a long text keeps all of that text in memory for as long as anybody
 * remembers the piece.
 */
export function detached(text: string): string {
  return text.length <= copiedLength ? text : ` ${text}`.slice(1);
}
