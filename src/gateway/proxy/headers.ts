/** The headers of both directions: they go on in the sender's order and letters, without those that end at a connection. */

import type { ServerResponse } from "node:http";

/** Header names and values in turn, as they were sent. */
export type RawHeaders = readonly string[];

/** Headers that concern one connection, and `Host`, which names the gateway. A sender's `Connection` header names more. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/** How a request's headers differ from the client's. */
export interface Outward {
  /** Whether the body goes out whole: its length is then written anew. */
  readonly isWhole: boolean;
  /** Whether the body is another one than the client's, which is not compressed. */
  readonly isChanged: boolean;
  /** Headers to send beside the client's; a value joins the client's own of that name behind a comma. */
  readonly added?: Readonly<Record<string, string>>;
}

/** The client's headers as the upstream gets them; whoever sends them adds `Host` and the length of a whole body. */
export function outwardHeaders(raw: RawHeaders, { isWhole, isChanged, added = {} }: Outward): string[] {
  const left = new Map(Object.entries(added).map(([name, value]) => [name.toLowerCase(), [name, value] as const]));
  const headers = kept(raw, (name) => {
    if (name.startsWith("x-windrow")) return false;
    if (name === "content-length") return !isWhole;
    return !(isChanged && name === "content-encoding");
  });
  for (let place = 0; place < headers.length; place += 2) {
    const name = headers[place]?.toLowerCase() ?? "";
    const more = left.get(name);
    if (more === undefined) continue;
    headers[place + 1] = `${headers[place + 1]},${more[1]}`;
    left.delete(name);
  }
  return [...headers, ...[...left.values()].flat()];
}

/**
 * The upstream's headers as the client gets them, and the gateway's own `x-windrow`.
 *
 * @param note - the value of `x-windrow`
 * @param mayTrail - whether the answer can end with trailers, so that `Trailer` may stand
 */
export function inwardHeaders(raw: RawHeaders, note: string, mayTrail: boolean): string[] {
  const headers = kept(raw, (name) => !name.startsWith("x-windrow") && (mayTrail || name !== "trailer"));
  return [...headers, "x-windrow", headerText(note)];
}

/** Sends status and headers at once, in the bytes of their senders: `flushHeaders` writes them as UTF-8. */
export function sendHead(response: ServerResponse): void {
  response.write(Buffer.alloc(0));
}

/** A text as a header's value may hold it. */
export function headerText(text: string): string {
  return text.replaceAll(/[^\u0020-\u007e]/g, "?");
}

/** All values of a header, in the order in which they were sent. */
export function valuesOf(raw: RawHeaders, wanted: string): readonly string[] {
  return raw.filter((_, place) => place % 2 === 1 && raw[place - 1]?.toLowerCase() === wanted);
}

/**
 * Whether a request's length is told in one way alone: one `Content-Length`, or a `Transfer-Encoding` that is `chunked`.
 * Two servers in a row could read any other request as two different ones.
 */
export function isFramedOnce(raw: RawHeaders): boolean {
  const lengths = valuesOf(raw, "content-length");
  const codings = valuesOf(raw, "transfer-encoding");
  if (lengths.length + codings.length > 1) return false;
  return lengths.every((length) => /^\d+$/.test(length)) && codings.every((coding) => /^chunked$/i.test(coding.trim()));
}

function kept(raw: RawHeaders, keeps: (name: string) => boolean): string[] {
  const named = new Set(valuesOf(raw, "connection").flatMap((value) => value.toLowerCase().split(/[\s,]+/)));
  const headers: string[] = [];
  for (let place = 0; place + 1 < raw.length; place += 2) {
    const name = raw[place]?.toLowerCase() ?? "";
    if (ofConnection.has(name) || named.has(name) || !keeps(name)) continue;
    headers.push(raw[place] ?? "", raw[place + 1] ?? "");
  }
  return headers;
}
