/**
 * The places of a JSON body's members and of one list's elements, found without reading their values: a request's other
 * messages are then written around bytes that stay as they came.
 */
import { isUtf8 } from "node:buffer";
import { deepestJson } from "../../message/json.ts";

/** A stretch of bytes; `end` is behind its last one. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The places in a body that is a JSON object. */
export interface BodyRanges {
  /** The values of the object's members by their names, in order. */
  readonly members: ReadonlyMap<string, ByteRange>;
  /** The inside of the list, between its brackets; absent where the body has no such list. */
  readonly list?: ByteRange;
  /** The list's elements, in order. */
  readonly elements: readonly ByteRange[];
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Most levels of objects and arrays inside of each other in a body. */
const deepest = deepestJson;

/** Most elements of the list: a body of nothing but commas would take many times its size. */
const mostElements = 100_000;

/** Most members of a body. */
const mostMembers = 1_000;

/** The elements of another body's list, which this one begins with too, byte for byte. */
export interface KnownElements {
  /** The place of the list's opening bracket. */
  readonly open: number;
  readonly elements: readonly ByteRange[];
}

/**
 * The places of a body's members and of the elements of one of them. The values are delimited and not checked: a body
 * whose places are found is JSON exactly where each of its values is.
 *
 * @param list - the member whose elements are wanted
 * @param known - the first elements, which are not looked through again
 * @returns undefined for a body that is no JSON object, has a name twice, begins with a byte order mark, is no UTF-8, or
 * is nested too deep, or has more members or elements than a request has
 */
export function bodyRanges(body: Buffer, list: string, known?: KnownElements): BodyRanges | undefined {
  if (!isUtf8(body)) return undefined;
  const members = new Map<string, ByteRange>();
  let elements: readonly ByteRange[] = [];
  let inside: ByteRange | undefined;
  const end = eachItem(body, skipSpace(body, 0), openObject, closeObject, (start) => {
    if (body[start] !== quote) return -1;
    const nameEnd = stringEnd(body, start);
    const name = nameEnd === -1 ? undefined : nameOf(body, start, nameEnd);
    if (name === undefined || members.has(name) || members.size >= mostMembers) return -1;
    const at = skipSpace(body, nameEnd);
    if (body[at] !== colon) return -1;
    const valueStart = skipSpace(body, at + 1);
    if (name === list && body[valueStart] === openList) {
      const found = elementsOf(body, valueStart, known?.open === valueStart ? known.elements : []);
      if (!found) return -1;
      ({ elements } = found);
      inside = { start: valueStart + 1, end: found.end - 1 };
    }
    const valueStop = inside && name === list ? inside.end + 1 : valueEnd(body, valueStart);
    if (valueStop !== -1) members.set(name, { start: valueStart, end: valueStop });
    return valueStop;
  });
  if (end === -1 || skipSpace(body, end) !== body.length) return undefined;
  return { members, elements, ...(inside && { list: inside }) };
}

function elementsOf(
  body: Buffer,
  start: number,
  known: readonly ByteRange[],
): { elements: readonly ByteRange[]; end: number } | undefined {
  const elements = [...known];
  const next = (at: number): number => {
    const stop = elements.length < mostElements ? valueEnd(body, at) : -1;
    elements.push({ start: at, end: stop });
    return stop;
  };
  const end = eachItem(body, start, openList, closeList, next, known.at(-1)?.end);
  return end === -1 ? undefined : { elements, end };
}

/**
 * Goes through what stands between two brackets.
 *
 * @param item - takes the place where an item begins and gives the one behind it, or -1 where there is none
 * @param behind - the place behind the items that are known
 * @returns the place behind the closing bracket, or -1
 */
function eachItem(
  body: Buffer,
  start: number,
  open: number,
  close: number,
  item: (start: number) => number,
  behind?: number,
): number {
  if (body[start] !== open) return -1;
  let at = skipSpace(body, behind ?? start + 1);
  if (behind === undefined) {
    if (body[at] === close) return at + 1;
    at = skipSpace(body, item(at));
  }
  while (at !== -1) {
    if (body[at] === close) return at + 1;
    if (body[at] !== comma) return -1;
    at = skipSpace(body, item(skipSpace(body, at + 1)));
  }
  return -1;
}

/** The place of what is no white space; -1 where it starts at none. */
function skipSpace(body: Buffer, start: number): number {
  let at = start;
  for (let byte = body[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[at]) at++;
  return at;
}

/** Bytes of a string that are looked at one by one before the next quote is searched, which costs a call. */
const leastStride = 48;

/** Bytes that are looked at one by one where a quote stands every few bytes. */
const mostStride = 4_096;

/** The place behind a string that begins here; -1 where it does not end. */
function stringEnd(body: Buffer, start: number): number {
  return restEnd(body, start + 1);
}

/** The place behind a string, from a place within it that is not escaped; -1 where it does not end. */
function restEnd(body: Buffer, start: number): number {
  const { length } = body;
  let at = start;
  let stride = leastStride;
  while (at < length) {
    for (const stop = Math.min(at + stride, length); at < stop;) {
      const byte = body[at];
      if (byte === quote) return at + 1;
      at += byte === backslash ? 2 : 1;
    }
    const next = body.indexOf(quote, at);
    if (next === -1) return -1;
    let escape = next;
    while (escape > at && body[escape - 1] === backslash) escape--;
    // A quote behind an odd number of backslashes is one of the text.
    if ((next - escape) % 2 === 0) return next + 1;
    stride = next - at < leastStride ? Math.min(stride * 2, mostStride) : leastStride;
    at = next + 1;
  }
  return -1;
}

/** The place behind a value that begins here; -1 where it does not end, or is too deep. */
function valueEnd(body: Buffer, start: number): number {
  const first = body[start];
  if (first === quote) return stringEnd(body, start);
  if (first === openObject || first === openList) return nestedEnd(body, start);
  let at = start;
  for (let byte = body[at]; byte !== undefined && isPlain(byte); byte = body[at]) at++;
  return at === start ? -1 : at;
}

/** Whether a byte can stand in a number or in `true`, `false`, `null`. */
function isPlain(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    byte === 0x45
  );
}

function nestedEnd(body: Buffer, start: number): number {
  const { length } = body;
  let depth = 0;
  let at = start;
  while (at < length) {
    const byte = body[at++];
    if (byte === quote) {
      // A call for each string would take twice as long.
      const stop = at + leastStride;
      let within = body[at++];
      while (within !== quote) {
        if (within === backslash) at++;
        if (at >= length) return -1;
        if (at > stop) {
          at = restEnd(body, at);
          if (at === -1) return -1;
          break;
        }
        within = body[at++];
      }
    } else if (byte === openObject || byte === openList) {
      if (++depth > deepest) return -1;
    } else if ((byte === closeObject || byte === closeList) && --depth === 0) return at;
  }
  return -1;
}

function nameOf(body: Buffer, start: number, end: number): string | undefined {
  const text = body.toString("utf8", start, end);
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
