/** Texts as bytes in memory that is used again: a loop over bytes is several times faster than one over a text. */

/** A byte that stands for a character that is no ASCII, and for the end. */
const other = 128;

/** Bytes of `other` behind the end of a text, so that a loop may look ahead. */
const padding = 4;

/** For a text of fewer characters, asking the encoder takes longer than it saves. */
export const shortText = 48;

/** Memory is kept up to this size in bytes. */
const keptBytes = 256 * 1024;

const encoder = new TextEncoder();

/** Memory that nobody uses at the moment. */
let spare: Uint8Array | undefined;

/** A text as bytes: each ASCII character as itself, and every other as bytes from 128 on. */
export interface Codes {
  readonly bytes: Uint8Array;
  /** How many of them are the text's; at least four more of 128 stand behind them. */
  readonly length: number;
  /** Whether each character is one byte, so that the places are those of the text. */
  readonly exact: boolean;
}

/** The bytes of a text. To be given back with {@link giveBack}. */
export function codesOf(text: string): Codes {
  const { length } = text;
  let bytes = memory(length + padding);
  let { read, written } = encoder.encodeInto(text, bytes.subarray(0, bytes.length - padding));
  if (read < length) {
    // More than one byte for some: three are the most for one.
    bytes = memory(3 * length + padding);
    ({ read, written } = encoder.encodeInto(text, bytes));
  }
  bytes.fill(other, written, written + padding);
  return { bytes, length: written, exact: written === length };
}

/** Lets others use the memory again. */
export function giveBack({ bytes }: Codes): void {
  if (bytes.length <= keptBytes) spare = bytes;
}

function memory(room: number): Uint8Array {
  const bytes = spare;
  spare = undefined;
  return bytes !== undefined && bytes.length >= room ? bytes : new Uint8Array(Math.max(room, 16 * 1024));
}
