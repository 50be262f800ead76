/** Bytes and URL objects in the AI SDK's messages, which JSON does not have: as marked JSON and back. */
import type { JsonValue } from "../../message/message.ts";
import { asName, asObject } from "../../message/json.ts";

/** The one field of an object that stands for a URL object; its value is the URL's text. */
export const urlMark = "windrow:url";
const bytesMark = "windrow:bytes";
const bufferMark = "windrow:buffer";

/** Levels that are followed; what lies deeper is left for the check of the message to refuse. */
const deepest = 600;

/** A copy in which bytes and URLs are marked JSON; the value itself where it holds none. */
export function marked(value: unknown, levels = deepest): unknown {
  if (typeof value !== "object" || value === null || levels <= 0) return value;
  if (value instanceof URL) return { [urlMark]: value.href };
  if (value instanceof ArrayBuffer) return { [bufferMark]: base64(new Uint8Array(value)) };
  if (value instanceof Uint8Array) return { [bytesMark]: base64(value) };
  return mapped(value, (item) => marked(item, levels - 1));
}

/** The value with bytes and URLs as they were; the value itself where it holds none. */
export function unmarked(value: unknown, levels = deepest): unknown {
  if (typeof value !== "object" || value === null || levels <= 0) return value;
  const [[mark, text] = [], ...others] = Object.entries(value as Readonly<Record<string, unknown>>);
  if (others.length === 0 && typeof text === "string") {
    // A tool's own JSON may look like a mark.
    if (mark === urlMark && URL.canParse(text)) return new URL(text);
    if (mark === bytesMark && isBase64(text)) return bytes(text);
    if (mark === bufferMark && isBase64(text)) return bytes(text).buffer;
  }
  return mapped(value, (item) => unmarked(item, levels - 1));
}

function mapped(value: object, change: (item: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(change);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const before = Object.entries(value);
  const after = before.map(([name, item]) => [name, change(item)] as const);
  return after.every(([, item], index) => item === before[index]?.[1]) ? value : Object.fromEntries(after);
}

/** The content of media: base64 or a URL, and the shapes it stood in, outermost first. */
export interface Payload {
  readonly data?: string;
  readonly url?: string;
  readonly form: readonly string[];
}

/** Media as the SDK's majors have them: text, bytes, a URL, or `{ type: "data" | "url", … }` around one of these. */
export function unwrap(value: JsonValue | undefined): Payload | undefined {
  if (typeof value === "string")
    return /^(https?|data):/.test(value) ? { url: value, form: [] } : { data: value, form: [] };
  const object = asObject(value) ?? {};
  const [only = "", ...others] = Object.keys(object);
  const text = asName(object[only]);
  if (others.length === 0 && text !== undefined) {
    if (only === urlMark) return { url: text, form: [only] };
    return only === bytesMark || only === bufferMark ? { data: text, form: [only] } : undefined;
  }
  const type = object["type"];
  const inner =
    (type === "data" || type === "url") && Object.keys(object).length === 2 ? unwrap(object[type]) : undefined;
  return inner && { ...inner, form: [type as string, ...inner.form] };
}

/** Rebuilds the value that {@link unwrap} read. */
export function wrap({ data, url, form }: Payload): JsonValue {
  const [outer, ...inner] = form;
  if (outer === undefined) return data ?? url ?? "";
  const value = wrap({ ...(data !== undefined && { data }), ...(url !== undefined && { url }), form: inner });
  return outer === "data" || outer === "url" ? { type: outer, [outer]: value } : { [outer]: value };
}

function base64(value: Uint8Array): string {
  let text = "";
  for (let at = 0; at < value.length; at += 0x8000) text += String.fromCharCode(...value.subarray(at, at + 0x8000));
  return btoa(text);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
