/** The messages of a session for a page, range by range. */
import { WindrowError } from "../../errors.ts";
import { messageText, toolCalls, toolResults } from "../../message/message.ts";
import type { Message, Part } from "../../message/message.ts";
import { dataOfUrl } from "../../message/parts.ts";
import { inlineText } from "../../message/quote.ts";
import { withoutTagged } from "../../message/title.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import { cutParts, cutText, partAt } from "../page/cut.ts";
import type { OutlineRow, ViewerBlob, ViewerMessage } from "../viewer.ts";
import type { Place } from "./epoch-index.ts";

type MessageLine = StoredRecordOf<"message">;

/** Characters of a row's head. */
const headLength = 120;

/** Messages that are looked back at for the names of tools whose results stand in a range. */
const lookBack = 16;

/** Most rows and most messages of one answer. */
const mostRows = 1_000;
const mostMessages = 200;

/** Rows of the outline, from one message to another; at most 1,000. */
export async function outlineOf(place: Place, from: number, to: number): Promise<readonly OutlineRow[]> {
  const first = Math.max(1, from);
  const names = new Map<string, string>();
  const rows: OutlineRow[] = [];
  const range = { from: Math.max(1, first - lookBack), to: Math.min(to, first + mostRows - 1) };
  for await (const record of place.store.read(place.scope, place.id, { kind: "message", ...range })) {
    for (const { callId, name } of toolCalls(record.message)) names.set(callId, name);
    if (record.seq >= first) rows.push(rowOf(record, names));
  }
  return rows;
}

function rowOf({ seq, message, tokenCount, timestamp }: MessageLine, names: ReadonlyMap<string, string>): OutlineRow {
  const results = toolResults(message);
  const tools = [
    ...toolCalls(message).map(({ name }) => name),
    ...results.map(({ name, callId }) => name ?? names.get(callId) ?? callId),
  ];
  return {
    seq,
    role: message.role,
    tokens: tokenCount,
    timestamp,
    head: headOf(message),
    tools: [...new Set(tools)],
    isError: results.some(({ isError }) => isError === true),
  };
}

/** Characters of a user's message that are searched for words beside a client's own sections. */
const searched = 100_000;

/** The beginning of a message on one line; of a user's, what stands beside a client's tagged sections, if anything. */
function headOf(message: Message): string {
  const start = message.parts.map((part) => messageText({ ...message, parts: [shortPart(part)] })).join("\n");
  const own = message.role === "user" ? withoutTagged(start.slice(0, searched)).trimStart() : "";
  const points = [...inlineText((own || start).slice(0, 8 * headLength).toWellFormed())];
  return points.length <= headLength ? points.join("") : `${points.slice(0, headLength - 1).join("")}…`;
}

/** A part that is no longer than a head needs. */
function shortPart(part: Part): Part {
  if (part.type === "tool-result" && typeof part.content !== "string") {
    return { ...part, content: part.content.slice(0, 4) };
  }
  return part;
}

/** Messages from one number to another, at most 200, with long texts cut. */
export async function messagesOf(place: Place, from: number, to: number): Promise<readonly ViewerMessage[]> {
  const first = Math.max(1, from);
  const found: ViewerMessage[] = [];
  const range = { from: first, to: Math.min(to, first + mostMessages - 1) };
  for await (const record of place.store.read(place.scope, place.id, { kind: "message", ...range })) {
    const { seq, message, tokenCount: tokens, timestamp } = record;
    found.push({ seq, id: message.id, role: message.role, timestamp, tokens, ...cutParts(seq, message.parts) });
  }
  return found;
}

/**
 * A stretch of a text that was cut, by the place of its part.
 *
 * @throws WindrowError `not-found`
 */
export async function textOf(place: Place, seq: number, at: string, from: number, to: number): Promise<string> {
  const text = cutText(await partOf(place, seq, at));
  if (text !== undefined) return text.slice(Math.max(0, from), Math.max(0, to));
  throw notThere(place, seq, at);
}

/**
 * The bytes of an image or a file, by the place of its part.
 *
 * @throws WindrowError `not-found`
 */
export async function blobOf(place: Place, seq: number, at: string): Promise<ViewerBlob> {
  const part = await partOf(place, seq, at);
  if (part.type !== "image" && part.type !== "file") throw notThere(place, seq, at);
  const base64 = part.data ?? dataOfUrl(part.url ?? "")?.data;
  if (base64 === undefined) throw notThere(place, seq, at);
  return { mediaType: part.mediaType, data: new Uint8Array(Buffer.from(base64, "base64")) };
}

async function partOf(place: Place, seq: number, at: string): Promise<Part> {
  for await (const { message } of place.store.read(place.scope, place.id, { kind: "message", from: seq, to: seq })) {
    const part = partAt(message, at);
    if (part) return part;
  }
  throw notThere(place, seq, at);
}

function notThere({ id }: Place, seq: number, at: string): WindrowError {
  return new WindrowError("not-found", `Message ${seq} of session ${id} has no part ${at}.`, { id, seq, place: at });
}
