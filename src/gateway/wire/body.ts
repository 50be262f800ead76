/** A request's body: its members and messages as they are read, and the body with other messages. */
import { isObject, jsonFault } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Shape } from "../../shape/shape.ts";
import type { WireCall, WireMessage, WireRequest, Written } from "../gateway.ts";
import { bodyRanges } from "./json-ranges.ts";
import type { BodyRanges, KnownElements } from "./json-ranges.ts";
import { recent } from "./recent.ts";
import { hashMessage } from "./timeless.ts";

/** The part of a shape that its bodies are read by. */
type MessageShape = Pick<Shape<JsonObject>, "name" | "list" | "value">;

/** A body whose messages were read. */
export interface ReadBody {
  readonly messages: readonly WireMessage[];
  /** The members of the body beside its messages, parsed. */
  readonly fields: JsonObject;
}

const places = new WeakMap<Buffer, { readonly list: string; readonly ranges: BodyRanges }>();

function placesOf(body: Buffer, list: string, begun?: KnownElements): BodyRanges | undefined {
  const known = places.get(body);
  if (known?.list === list) return known.ranges;
  const ranges = bodyRanges(body, list, begun);
  if (ranges) places.set(body, { list, ranges });
  return ranges;
}

/**
 * Reads a body. Where it goes on from another one, its messages and other members are parsed only where their bytes are new.
 *
 * @returns undefined for a body that is no JSON, has no list of messages, or one that cannot be read
 */
export function readBody({ body }: WireCall, shape: MessageShape): ReadBody | undefined {
  const begun = recent.begun(body, shape.name);
  const ranges = placesOf(body, shape.list, begun);
  if (!ranges?.list) return undefined;
  const fields: [string, JsonValue][] = [];
  for (const [name, { start, end }] of ranges.members) {
    if (name === shape.list) continue;
    const bytes = body.subarray(start, end);
    const value = begun?.field(name, bytes) ?? parse(bytes);
    if (value === undefined) return undefined;
    fields.push([name, value]);
  }
  const messages: WireMessage[] = [];
  for (const [place, { start, end }] of ranges.elements.entries()) {
    const raw = body.subarray(start, end);
    const fact = begun?.messages[place] ?? messageFact(raw, shape);
    if (!fact) return undefined;
    messages.push({ raw, value: fact.value, hash: fact.hash });
  }
  const found = { messages, fields: Object.fromEntries(fields) };
  recent.add({ body, shape: shape.name, ranges, ...found });
  return found;
}

function parse(bytes: Buffer): JsonValue | undefined {
  try {
    const value = JSON.parse(bytes.toString()) as JsonValue;
    return jsonFault(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

function messageFact(bytes: Buffer, shape: MessageShape): { value: JsonObject; hash: string } | undefined {
  const message = parse(bytes);
  const value = isObject(message) ? shape.value(message) : undefined;
  return value && { value, hash: hashMessage(value) };
}

/** A part of the body that is written: a stretch of the old one, or other bytes. */
type Piece = { readonly start: number; end: number } | Buffer;

/**
 * The request's body with other messages. Neighbours that stay neighbours keep what stood between them; a request whose
 * messages are all its own, in order, is its very buffer.
 *
 * @param list - the member of the body that holds the messages
 */
export function writeBody(request: WireRequest, list: string, messages: readonly Written[]): Buffer {
  const { body } = request.call;
  const ranges = placesOf(body, list);
  if (!ranges?.list) return body;
  const { elements, list: inside } = ranges;
  const own = new Map(request.messages.map(({ raw }, index) => [raw, index]));
  const pieces: Piece[] = [];
  let before = -1;
  for (const [place, message] of messages.entries()) {
    const index = "made" in message ? undefined : own.get(message.raw);
    const range = index === undefined ? undefined : elements[index];
    const last = pieces.at(-1);
    const follows = range !== undefined && before !== -1 && index === before + 1;
    if (follows && last && !Buffer.isBuffer(last)) last.end = range.end;
    else {
      if (place > 0) pieces.push(Buffer.from(","));
      if (range) pieces.push({ ...range });
      else pieces.push("made" in message ? bytesOf(message.made) : message.raw);
    }
    before = range === undefined || index === undefined ? -1 : index;
  }
  return joined(body, inside, pieces, elements);
}

const madeBytes = new WeakMap<JsonObject, Buffer>();

/** The bytes of a made message, which is the same object in every request until the next epoch. */
function bytesOf(made: JsonObject): Buffer {
  let bytes = madeBytes.get(made);
  if (!bytes) madeBytes.set(made, (bytes = Buffer.from(JSON.stringify(made))));
  return bytes;
}

function joined(
  body: Buffer,
  inside: { readonly start: number; readonly end: number },
  pieces: readonly Piece[],
  elements: readonly { readonly start: number; readonly end: number }[],
): Buffer {
  const [only] = pieces;
  if (pieces.length === 0 && elements.length === 0) return body;
  if (pieces.length === 1 && only && !Buffer.isBuffer(only)) {
    if (only.start === elements[0]?.start && only.end === elements.at(-1)?.end) return body;
  }
  const bytes = pieces.map((piece) => (Buffer.isBuffer(piece) ? piece : body.subarray(piece.start, piece.end)));
  return Buffer.concat([body.subarray(0, inside.start), ...bytes, body.subarray(inside.end)]);
}

/** A member of an object in JSON: its value's bytes, of which `undefined` says that it is absent. */
export type MemberChange = (value: Buffer | undefined) => Buffer | undefined;

/**
 * A body with another value of one member, which goes to its end where it is absent; all else stays byte for byte.
 *
 * @param list - the member whose places are known from reading
 * @param change - undefined leaves the body as it is
 * @returns undefined for a body that cannot be read, and for one that stays
 */
export function writeMember(body: Buffer, list: string, name: string, change: MemberChange): Buffer | undefined {
  const ranges = placesOf(body, list);
  if (!ranges) return undefined;
  const known = ranges.members.get(name);
  const value = change(known && body.subarray(known.start, known.end));
  if (!value) return undefined;
  if (known) return Buffer.concat([body.subarray(0, known.start), value, body.subarray(known.end)]);
  const end = body.lastIndexOf("}");
  const before = ranges.members.size > 0 ? "," : "";
  return Buffer.concat([
    body.subarray(0, end),
    Buffer.from(`${before}${JSON.stringify(name)}:`),
    value,
    body.subarray(end),
  ]);
}
